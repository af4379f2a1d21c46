// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/earlier_searches.h"

#include <algorithm>
#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom::tuning {
namespace {

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

optimizer::EarlierTask AsTask(const record::RunRecord& record, const external::Scenario& other,
                              record::Store& store, const external::Scenario& scenario) {
  optimizer::EarlierTask task;
  task.name = record.name;
  task.space = other.space;
  task.description = Numbers(other.task, scenario.task);
  for (const external::StudyTrial& trial : ReadStudyTrials(*other.space, store, record.id)) {
    if (!trial.outcome.ok()) continue;
    task.configurations.push_back(trial.configuration);
    task.values.push_back(scenario.maximize ? -trial.outcome.value : trial.outcome.value);
  }
  return task;
}

}  // namespace

optimizer::TransferOptions LearnFromSearches(std::span<const std::string> databases,
                                             const std::string& method,
                                             const external::Scenario& scenario) {
  optimizer::TransferOptions transfer;
  transfer.method = method;
  transfer.description = Numbers(scenario.task, scenario.task);
  for (const std::string& database : databases) {
    record::Store store(database, record::Store::Mode::kReadOnly);
    for (const record::RunRecord& record : store.Runs(record::RunKind::kSearch)) {
      const bool is_same = record.name == scenario.name && record.definition == scenario.text;
      if (is_same || record.objective != scenario.objective ||
          record.maximize != scenario.maximize) {
        continue;
      }
      try {
        const external::Scenario other = ScenarioOf(record);
        if (!HaveParameterInCommon(*scenario.space, *other.space)) continue;
        optimizer::EarlierTask task = AsTask(record, other, store, scenario);
        if (!task.values.empty()) transfer.tasks.push_back(std::move(task));
      } catch (const InputError&) {
        // Its scenario refers to files that are gone, or its trials do not fit it any more.
      }
    }
  }
  std::vector<std::vector<double>*> descriptions = {&transfer.description};
  for (optimizer::EarlierTask& task : transfer.tasks) descriptions.push_back(&task.description);
  for (size_t i = 0; i < transfer.description.size(); ++i) Rescale(descriptions, i);
  return transfer;
}

}  // namespace bayloom::tuning
