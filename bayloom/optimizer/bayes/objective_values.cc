// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/objective_values.h"

#include <cmath>
#include <limits>

#include "bayloom/base/result.h"

namespace bayloom::optimizer {

pareto::Point ObjectiveValues(const trial::Outcome& outcome,
                              std::span<const std::string> objectives) {
  pareto::Point values = {outcome.value};
  for (const std::string& name : objectives.subspan(1)) {
    const double value = outcome.Get(name, std::numeric_limits<double>::quiet_NaN());
    if (!std::isfinite(value)) {
      throw InputError("told a feasible outcome without a finite value of the objective '" + name +
                       "'");
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace bayloom::optimizer
