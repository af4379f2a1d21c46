// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/repeated_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bayloom/report/format.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {
namespace {

const search::RepeatedConfiguration* FindBaseline(
    std::span<const search::RepeatedConfiguration> repeated) {
  const auto found = std::ranges::find(repeated, true, &search::RepeatedConfiguration::is_baseline);
  return found == repeated.end() ? nullptr : &*found;
}

std::vector<double> ValuesOf(const search::RepeatedConfiguration& repeated) {
  std::vector<double> values;
  for (const trial::Outcome& outcome : repeated.outcomes) values.push_back(outcome.value);
  return values;
}

bool IsPositive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

std::string InTurns(const measure::PairedRatio& gain) {
  return fmt::format("; {} to {} in {} turns", report::FormatRatio(gain.low),
                     report::FormatRatio(gain.high), gain.rounds);
}

}  // namespace

std::string RepeatedText(std::span<const search::RepeatedConfiguration> repeated) {
  if (repeated.empty()) return "";
  report::Table table({"trial", "first", "median", "spread", "failed"});
  for (const search::RepeatedConfiguration& each : repeated) {
    table.AddRow({each.trial.ordinal,
                  {each.trial.outcome.value, report::FormatValue(each.trial.outcome.value)},
                  {each.median, report::FormatValue(each.median)},
                  {each.spread, each.ok ? fmt::format("{:.1f} %", 100 * each.spread) : "-"},
                  static_cast<int64_t>(std::ranges::count_if(
                      each.outcomes, [](const auto& outcome) { return !outcome.ok(); }))});
  }
  return fmt::format("\nthe best {} evaluated again, in turns:\n{}", repeated.size(), table.Text());
}

std::optional<measure::PairedRatio> GainInTurns(
    const search::Study& study, std::span<const search::RepeatedConfiguration> repeated) {
  const search::RepeatedConfiguration* const baseline = FindBaseline(repeated);
  if (baseline == nullptr || !baseline->ok || !repeated[0].ok) return std::nullopt;
  const std::vector<double> before = ValuesOf(*baseline);
  const std::vector<double> after = ValuesOf(repeated[0]);
  if (before.size() != after.size() || !IsPositive(before) || !IsPositive(after)) {
    return std::nullopt;
  }
  return study.maximize() ? measure::RatioInTurns(after, before)
                          : measure::RatioInTurns(before, after);
}

std::string GainText(const search::ScenarioSearch& search,
                     std::span<const search::RepeatedConfiguration> repeated) {
  const search::Study& study = search.study(0);
  const std::optional<search::StudyTrial> baseline = search.BaselineOf(0);
  if (!baseline) return "";
  const std::optional<measure::PairedRatio> gain = GainInTurns(study, repeated);
  const bool is_confirmed = !repeated.empty() && repeated[0].ok;
  const double best = is_confirmed ? repeated[0].median : study.best()->outcome.value;
  const double first = gain ? FindBaseline(repeated)->median : baseline->outcome.value;
  const double ratio = gain ? gain->ratio : study.maximize() ? best / first : first / best;
  if (!(ratio > 0) || !std::isfinite(ratio)) return "";
  const bool has_default = search.members()[0].scenario.default_configuration.has_value();
  return fmt::format("{} better than the {} ({}{})\n", report::FormatRatio(ratio),
                     has_default ? "default" : "first", report::FormatValue(first),
                     gain ? InTurns(*gain) : "");
}

}  // namespace bayloom::cli
