// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "bayloom/tuning/division.h"

namespace bayloom::cli {

/// --divisions, as tuning::ParseDivisions reads it.
void AddDivisionsOption(CLI::App& command, std::optional<std::string>& divisions);

/// "2 of 3 regions as one task each, gaining 41.0 us"; empty where there is no choice.
std::string RegionsText(std::span<const tuning::DividedRegion> regions);

/// For each: "together" (the one task's name), "count", "together_seconds", "apart_seconds" (null
/// where there is no program), "measured" and "chosen".
nlohmann::json RegionsJson(std::span<const tuning::DividedRegion> regions);

}  // namespace bayloom::cli
