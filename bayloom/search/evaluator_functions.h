// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "bayloom/search/evaluator_options.h"
#include "bayloom/search/time_limit.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/command_trial.h"
#include "bayloom/trial/notices.h"
#include "bayloom/trial/threaded_evaluator.h"

namespace bayloom::search {

// What one thread of a scenario's evaluator calls; MakeEvaluator chooses.

using EvaluateConfiguration = trial::ThreadedEvaluator<space::Configuration>::Function;

/// What is said of an evaluation that was cut because of TimeLimit::IsOverBest.
std::string OverBestText(double factor);

/// Runs a program for every configuration. The guard is that of all threads.
EvaluateConfiguration MakeCommandFunction(std::shared_ptr<const space::Space> space,
                                          const EvaluatorOptions& options,
                                          std::shared_ptr<const TimeLimit> limit,
                                          std::shared_ptr<trial::MissingCommandGuard> guard);
/// Keeps a program running that answers line by line. The notices are those of all threads.
EvaluateConfiguration MakeProcessFunction(std::shared_ptr<const space::Space> space,
                                          const EvaluatorOptions& options,
                                          std::shared_ptr<const TimeLimit> limit,
                                          std::shared_ptr<trial::Notices> notices);

}  // namespace bayloom::search
