// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "bayloom/search/evaluator_options.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/time_limit.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::search {

/// The evaluator that a scenario asks for: a compiler, a simulator or a table of results. It tries
/// `jobs` configurations at a time; null for the kind kNone.
///
/// Values are as the evaluator says them: whether small or large is good is not known here.
/// All a configuration can do (exit with an error, crash, hang, print nonsense) is an infeasible
/// outcome with its reason. `limit` replaces the options' time limits, if it is given. In commands,
/// `{work}` stands for an empty folder of each job's own that is removed in the end, `{here}` for
/// the scenario's folder. Throws InputError where a recorded space cannot be read, a sandbox is
/// asked for and not possible, or this machine cannot run so many jobs, and for kernels, which
/// module kernel evaluates.
std::unique_ptr<trial::Evaluator<space::Configuration>> MakeEvaluator(
    std::shared_ptr<const space::Space> space, const EvaluatorOptions& options, int jobs,
    std::shared_ptr<const TimeLimit> limit = nullptr);

/// Makes the evaluator of a scenario; null where MakeEvaluator does.
using EvaluatorMaker =
    std::function<std::unique_ptr<trial::Evaluator<space::Configuration>>(const Scenario&)>;

}  // namespace bayloom::search
