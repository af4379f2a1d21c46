// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/objective.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::search {

std::vector<double> ValuesOf(const trial::Outcome& outcome, std::span<const Objective> objectives) {
  std::vector<double> values = {outcome.value};
  for (const Objective& objective : objectives.subspan(1)) {
    values.push_back(outcome.Get(objective.name, std::numeric_limits<double>::quiet_NaN()));
    if (std::isfinite(values.back())) continue;
    throw InputError(fmt::format("a trial with a value has no finite value of the objective '{}'",
                                 base::SingleLine(objective.name)));
  }
  return values;
}

pareto::Point MinimizedValues(const trial::Outcome& outcome,
                              std::span<const Objective> objectives) {
  pareto::Point point = ValuesOf(outcome, objectives);
  for (size_t k = 0; k < point.size(); ++k) {
    if (objectives[k].maximize) point[k] = -point[k];
  }
  return point;
}

}  // namespace bayloom::search
