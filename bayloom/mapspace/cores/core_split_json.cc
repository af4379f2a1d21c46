// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/core_split_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace bayloom::mapspace {

nlohmann::json ToJson(const CoreSplit& split, const Problem& problem) {
  nlohmann::json axes = nlohmann::json::array();
  for (const CoreSplit::Axis& axis : split.axes) {
    axes.push_back({{"dimension", problem.dimensions[axis.dimension]}, {"parts", axis.parts}});
  }
  return axes;
}

std::optional<CoreSplit> CoreSplitFromJson(const nlohmann::json& axes, const Problem& problem) {
  if (!axes.is_array()) return std::nullopt;
  CoreSplit split;
  for (const nlohmann::json& axis : axes) {
    const bool is_axis = axis.is_object() && axis.contains("dimension") &&
                         axis["dimension"].is_string() && axis.contains("parts") &&
                         axis["parts"].is_number_integer();
    if (!is_axis) return std::nullopt;
    const int dimension = problem.DimensionNamed(axis["dimension"].get<std::string>());
    const int64_t parts = axis["parts"].get<int64_t>();
    if (dimension < 0 || parts < 1 || parts > kMaxCores) return std::nullopt;
    if (problem.bounds[dimension] % parts != 0) return std::nullopt;
    split.axes.push_back({dimension, parts});
  }
  return split;
}

}  // namespace bayloom::mapspace
