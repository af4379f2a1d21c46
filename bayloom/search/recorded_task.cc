// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/recorded_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

/// What stands for a parameter where there is no value of it.
space::Value StandIn(const space::Parameter& parameter) {
  return parameter.ValueAt(parameter.default_coordinate().value_or(parameter.AtPosition(0)));
}

RecordedSpace Load(const std::string& path, const Scenario& scenario) {
  try {
    return RecordedSpace::Load(path, {scenario.objectives[0].name}, scenario.space.get());
  } catch (const InputError&) {
    return RecordedSpace::Load(path, {""}, scenario.space.get());
  }
}

/// The record's values of the space's parameters.
nlohmann::json ValuesFor(const space::Space& space, const nlohmann::json& record) {
  nlohmann::json values = nlohmann::json::object();
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    const auto found = record.find(parameter.name());
    if (found == record.end()) {
      values[parameter.name()] = space::ToJson(StandIn(parameter));
    } else if (parameter.ElementCount() > 0 && found->is_string()) {
      values[parameter.name()] = base::ParseJsonOrDiscard(found->get<std::string>());
    } else {
      values[parameter.name()] = *found;
    }
  }
  return values;
}

/// Of parameters, those that no record has; conditional ones may be inactive in all.
std::vector<int> Missing(const space::Space& space, const std::set<std::string>& recorded) {
  std::vector<int> missing;
  for (int i = 0; i < space.size(); ++i) {
    if (!recorded.contains(space.parameter(i).name()) && !space.conditions().IsConditional(i)) {
      missing.push_back(i);
    }
  }
  return missing;
}

}  // namespace

std::string NewParametersText(const space::Space& space, const std::vector<int>& parameters) {
  std::vector<std::string> texts;
  for (const int i : parameters) {
    const space::Parameter& parameter = space.parameter(i);
    texts.push_back(fmt::format("'{}' is {}", base::SingleLine(parameter.name()),
                                base::SingleLine(space::ToString(StandIn(parameter)))));
  }
  return fmt::format("{} in what was tried earlier", fmt::join(texts, ", "));
}

optimizer::EarlierTask RecordedTask(const std::string& path, const Scenario& scenario,
                                    std::vector<std::string>& notes) {
  const RecordedSpace recorded = Load(path, scenario);
  const space::Space& space = *scenario.space;
  optimizer::EarlierTask task;
  task.name = std::filesystem::path(path).filename().string();
  task.space = scenario.space;
  std::set<std::string> names;
  int64_t left_out = 0;
  for (const auto& [record, outcome] : recorded.Records()) {
    for (const auto& [name, value] : record.items()) names.insert(name);
    const Result<space::Configuration> configuration =
        space::FromJson(space, ValuesFor(space, record));
    if (!configuration || !space.Contains(*configuration)) {
      ++left_out;
    } else if (outcome.ok()) {
      task.configurations.push_back(*configuration);
      task.values.push_back(scenario.objectives[0].maximize ? -outcome.value : outcome.value);
    } else {
      task.failures.push_back(*configuration);
    }
  }
  const std::string name = base::SingleLine(task.name, 100);
  const std::vector<int> missing = Missing(space, names);
  if (task.values.empty() || std::ssize(missing) == space.size()) {
    throw InputError(
        fmt::format("transfer: '{}' has no configuration with these parameters that has a value",
                    base::SingleLine(path, 200)));
  }
  if (!missing.empty()) {
    notes.push_back(fmt::format("{}: {}", name, NewParametersText(space, missing)));
  }
  if (left_out > 0) {
    notes.push_back(fmt::format("{}: {} of {} configurations are not in the space and are left out",
                                name, left_out, recorded.size()));
  }
  return task;
}

}  // namespace bayloom::search
