// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/base/result.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/pool.h"

namespace bayloom::accelerator {

/// The kind of a subject whose candidates are mappings of an operation.
inline constexpr const char* kMappingKind = "mapping";

/// Evaluates mappings by workers, with the evaluator that the options name. `pool` and `model` must
/// outlive it.
std::unique_ptr<trial::Evaluator<mapspace::Mapping>> MakeRemoteMappingEvaluator(
    remote::WorkerPool& pool, const mapspace::AnalyticalModel& model, const MapOptions& options);

/// The worker's side of it, with so many jobs. Fails for a definition that is none.
Result<std::unique_ptr<remote::CandidateEvaluator>> MakeMappingCandidateEvaluator(
    const nlohmann::json& definition, int jobs);

}  // namespace bayloom::accelerator
