// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/tuning/map_run.h"
#include "bayloom/worker/bench.h"
#include "bayloom/worker/pool.h"

namespace bayloom::fleet {

/// The kind of a subject whose candidates are mappings of an operation.
inline constexpr const char* kMappingKind = "mapping";

/// Evaluates mappings by workers, with the evaluator that the options name. `pool` and `model` must
/// outlive it.
std::unique_ptr<trial::Evaluator<mapspace::Mapping>> MakeRemoteMappingEvaluator(
    worker::WorkerPool& pool, const mapspace::AnalyticalModel& model,
    const tuning::MapOptions& options);

/// The worker's side of it, with so many jobs. Fails for a definition that is none.
Result<std::unique_ptr<worker::Bench>> MakeMappingBench(const nlohmann::json& definition, int jobs);

}  // namespace bayloom::fleet
