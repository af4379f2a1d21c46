// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module explain: why the best program of a task is fast, in numbers and in words.

#include "bayloom/explain/code_plan.h"
#include "bayloom/explain/decision_influence.h"
#include "bayloom/explain/decision_text.h"
#include "bayloom/explain/explanation.h"
#include "bayloom/explain/program_facts.h"
