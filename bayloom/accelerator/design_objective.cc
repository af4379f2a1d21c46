// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/base/option_error.h"
#include "bayloom/base/result.h"

namespace bayloom::accelerator {
namespace {

constexpr std::pair<std::string_view, DesignObjective> kNames[] = {
    {"energy", DesignObjective::kEnergy},
    {"delay", DesignObjective::kDelay},
    {"edp", DesignObjective::kEnergyDelay},
    {"area", DesignObjective::kArea}};

}  // namespace

std::string_view ToString(DesignObjective objective) {
  return std::ranges::find(kNames, objective, [](const auto& named) { return named.second; })
      ->first;
}

std::vector<DesignObjective> ParseDesignObjectives(std::span<const std::string> names) {
  std::vector<DesignObjective> objectives;
  for (const std::string& name : names) {
    const auto named = std::ranges::find(kNames, name, [](const auto& each) { return each.first; });
    if (named == std::end(kNames)) {
      throw InputError(
          fmt::format("there is no objective '{}'; there are energy, delay, edp and area", name));
    }
    if (std::ranges::find(objectives, named->second) != objectives.end()) {
      throw OptionError("objective", fmt::format("'{}' is given twice", name));
    }
    objectives.push_back(named->second);
  }
  return objectives;
}

mapspace::MapObjective MappingObjectiveOf(std::span<const DesignObjective> objectives) {
  const auto names = [&](DesignObjective objective) {
    return std::ranges::find(objectives, objective) != objectives.end();
  };
  const bool energy = names(DesignObjective::kEnergy), delay = names(DesignObjective::kDelay);
  if (names(DesignObjective::kEnergyDelay) || energy == delay) {
    return mapspace::MapObjective::kEnergyDelay;
  }
  return energy ? mapspace::MapObjective::kEnergy : mapspace::MapObjective::kDelay;
}

}  // namespace bayloom::accelerator
