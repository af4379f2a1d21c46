// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/App.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/report/table.h"
#include "bayloom/tuning/network_front.h"

namespace bayloom::cli {

/// --objective of tune, as tuning::ParseObjectives reads it.
void AddObjectiveOption(CLI::App& command, std::optional<std::string>& objectives);

/// --prefer and the limits, by which a network is put together from the programs known.
struct PreferenceOption {
  std::string prefer = "latency";
  std::string max_size, max_memory, max_slowdown;

  void AddTo(CLI::App& command);
  /// Throws InputError for what cannot be read, and for a slowdown that is allowed for nothing.
  tuning::ProgramPreference Get() const;
};

/// A network's front, a choice a row; of many, evenly chosen ones.
report::Table FrontTable(std::span<const tuning::NetworkChoice> front,
                         const std::vector<tuning::ProgramObjective>& objectives);

/// All choices: [{objective: value}], in seconds and bytes.
nlohmann::json FrontJson(std::span<const tuning::NetworkChoice> front,
                         const std::vector<tuning::ProgramObjective>& objectives);

/// "latency 5.12 ms, size 312.4 kB".
std::string CostText(const std::map<tuning::ProgramObjective, double>& cost);
/// {objective: value}, in seconds and bytes.
nlohmann::json CostJson(const std::map<tuning::ProgramObjective, double>& cost);

/// "Pareto front, 240 choices of programs", and the table; empty where there is no front.
std::string FrontText(std::span<const tuning::NetworkChoice> front,
                      const std::vector<tuning::ProgramObjective>& objectives);

}  // namespace bayloom::cli
