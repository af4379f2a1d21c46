// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "bayloom/mapspace/mapping.h"

namespace bayloom::mapspace {

/// Figures that the real Timeloop (v2.0, commit 6b705056) gave for 20 mappings that fit and 8 that
/// do not. In the folder are its inputs/arch and inputs/problem, and in evals/ARCH__PROBLEM.jsonl a
/// mapping a line; of each level and tensor: reads, fills, updates, words of a tile, instances
/// used, size of a partition, reductions in time, energy in pJ.
std::string TimeloopDataFolder();

/// The same for thousands of mappings, kept outside the tree: the folder `timeloop` of the one that
/// the environment variable BAYLOOM_SHARED_DATA names. Empty if there is none.
std::string AllTimeloopDataFolder();

/// The lines of a file of JSON objects, gzipped or not.
void ForEachJsonLine(const std::string& file,
                     const std::function<void(const nlohmann::json&)>& visit);

/// A mapping as the data has it.
Mapping MappingOfJson(const nlohmann::json& mapping, const Problem& problem,
                      const Architecture& architecture);

}  // namespace bayloom::mapspace
