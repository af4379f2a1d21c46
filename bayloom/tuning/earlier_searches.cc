#include "bayloom/tuning/earlier_searches.h"

#include <algorithm>
#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom {
namespace {

bool HaveParameterInCommon(const Space& space, const Space& other) {
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

EarlierTask AsTask(const RunRecord& record, const Scenario& other, Store& store,
                   const Scenario& scenario) {
  EarlierTask task;
  task.name = record.name;
  task.space = other.space;
  task.description = Numbers(other.task, scenario.task);
  for (const StudyTrial& trial : ReadStudyTrials(*other.space, store, record.id)) {
    if (!trial.outcome.ok()) continue;
    task.configurations.push_back(trial.configuration);
    task.values.push_back(scenario.maximize ? -trial.outcome.value : trial.outcome.value);
  }
  return task;
}

}  // namespace

TransferOptions LearnFromSearches(std::span<const std::string> databases, TransferMethod method,
                                  const Scenario& scenario) {
  TransferOptions transfer;
  transfer.method = method;
  transfer.description = Numbers(scenario.task, scenario.task);
  for (const std::string& database : databases) {
    Store store(database, Store::Mode::kReadOnly);
    for (const RunRecord& record : store.Runs(RunKind::kSearch)) {
      const bool is_same = record.name == scenario.name && record.definition == scenario.text;
      if (is_same || record.objective != scenario.objective ||
          record.maximize != scenario.maximize) {
        continue;
      }
      try {
        const Scenario other = ScenarioOf(record);
        if (!HaveParameterInCommon(*scenario.space, *other.space)) continue;
        EarlierTask task = AsTask(record, other, store, scenario);
        if (!task.values.empty()) transfer.tasks.push_back(std::move(task));
      } catch (const InputError&) {
        // Its scenario refers to files that are gone, or its trials do not fit it any more.
      }
    }
  }
  std::vector<std::vector<double>*> descriptions = {&transfer.description};
  for (EarlierTask& task : transfer.tasks) descriptions.push_back(&task.description);
  for (size_t i = 0; i < transfer.description.size(); ++i) Rescale(descriptions, i);
  return transfer;
}

}  // namespace bayloom
