// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module feature: numbers that describe a program to a cost model; an estimate of its time from
/// its loops.

#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/cpu_nest.h"
#include "bayloom/feature/feature_columns.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/tensor.h"
