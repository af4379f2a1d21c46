// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/search/python_list.h"
#include "bayloom/search/scenario_readers.h"
#include "bayloom/search/space_reader.h"

namespace bayloom::search {
namespace {

std::vector<PythonItem> ReadItems(const yaml::YamlValue& field) {
  if (field.IsList()) {
    std::vector<PythonItem> items;
    for (const yaml::YamlValue& item : field.Items()) {
      const nlohmann::json scalar = item.Scalar();
      if (scalar.is_string()) {
        items.emplace_back(item.Text());
      } else {
        items.emplace_back(scalar.is_boolean() ? (scalar.get<bool>() ? 1.0 : 0.0)
                                               : scalar.get<double>());
      }
    }
    return items;
  }
  Result<std::vector<PythonItem>> items = EvaluatePythonList(field.Text());
  if (!items) field.Fail(items.error().message);
  return *std::move(items);
}

/// Whether the values grow by a constant factor, as powers of two do.
bool IsGeometric(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.size() < 3 || values[0] <= 0) return false;
  const double factor = values[1] / values[0];
  for (size_t i = 2; i < values.size(); ++i) {
    if (std::abs(values[i] / values[i - 1] - factor) > 1e-9 * factor) return false;
  }
  return true;
}

std::unique_ptr<space::Parameter> MakeFrom(const std::string& name,
                                           const std::vector<PythonItem>& items) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const PythonItem& item : items) {
    if (const auto* number = std::get_if<double>(&item)) {
      numbers.push_back(*number);
    } else {
      texts.push_back(std::get<std::string>(item));
    }
  }
  if (!texts.empty() && !numbers.empty()) throw InputError("numbers and texts are mixed");
  if (!texts.empty()) return space::MakeCategorical(name, std::move(texts));
  const space::Scale scale = IsGeometric(numbers) ? space::Scale::kLog : space::Scale::kLinear;
  return space::MakeOrdinal(name, std::move(numbers), scale);
}

space::Value ReadDefault(const yaml::YamlValue& field) {
  const nlohmann::json scalar = field.Scalar();
  if (scalar.is_boolean()) return int64_t{scalar.get<bool>()};
  return ReadValue(field);
}

std::unique_ptr<space::Parameter> ReadTuningParameter(const yaml::YamlValue& field) {
  const yaml::YamlValue values = field.At("Values");
  std::unique_ptr<space::Parameter> parameter =
      yaml::WithPlace(values, [&] { return MakeFrom(field.At("Name").Text(), ReadItems(values)); });
  // Files of the hub name defaults that are not among the values; those are of no use.
  if (const auto value = field.Find("Default"); value && value->IsScalar()) {
    [[maybe_unused]] const Status set = parameter->SetDefault(ReadDefault(*value));
  }
  return parameter;
}

/// Whether more is better, by the names that Kernel Tuner knows: rates and efficiencies.
bool IsMaximized(const std::string& objective) {
  return objective == "fitness" || objective.ends_with("/s") || objective.ends_with("/W") ||
         objective.ends_with("/J");
}

void ReadBudgets(const yaml::YamlValue& list, Scenario& scenario) {
  for (const yaml::YamlValue& budget : list.Items()) {
    const yaml::YamlValue type = budget.At("Type");
    const yaml::YamlValue value = budget.At("BudgetValue");
    if (type.Text() == "TuningDuration") {
      scenario.max_seconds = value.Duration();
    } else if (type.Text() == "ConfigurationCount") {
      scenario.max_trials = value.IntWithin(1, 1000000000);
    } else {
      type.Fail(fmt::format("expected TuningDuration or ConfigurationCount, found '{}'",
                            base::SingleLine(type.Text())));
    }
  }
}

}  // namespace

std::unique_ptr<space::Parameter> ReadListParameter(const std::string& name,
                                                    const yaml::YamlValue& values) {
  return yaml::WithPlace(values, [&] { return MakeFrom(name, ReadItems(values)); });
}

void ReadKernelTunerSpace(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario) {
  if (const auto general = top.Find("General")) {
    if (const auto name = general->Find("BenchmarkName")) scenario.name = name->Name();
  }
  const yaml::YamlValue configurations = top.At("ConfigurationSpace");
  const yaml::YamlValue parameters = configurations.At("TuningParameters");
  for (const yaml::YamlValue& field : parameters.Items())
    space.Add(ReadTuningParameter(field), field);
  if (const auto conditions = configurations.Find("Conditions")) {
    for (const yaml::YamlValue& condition : conditions->Items()) {
      const yaml::YamlValue expression = condition.At("Expression");
      space.AddConstraint(expression.Text(), expression);
    }
  }
  scenario.space = space.Finish(parameters);
  scenario.objectives[0].name = "time";
  scenario.evaluator.answer.fields[0] = scenario.objectives[0].name;
  if (const auto budgets = top.Find("Budget")) ReadBudgets(*budgets, scenario);
}

void ReadKernelTunerCache(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario) {
  if (const auto name = top.Find("kernel_name")) scenario.name = name->Name();
  const yaml::YamlValue parameters = top.At("tune_params");
  const yaml::YamlValue keys = top.At("tune_params_keys");
  for (const yaml::YamlValue& key : keys.Items()) {
    const yaml::YamlValue values = parameters.At(key.Text());
    space.Add(ReadListParameter(key.Text(), values), key);
  }
  scenario.space = space.Finish(keys);
  scenario.objectives[0].name = "time";
  if (const auto objective = top.Find("objective")) {
    const bool is_list = objective->IsList() && !objective->Items().empty();
    if (is_list || objective->IsScalar()) {
      scenario.objectives[0].name = (is_list ? objective->Items().front() : *objective).Name();
    }
  }
  scenario.objectives[0].maximize = IsMaximized(scenario.objectives[0].name);
  if (const auto higher = top.Find("objective_higher_is_better")) {
    const bool is_list = higher->IsList() && !higher->Items().empty();
    if (is_list || higher->IsScalar()) {
      scenario.objectives[0].maximize = (is_list ? higher->Items().front() : *higher).Bool();
    }
  }
  scenario.evaluator.answer.fields[0] = scenario.objectives[0].name;
}

}  // namespace bayloom::search
