// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/external/study_task.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom::tuning {

/// A scenario to be searched.
struct SearchMember {
  external::Scenario scenario;
  std::string database;  ///< path of the store that keeps its trials
  double weight = 1;     ///< how much an improvement counts, in proportion to the first value
};

struct SearchOptions {
  /// Of all scenarios together, earlier trials and seconds included. A scenario's own limit of
  /// trials holds beside it.
  trial::Budget budget;
  int jobs = 1;         ///< configurations evaluated at the same time
  bool resume = false;  ///< go on with the stores' last searches of these scenarios
  uint64_t seed = 0;    ///< of the scheduler
  /// How several scenarios share the budget, and the trials of a turn.
  std::string scheduler = "dynatune";
  int trials_per_slot = 8;
};

/// Searches one or several scenarios under one budget: their optimizers propose, their evaluators
/// try, and where there are several a TaskScheduler decides slot by slot which goes on.
///
///     ScenarioSearch search({{LoadScenario("flags.yaml"), "flags.db"}}, {.budget = {.trials =
///     50}}); const StopReason reason = search.Run({.on_trial = ShowTrial}); if (const auto& best =
///     search.study(0).best()) Use(best->configuration);
class ScenarioSearch {
 public:
  /// Throws InputError for scenarios that cannot be evaluated, have the same name, or do not fit
  /// the trials that are to be resumed.
  ScenarioSearch(std::vector<SearchMember> members, SearchOptions options);
  ~ScenarioSearch();

  trial::StopReason Run(const run::RunObserver& observer = {});

  std::span<const SearchMember> members() const { return members_; }
  const external::Study& study(int member) const { return studies_[member]->study(); }
  const record::RunRecord& record(int member) const { return studies_[member]->record(); }
  /// Whether it goes on with an earlier search.
  bool resumed(int member) const { return studies_[member]->resumed(); }
  run::RunStatus Status() const { return run_->Status(); }
  /// The members that slots were given to.
  std::span<const int> slots() const { return run_->state().slots(); }
  /// Why trials cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return run_->lost(); }
  /// All trials of a member, from its store.
  std::vector<external::StudyTrial> TrialsOf(int member) const;

 private:
  void AddTask(int member);

  std::vector<SearchMember> members_;
  SearchOptions options_;
  std::vector<std::unique_ptr<record::Store>> stores_;
  std::vector<std::unique_ptr<DurableStudy>> studies_;
  std::vector<std::unique_ptr<trial::Evaluator<space::Configuration>>> evaluators_;
  std::vector<std::unique_ptr<external::StudyTask>> tasks_;
  std::unique_ptr<run::ScheduledRun<space::Configuration>> run_;
};

}  // namespace bayloom::tuning
