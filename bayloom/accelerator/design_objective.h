// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/mapping_evaluator.h"

namespace bayloom::accelerator {

/// What designs are judged by.
enum class DesignObjective : uint8_t {
  kEnergy,       ///< pJ
  kDelay,        ///< cycles
  kEnergyDelay,  ///< pJ times cycles
  kArea,         ///< mm2
};

/// "energy", "delay", "edp", "area".
std::string_view ToString(DesignObjective objective);
/// All of them, the first one first. Throws InputError naming them, and where one is given twice.
std::vector<DesignObjective> ParseDesignObjectives(std::span<const std::string> names);

/// What mappings are searched for, of which a design has one a layer: what the objectives name, and
/// energy times delay where they name both or neither.
mapspace::MapObjective MappingObjectiveOf(std::span<const DesignObjective> objectives);

}  // namespace bayloom::accelerator
