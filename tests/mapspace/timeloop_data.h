// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "bayloom/mapspace/mapping.h"

namespace bayloom::mapspace {

/// Figures that the real Timeloop gave for thousands of mappings, kept outside the tree: the folder
/// `data/timeloop` of the one that the environment variable BAYLOOM_SHARED_DATA names.
/// Empty if there is none.
std::string TimeloopDataFolder();

/// The lines of a gzipped file of JSON objects.
void ForEachJsonLine(const std::string& file,
                     const std::function<void(const nlohmann::json&)>& visit);

/// A mapping as the data has it.
Mapping MappingOfJson(const nlohmann::json& mapping, const Problem& problem,
                      const Architecture& architecture);

}  // namespace bayloom::mapspace
