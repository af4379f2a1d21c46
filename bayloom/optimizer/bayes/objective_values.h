// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/pareto/front.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::optimizer {

/// The values of all objectives (see OptimizerOptions) of a feasible outcome. Throws
/// InputError where one is missing or not a finite number.
pareto::Point ObjectiveValues(const trial::Outcome& outcome,
                              std::span<const std::string> objectives);

}  // namespace bayloom::optimizer
