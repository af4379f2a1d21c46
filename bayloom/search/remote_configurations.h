// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/pool.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/scenario.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::search {

/// The kind of a subject whose candidates are configurations of a scenario.
inline constexpr const char* kScenarioKind = "scenario";

/// Evaluates configurations by workers, which run the scenario's evaluator where they are:
/// `{here}` is the folder of the same name there. `command` is what stands for the scenario's
/// evaluator, if it is not empty. `pool` must outlive the evaluator.
std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteEvaluator(
    remote::WorkerPool& pool, const Scenario& scenario, const std::string& command);

/// The worker's side of it, with so many jobs; `make` as SearchOptions::make_evaluator. Fails for a
/// definition that is none, and for a scenario that cannot be evaluated.
Result<std::unique_ptr<remote::CandidateEvaluator>> MakeScenarioCandidateEvaluator(
    const nlohmann::json& definition, int jobs, const EvaluatorMaker& make);

}  // namespace bayloom::search
