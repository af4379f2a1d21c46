// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_objective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "bayloom/base/single_line.h"

namespace bayloom::tuning {
namespace {

struct Name {
  ProgramObjective objective;
  const char* name;
};
constexpr std::array kNames = {Name{ProgramObjective::kLatency, "latency"},
                               Name{ProgramObjective::kSize, "size"},
                               Name{ProgramObjective::kMemory, "memory"}};
/// More is no number of bytes that a program has, but a damaged record.
constexpr double kMaxBytes = 1e15;

}  // namespace

std::string ToString(ProgramObjective objective) {
  return std::ranges::find(kNames, objective, &Name::objective)->name;
}

std::string ToString(const std::vector<ProgramObjective>& objectives) {
  std::vector<std::string> names;
  for (const ProgramObjective objective : objectives) names.push_back(ToString(objective));
  return fmt::format("{}", fmt::join(names, ","));
}

Result<std::vector<ProgramObjective>> ParseObjectives(const std::string& text) {
  std::vector<ProgramObjective> objectives;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const auto* const found =
        std::ranges::find_if(kNames, [&](const Name& known) { return word == known.name; });
    if (found == kNames.end()) {
      return Error{
          fmt::format("'{}' is neither latency nor size nor memory", base::SingleLine(word))};
    }
    if (std::ranges::find(objectives, found->objective) != objectives.end()) {
      return Error{fmt::format("'{}' is there twice", word)};
    }
    objectives.push_back(found->objective);
  }
  // In one order, so that the same choice is the same text.
  std::ranges::sort(objectives);
  if (objectives.empty() || objectives.front() != ProgramObjective::kLatency) {
    return Error{"programs are always searched for by latency; write latency,size"};
  }
  return objectives;
}

double ProgramCost::ValueFor(double calls, ProgramObjective objective) const {
  switch (objective) {
    case ProgramObjective::kLatency:
      return calls * seconds;
    case ProgramObjective::kSize:
      return code_bytes + calls * growth_bytes;
    case ProgramObjective::kMemory:
      break;
  }
  return workspace_bytes;
}

pareto::Point ProgramCost::ValuesFor(double calls,
                                     const std::vector<ProgramObjective>& objectives) const {
  pareto::Point point;
  for (const ProgramObjective objective : objectives) point.push_back(ValueFor(calls, objective));
  return point;
}

ProgramCost CostOf(const measure::MeasurementDetails& details, double seconds) {
  return {.seconds = seconds,
          .code_bytes = details.code_bytes,
          .growth_bytes = details.growth_bytes,
          .workspace_bytes = details.workspace_bytes};
}

std::optional<ProgramCost> CostOf(const trial::Outcome& outcome) {
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  if (!outcome.ok() || details.code_bytes == 0) return std::nullopt;
  for (const double bytes : {details.code_bytes, details.growth_bytes, details.workspace_bytes}) {
    if (!(bytes >= 0 && bytes <= kMaxBytes)) return std::nullopt;
  }
  return CostOf(details, outcome.value);
}

}  // namespace bayloom::tuning
