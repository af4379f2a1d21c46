// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/scenario_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/external/evaluator.h"

namespace bayloom::tuning {
namespace {

void Check(std::span<const SearchMember> members) {
  if (members.empty()) throw InputError("there is no scenario to search");
  std::set<std::string> names;
  for (const SearchMember& member : members) {
    const external::Scenario& scenario = member.scenario;
    if (!names.insert(scenario.name).second) {
      throw InputError(
          fmt::format("two scenarios are named '{}': give one another 'name'", scenario.name));
    }
    if (scenario.evaluator.kind == external::EvaluatorKind::kNone) {
      throw InputError(fmt::format("scenario '{}' does not say how a configuration is evaluated",
                                   scenario.name));
    }
  }
}

}  // namespace

ScenarioSearch::ScenarioSearch(std::vector<SearchMember> members, SearchOptions options)
    : members_(std::move(members)), options_(std::move(options)) {
  Check(members_);
  for (const SearchMember& member : members_) {
    stores_.push_back(std::make_unique<record::Store>(member.database));
    studies_.push_back(
        std::make_unique<DurableStudy>(member.scenario, *stores_.back(), options_.resume));
  }
  run::RunOptions run;
  run.budget = options_.budget;
  run.seed = options_.seed;
  run.scheduler = options_.scheduler;
  // A single scenario has nobody to take turns with, and need not wait for the end of a slot.
  if (members_.size() > 1) run.trials_per_slot = options_.trials_per_slot;
  run_ = std::make_unique<run::ScheduledRun<space::Configuration>>(std::move(run));
  for (size_t i = 0; i < members_.size(); ++i) AddTask(static_cast<int>(i));
}

ScenarioSearch::~ScenarioSearch() = default;

void ScenarioSearch::AddTask(int member) {
  const SearchMember& added = members_[member];
  DurableStudy& study = *studies_[member];
  evaluators_.push_back(
      external::MakeEvaluator(added.scenario.space, added.scenario.evaluator, options_.jobs));
  external::StudyTask& task = *tasks_.emplace_back(
      std::make_unique<external::StudyTask>(study.study(), *evaluators_.back()));
  scheduling::TaskProgress progress;
  progress.name = added.scenario.name;
  progress.weight = added.weight;
  run_->AddTask(task, std::move(progress),
                added.scenario.max_trials.value_or(trial::Budget::kUnlimited));
  // Slots are not recorded: they were as long as they are now.
  const int64_t count = std::ssize(study.earlier());
  for (int64_t i = 0; i < count; ++i) {
    run_->Restore(member, task.ValueOf(study.earlier()[i].outcome), study.earlier()[i].elapsed);
    if ((i + 1) % options_.trials_per_slot == 0 || i + 1 == count) run_->RestoreSlotEnd(member);
  }
}

trial::StopReason ScenarioSearch::Run(const run::RunObserver& observer) {
  const trial::StopReason reason = run_->Run(observer);
  const bool can_go_on =
      reason == trial::StopReason::kStopped || reason == trial::StopReason::kLost;
  if (!can_go_on) {
    for (const auto& study : studies_) study->Finish();
  }
  return reason;
}

std::vector<external::StudyTrial> ScenarioSearch::TrialsOf(int member) const {
  return ReadStudyTrials(*members_[member].scenario.space, *stores_[member], record(member).id);
}

}  // namespace bayloom::tuning
