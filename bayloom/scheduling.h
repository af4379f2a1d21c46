// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module scheduling: which task gets the next slot of trials: fixed orders, gradient, forecasts of
/// learning curves (DynaTune).

#include "bayloom/scheduling/default_scheduler.h"
#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/learning_curve_forecast.h"
#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_alternative.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/scheduling/task_scheduler.h"
