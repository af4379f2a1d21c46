// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/version.h"
#include "bayloom/report/search_export.h"

namespace bayloom::report {
namespace {

/// Google Benchmark's name of the unit in which an objective counts; empty if it is no time.
std::string TimeUnit(const std::string& objective) {
  static const std::map<std::string, std::string> kUnits = {
      {"seconds", "s"},       {"s", "s"},   {"milliseconds", "ms"}, {"ms", "ms"},
      {"microseconds", "us"}, {"us", "us"}, {"nanoseconds", "ns"},  {"ns", "ns"}};
  const auto known = kUnits.find(objective);
  return known == kUnits.end() ? "" : known->second;
}

}  // namespace

std::string GoogleBenchmarkReport(const search::Scenario& scenario,
                                  std::span<const search::StudyTrial> trials, int64_t started) {
  const std::string unit = TimeUnit(scenario.objectives[0].name);
  if (unit.empty()) {
    throw InputError(fmt::format(
        "google-benchmark: a report holds times, but the objective is '{}', not seconds, "
        "milliseconds, microseconds or nanoseconds",
        base::SingleLine(scenario.objectives[0].name)));
  }
  const space::Space& space = *scenario.space;
  nlohmann::ordered_json benchmarks = nlohmann::ordered_json::array();
  for (const search::StudyTrial& trial : trials) {
    if (!trial.outcome.ok()) continue;
    std::string name = scenario.name;
    for (int i = 0; i < space.size(); ++i) {
      if (!space.IsActive(trial.configuration, i)) continue;
      name +=
          fmt::format("/{}:{}", space.parameter(i).name(), space.TextOf(trial.configuration, i));
    }
    nlohmann::ordered_json benchmark = {{"name", name},
                                        {"family_index", 0},
                                        {"per_family_instance_index", trial.ordinal},
                                        {"run_name", name},
                                        {"run_type", "iteration"},
                                        {"repetitions", 1},
                                        {"repetition_index", 0},
                                        {"threads", 1},
                                        {"iterations", 1},
                                        {"real_time", trial.outcome.value},
                                        {"cpu_time", trial.outcome.value},
                                        {"time_unit", unit}};
    for (const trial::NamedValue& named : trial.outcome.values) {
      if (!benchmark.contains(named.name)) benchmark[named.name] = named.value;
    }
    benchmarks.push_back(std::move(benchmark));
  }
  const auto date = fmt::gmtime(static_cast<std::time_t>(started / 1'000'000));
  const nlohmann::ordered_json report = {
      {"context",
       {{"date", fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", date)},
        {"executable", "bayloom " + std::string(base::Version())},
        {"json_schema_version", 1}}},
      {"benchmarks", benchmarks}};
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bayloom::report
