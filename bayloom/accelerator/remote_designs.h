// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/accelerator/design_trials.h"
#include "bayloom/base/result.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/pool.h"

namespace bayloom::accelerator {

/// The kind of a subject whose candidates are designs: configurations of a space of architectures.
inline constexpr const char* kDesignKind = "design";

/// Evaluates designs by workers, each of which begins with the mappings of designs that it has
/// evaluated itself. `pool` must outlive the evaluator.
std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteDesignTrials(
    remote::WorkerPool& pool, const DesignSpace& design, const DesignEvaluator& evaluator);

/// The worker's side of it, with so many jobs. Fails for a definition that is none.
Result<std::unique_ptr<remote::CandidateEvaluator>> MakeDesignCandidateEvaluator(
    const nlohmann::json& definition, int jobs);

}  // namespace bayloom::accelerator
