// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/tuning/design_trials.h"
#include "bayloom/worker/bench.h"
#include "bayloom/worker/pool.h"

namespace bayloom::fleet {

/// The kind of a subject whose candidates are designs: configurations of a space of architectures.
inline constexpr const char* kDesignKind = "design";

/// Evaluates designs by workers, each of which begins with the mappings of designs that it has
/// evaluated itself. `pool` must outlive the evaluator.
std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteDesignTrials(
    worker::WorkerPool& pool, const tuning::DesignSpace& design,
    const tuning::DesignEvaluator& evaluator);

/// The worker's side of it, with so many jobs. Fails for a definition that is none.
Result<std::unique_ptr<worker::Bench>> MakeDesignBench(const nlohmann::json& definition, int jobs);

}  // namespace bayloom::fleet
