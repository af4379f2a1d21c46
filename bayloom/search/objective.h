// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/pareto/front.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::search {

/// What is looked for: the least, or the greatest, of a number that evaluations answer.
struct Objective {
  std::string name = "value";
  bool maximize = false;

  bool operator==(const Objective&) const = default;
};

/// The values of all objectives of a feasible outcome as they were answered: the outcome's value is
/// the first objective's, the others are named values of it. Throws InputError where one is missing
/// or not finite.
std::vector<double> ValuesOf(const trial::Outcome& outcome, std::span<const Objective> objectives);

/// The same as something to be minimized: maximized values are negated.
pareto::Point MinimizedValues(const trial::Outcome& outcome, std::span<const Objective> objectives);

}  // namespace bayloom::search
