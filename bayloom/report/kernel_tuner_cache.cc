// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/report/search_export.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/space/parameter.h"

namespace bayloom::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Values of an integer that are listed whether they were tried or not.
constexpr int64_t kMaxListedIntegers = 1024;

/// Numbers and texts are what they are, lists are text: Kernel Tuner compares values with `==`.
OrderedJson CacheValue(const space::Value& value) {
  if (std::holds_alternative<std::vector<int64_t>>(value)) return space::ToString(value);
  return space::ToJson(value);
}

/// A value as Python's `str` writes it: keys of the cache are made of these.
std::string PythonText(const OrderedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  std::string text = fmt::format("{}", value.get<double>());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// The values that a parameter has: all of those that are listed, else those that were tried.
OrderedJson ListedValues(const space::Space& space, int index,
                         std::span<const search::StudyTrial> trials) {
  const space::Parameter& parameter = space.parameter(index);
  const bool is_listed = parameter.kind() == space::ParameterKind::kOrdinal ||
                         parameter.kind() == space::ParameterKind::kCategorical ||
                         (parameter.kind() == space::ParameterKind::kInteger &&
                          parameter.Cardinality() <= kMaxListedIntegers);
  OrderedJson values = OrderedJson::array();
  if (is_listed) {
    for (int64_t rank = 0; rank < parameter.Cardinality(); ++rank) {
      values.push_back(CacheValue(parameter.ValueAt(static_cast<double>(rank))));
    }
    return values;
  }
  std::set<OrderedJson> tried;
  for (const search::StudyTrial& trial : trials) {
    tried.insert(CacheValue(space.ValueOf(trial.configuration, index)));
  }
  for (const OrderedJson& value : tried) values.push_back(value);
  return values;
}

std::string ErrorName(trial::Verdict verdict) {
  return verdict == trial::Verdict::kBuildError ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

/// "1,16,rows" and what is cached under it.
std::string CacheEntry(const search::Scenario& scenario, const search::StudyTrial& trial,
                       int64_t started) {
  const space::Space& space = *scenario.space;
  const trial::Outcome& outcome = trial.outcome;
  OrderedJson entry;
  if (outcome.ok()) {
    for (const trial::NamedValue& named : outcome.values) {
      if (std::isfinite(named.value)) entry[named.name] = named.value;
    }
  } else {
    entry["__error__"] = ErrorName(outcome.verdict);
  }
  constexpr double kMilliseconds = 1e3;
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  const int64_t ended = started + static_cast<int64_t>(std::llround(1e6 * trial.elapsed));
  entry["compile_time"] = kMilliseconds * details.build_seconds;
  entry["verification_time"] = 0;
  entry["benchmark_time"] = kMilliseconds * details.measure_seconds;
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  entry["timestamp"] =
      fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}+00:00",
                  fmt::gmtime(static_cast<std::time_t>(ended / 1'000'000)), ended % 1'000'000);
  // Last, for an objective or a parameter may have any name.
  std::string key;
  for (int i = 0; i < space.size(); ++i) {
    OrderedJson value = CacheValue(space.ValueOf(trial.configuration, i));
    key += (i > 0 ? "," : "") + PythonText(value);
    entry[space.parameter(i).name()] = std::move(value);
  }
  const std::vector<search::Objective> objectives = scenario.objectives;
  if (outcome.ok()) {
    const std::vector<double> values = search::ValuesOf(outcome, objectives);
    for (size_t k = 0; k < values.size(); ++k) entry[objectives[k].name] = values[k];
  } else {
    for (const search::Objective& objective : objectives) {
      entry[objective.name] = ErrorName(outcome.verdict);
    }
  }
  const auto text = [](const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  };
  return text(key) + ": " + text(entry);
}

}  // namespace

std::string KernelTunerCache(const search::Scenario& scenario,
                             std::span<const search::StudyTrial> trials, int64_t started) {
  const space::Space& space = *scenario.space;
  OrderedJson names = OrderedJson::array();
  OrderedJson values = OrderedJson::object();
  for (int i = 0; i < space.size(); ++i) {
    names.push_back(space.parameter(i).name());
    values[space.parameter(i).name()] = ListedValues(space, i, trials);
  }
  const std::vector<search::Objective> objectives = scenario.objectives;
  for (const search::Objective& each : objectives) {
    if (space.IndexOf(each.name) < 0) continue;
    throw InputError(
        fmt::format("the objective '{}' is called as a parameter; an entry of a cache has one "
                    "value of each name",
                    base::SingleLine(each.name)));
  }
  OrderedJson objective = objectives[0].name, is_maximized = objectives[0].maximize;
  if (objectives.size() > 1) {
    objective = is_maximized = OrderedJson::array();
    for (const search::Objective& each : objectives) {
      objective.push_back(each.name);
      is_maximized.push_back(each.maximize);
    }
  }
  const OrderedJson header = {{"device_name", "bayloom"},
                              {"kernel_name", scenario.name},
                              {"problem_size", {1}},
                              {"tune_params_keys", names},
                              {"tune_params", values},
                              {"objective", objective},
                              {"objective_higher_is_better", is_maximized}};
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  text.back() = ',';  // in place of the bracket that closes it
  // Kernel Tuner opens the file again by what stands in its last three bytes.
  text += "\n\"cache\": {";
  for (const search::StudyTrial& trial : trials) {
    text += (&trial == trials.data() ? "\n" : ",\n") + CacheEntry(scenario, trial, started);
  }
  return text + "}\n}";
}

}  // namespace bayloom::report
