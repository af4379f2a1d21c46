// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/accelerator/design_evaluator.h"
#include "bayloom/accelerator/design_space.h"
#include "bayloom/space/configuration.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::accelerator {

/// Evaluates designs of a space in so many threads. Parameters that make no architecture are a
/// build error. A `DesignEvaluator` has a lock, not an order: with several threads values depend a
/// little on which designs end first.
std::unique_ptr<trial::Evaluator<space::Configuration>> MakeDesignTrials(
    std::shared_ptr<const DesignSpace> design, std::shared_ptr<DesignEvaluator> evaluator,
    int jobs);

}  // namespace bayloom::accelerator
