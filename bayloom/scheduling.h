// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module scheduling: which task gets the next slot of trials: fixed orders, gradient, forecasts of
/// learning curves (DynaTune).

#include "bayloom/scheduling/belief.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/scheduling/task_scheduler.h"
