// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module trial: the types of a trial: outcome, budget, reason of end, asynchronous evaluator,
/// store interface.

#include "bayloom/trial/answer.h"
#include "bayloom/trial/budget.h"
#include "bayloom/trial/command_trial.h"
#include "bayloom/trial/evaluate_one.h"
#include "bayloom/trial/evaluator.h"
#include "bayloom/trial/inline_evaluator.h"
#include "bayloom/trial/outcome.h"
#include "bayloom/trial/threaded_evaluator.h"
#include "bayloom/trial/trial_store.h"

namespace bayloom {

using trial::Budget;
using trial::Evaluator;
using trial::Outcome;
using trial::StopReason;

}  // namespace bayloom
