// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/objective_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "bayloom/base/byte_size.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/report/format.h"

namespace bayloom::cli {
namespace {

using tuning::ProgramObjective;

double ReadSize(const std::string& text, const std::string& name) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  const Result<int64_t> bytes = base::ParseByteSize(text);
  if (!bytes) throw InputError(name + ": " + bytes.error().message);
  return static_cast<double>(*bytes);
}

/// "10%" and "0.1" are a tenth.
double ReadShare(std::string text, const std::string& name) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  const std::string given = text;
  const bool is_percentage = text.ends_with('%');
  if (is_percentage) text.pop_back();
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0) || !std::isfinite(number)) {
    throw InputError(
        fmt::format("{}: '{}' is no share; write 10% or 0.1", name, base::SingleLine(given)));
  }
  return is_percentage ? number / 100 : number;
}

/// Positions of the choices that a table shows: all or evenly chosen ones, the ends among them.
std::vector<size_t> Shown(size_t choices) {
  constexpr size_t kMaxRows = 16;
  std::vector<size_t> shown;
  for (size_t row = 0; row < std::min(choices, kMaxRows); ++row) {
    shown.push_back(choices <= kMaxRows ? row : row * (choices - 1) / (kMaxRows - 1));
  }
  return shown;
}

std::string FormatCost(ProgramObjective objective, double value) {
  return objective == ProgramObjective::kLatency ? report::FormatSeconds(value)
                                                 : fmt::format("{:.1f} kB", value / 1000);
}

}  // namespace

void AddObjectiveOption(CLI::App& command, std::optional<std::string>& objectives) {
  Advanced(command
               .add_option("--objective", objectives,
                           "What to minimize: latency; with size, memory or both a Pareto front\n"
                           "of networks is printed")
               ->option_text("NAME,...")
               ->default_str("latency"))
      ->check([](const std::string& text) {
        const auto parsed = tuning::ParseObjectives(text);
        return parsed ? std::string() : parsed.error().message;
      });
}

void PreferenceOption::AddTo(CLI::App& command) {
  Advanced(OneOf(command
                     .add_option("--prefer", prefer,
                                 "Of the programs known, those that make the network best in this")
                     ->option_text("NAME")
                     ->capture_default_str(),
                 {"latency", "size", "memory"}));
  Advanced(command
               .add_option("--max-size", max_size,
                           "The fastest network whose programs take no more, e.g. 400k")
               ->option_text("BYTES"));
  Advanced(command
               .add_option("--max-memory", max_memory,
                           "The fastest whose programs need no more memory for temporary values")
               ->option_text("BYTES"));
  Advanced(command
               .add_option("--max-slowdown", max_slowdown,
                           "With --prefer: no slower than the fastest by more, e.g. 10%")
               ->option_text("SHARE"));
}

tuning::ProgramPreference PreferenceOption::Get() const {
  tuning::ProgramPreference preference;
  preference.prefer = prefer == "size"     ? ProgramObjective::kSize
                      : prefer == "memory" ? ProgramObjective::kMemory
                                           : ProgramObjective::kLatency;
  preference.max_size = ReadSize(max_size, "--max-size");
  preference.max_memory = ReadSize(max_memory, "--max-memory");
  preference.max_slowdown = ReadShare(max_slowdown, "--max-slowdown");
  if (!max_slowdown.empty() && preference.prefer == ProgramObjective::kLatency) {
    throw InputError("--max-slowdown: the fastest is preferred; say --prefer size or memory, too");
  }
  return preference;
}

report::Table FrontTable(std::span<const tuning::NetworkChoice> front,
                         const std::vector<ProgramObjective>& objectives) {
  std::vector<std::string> columns;
  for (const ProgramObjective objective : objectives) columns.push_back(ToString(objective));
  report::Table table(columns);
  for (const size_t i : Shown(front.size())) {
    std::vector<report::Cell> cells;
    for (size_t k = 0; k < objectives.size(); ++k) {
      const double value = front[i].values[k];
      cells.emplace_back(value, FormatCost(objectives[k], value));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

nlohmann::json FrontJson(std::span<const tuning::NetworkChoice> front,
                         const std::vector<ProgramObjective>& objectives) {
  nlohmann::json json = nlohmann::json::array();
  for (const tuning::NetworkChoice& choice : front) {
    nlohmann::json& values = json.emplace_back();
    for (size_t k = 0; k < objectives.size(); ++k) {
      values[ToString(objectives[k])] = choice.values[k];
    }
  }
  return json;
}

std::string CostText(const std::map<ProgramObjective, double>& cost) {
  std::vector<std::string> parts;
  for (const auto& [objective, value] : cost) {
    parts.push_back(fmt::format("{} {}", ToString(objective), FormatCost(objective, value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

nlohmann::json CostJson(const std::map<ProgramObjective, double>& cost) {
  nlohmann::json json;
  for (const auto& [objective, value] : cost) json[ToString(objective)] = value;
  return json;
}

std::string FrontText(std::span<const tuning::NetworkChoice> front,
                      const std::vector<ProgramObjective>& objectives) {
  if (front.empty()) return "";
  const size_t shown = Shown(front.size()).size();
  return fmt::format("Pareto front, {} choice{} of programs{}:\n{}\n", front.size(),
                     front.size() == 1 ? "" : "s",
                     shown < front.size() ? fmt::format(", {} of them", shown) : "",
                     FrontTable(front, objectives).Text());
}

}  // namespace bayloom::cli
