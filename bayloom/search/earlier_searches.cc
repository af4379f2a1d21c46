// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/earlier_searches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "bayloom/base/option_error.h"
#include "bayloom/base/single_line.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/recorded_task.h"

namespace bayloom::search {
namespace {

/// Configurations that did best earlier, tried first: enough to tell whose ranking serves here.
constexpr int kBeginnings = 5;

bool HaveParameterInCommon(const space::Space& space, const space::Space& other) {
  for (int i = 0; i < space.size(); ++i) {
    if (other.IndexOf(space.parameter(i).name()) >= 0) return true;
  }
  return false;
}

/// The task's numbers in the order of `names`; NaN for what it lacks.
std::vector<double> Numbers(const std::map<std::string, double>& task,
                            const std::map<std::string, double>& names) {
  std::vector<double> numbers;
  for (const auto& [name, unused] : names) {
    const auto found = task.find(name);
    numbers.push_back(found == task.end() ? NAN : found->second);
  }
  return numbers;
}

/// Brings a number of all tasks to one scale, by its logarithm where that exists.
void Rescale(std::span<std::vector<double>*> descriptions, size_t number) {
  const bool is_log = std::ranges::all_of(descriptions, [&](const std::vector<double>* d) {
    return std::isnan((*d)[number]) || (*d)[number] > 0;
  });
  for (std::vector<double>* description : descriptions) {
    double& value = (*description)[number];
    if (std::isnan(value)) {
      value = 0;
    } else if (is_log) {
      value = std::log2(value);
    }
  }
}

/// Places of the space's parameters that the other one lacks; nullopt where a parameter that is in
/// both has another domain.
std::optional<std::vector<int>> NewParameters(const space::Space& space,
                                              const space::Space& other) {
  std::vector<int> missing;
  for (int i = 0; i < space.size(); ++i) {
    const int place = other.IndexOf(space.parameter(i).name());
    if (place < 0) {
      missing.push_back(i);
    } else if (space.parameter(i).Describe() != other.parameter(place).Describe()) {
      return std::nullopt;
    }
  }
  return missing;
}

/// The task with the configurations of the space that its own ones are; what is not in the space is
/// left out.
void TranslateTask(const std::shared_ptr<const space::Space>& space, optimizer::EarlierTask& task) {
  optimizer::EarlierTask translated;
  for (size_t i = 0; i < task.values.size(); ++i) {
    auto one = optimizer::Translate(*task.space, task.configurations[i], *space);
    if (!one) continue;
    translated.configurations.push_back(*std::move(one));
    translated.values.push_back(task.values[i]);
  }
  for (const space::Configuration& failure : task.failures) {
    auto one = optimizer::Translate(*task.space, failure, *space);
    if (one) translated.failures.push_back(*std::move(one));
  }
  task.space = space;
  task.configurations = std::move(translated.configurations);
  task.values = std::move(translated.values);
  task.failures = std::move(translated.failures);
}

optimizer::EarlierTask AsTask(const record::RunRecord& record, const Scenario& other,
                              record::Store& store, const Scenario& scenario) {
  optimizer::EarlierTask task;
  task.name = record.name;
  task.space = other.space;
  task.description = Numbers(other.task, scenario.task);
  for (const StudyTrial& trial : ReadStudyTrials(*other.space, store, record.id)) {
    if (!other.IsFull(trial.configuration)) continue;
    if (trial.outcome.ok()) {
      task.configurations.push_back(trial.configuration);
      task.values.push_back(scenario.objectives[0].maximize ? -trial.outcome.value
                                                            : trial.outcome.value);
    } else {
      task.failures.push_back(trial.configuration);
    }
  }
  return task;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code none;
  return !b.empty() && std::filesystem::equivalent(a, b, none);
}

void LearnFromDatabase(const std::string& path, const Scenario& scenario, bool is_own,
                       EarlierSearches& earlier) {
  record::Store store(path, record::Store::Mode::kReadOnly);
  for (const record::RunRecord& record : store.Runs(record::RunKind::kSearch)) {
    const bool is_same =
        is_own && record.name == scenario.name && record.definition == scenario.text;
    if (is_same || record.objective != scenario.objectives[0].name ||
        record.maximize != scenario.objectives[0].maximize) {
      continue;
    }
    try {
      const Scenario other = ScenarioOf(record);
      if (!HaveParameterInCommon(*scenario.space, *other.space)) continue;
      optimizer::EarlierTask task = AsTask(record, other, store, scenario);
      const std::optional<std::vector<int>> added = NewParameters(*scenario.space, *other.space);
      if (added) TranslateTask(scenario.space, task);
      if (task.values.empty()) continue;
      if (added && !added->empty()) {
        earlier.notes.push_back(fmt::format("{}: {}", base::SingleLine(task.name, 100),
                                            NewParametersText(*scenario.space, *added)));
      }
      earlier.transfer.tasks.push_back(std::move(task));
    } catch (const InputError&) {
      // Its scenario refers to files that are gone, or its trials do not fit it any more.
    }
  }
}

std::string TasksText(const std::vector<optimizer::EarlierTask>& tasks) {
  std::vector<std::string> texts;
  for (const optimizer::EarlierTask& task : tasks) {
    std::string& text = texts.emplace_back(
        fmt::format("{} ({} values", base::SingleLine(task.name, 100), task.values.size()));
    if (!task.failures.empty()) text += fmt::format(", {} failures", task.failures.size());
    text += ")";
  }
  return fmt::format("Learns from {}", fmt::join(texts, ", "));
}

}  // namespace

EarlierSearches LearnFromSearches(std::span<const std::string> files, const std::string& method,
                                  const Scenario& scenario, const std::string& own_database) {
  EarlierSearches earlier;
  optimizer::TransferOptions& transfer = earlier.transfer;
  transfer.method = method;
  transfer.beginnings = kBeginnings;
  transfer.description = Numbers(scenario.task, scenario.task);
  for (const std::string& file : files) {
    if (record::IsDatabase(file)) {
      LearnFromDatabase(file, scenario, IsSameFile(file, own_database), earlier);
    } else {
      transfer.tasks.push_back(RecordedTask(file, scenario, earlier.notes));
      transfer.tasks.back().description = Numbers({}, scenario.task);
    }
  }
  if (!transfer.tasks.empty()) {
    earlier.notes.insert(earlier.notes.begin(), TasksText(transfer.tasks));
  }
  std::vector<std::vector<double>*> descriptions = {&transfer.description};
  for (optimizer::EarlierTask& task : transfer.tasks) descriptions.push_back(&task.description);
  for (size_t i = 0; i < transfer.description.size(); ++i) Rescale(descriptions, i);
  return earlier;
}

std::vector<std::string> TeachOptimizer(const run::LearnFrom& sources, const std::string& method,
                                        const std::string& own_database, Scenario& scenario) {
  if (sources.IsOff()) return {};
  if (scenario.optimizer_options.context || !scenario.contexts.empty()) {
    throw OptionError("learn-from", "contexts learn of each other, and not from earlier searches");
  }
  if (scenario.optimizer != "bayesian") {
    throw OptionError(
        "learn-from",
        fmt::format("only the bayesian optimizer learns from earlier searches, not {}",
                    scenario.optimizer));
  }
  EarlierSearches earlier =
      LearnFromSearches(sources.FilesWith(own_database), method, scenario, own_database);
  if (!earlier.transfer.tasks.empty()) {
    scenario.optimizer_options.transfer = std::move(earlier.transfer);
    return std::move(earlier.notes);
  }
  const std::string nothing = fmt::format(
      "there is no earlier search for '{}' of another scenario with parameters of the "
      "same names",
      base::SingleLine(scenario.objectives[0].name));
  if (!sources.files.empty()) throw OptionError("learn-from", nothing);
  return {fmt::format("Learns from nothing: {}", nothing)};
}

}  // namespace bayloom::search
