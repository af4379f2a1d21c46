// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module run: the scheduled run: the only loop with a scheduler, a budget, evaluators and a store.

#include "bayloom/run/learn_from.h"
#include "bayloom/run/phase_times.h"
#include "bayloom/run/repeat_options.h"
#include "bayloom/run/repeat_task.h"
#include "bayloom/run/run_state.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/trial.h"
