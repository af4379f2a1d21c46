// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/run/repeat_options.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/study_task.h"

namespace bayloom::search {

/// A scenario to be searched, or a context of one (EachContext).
struct SearchMember {
  Scenario scenario;
  std::string database;  ///< path of the store that keeps its trials
  double weight = 1;     ///< how much an improvement counts, in proportion to the first value
};

struct SearchOptions {
  /// The budget is that of all scenarios together, earlier trials and seconds included; a
  /// scenario's own limit of trials holds beside it. Several scenarios share it in turns of 8
  /// trials, unless it says otherwise.
  run::RunOptions run = {};
  int jobs = 1;         ///< configurations evaluated at the same time, no more than trials
  bool resume = false;  ///< go on with the stores' last searches of these scenarios
  /// The best configurations of each scenario are evaluated again at the end, one at a time, unless
  /// the search is stopped before.
  run::RepeatOptions repeat = {};
  /// Where the default configuration has a value, else the first that has one, is evaluated again
  /// with the best, which shows what was gained.
  bool repeat_baseline = false;
  /// Makes what evaluates a scenario's configurations; empty, or where it gives null:
  /// MakeEvaluator.
  EvaluatorMaker make_evaluator = {};
};

/// A configuration that was evaluated again.
struct RepeatedConfiguration {
  StudyTrial trial;                      ///< as it was found
  std::vector<trial::Outcome> outcomes;  ///< of all rounds so far
  bool is_baseline = false;              ///< of SearchOptions::repeat_baseline
  bool ok = true;                        ///< every time
  double median = 0;                     ///< of the values; NaN where one failed
  double spread = 0;                     ///< their interquartile range over the median's size
};

/// Searches one or several scenarios under one budget: their optimizers propose, their evaluators
/// try, and where there are several a TaskScheduler decides slot by slot which goes on.
///
///     ScenarioSearch search({{LoadScenario("flags.yaml"), "flags.db"}}, {.run = {.budget =
///     {.trials = 50}}}); const StopReason reason = search.Run({.on_trial = ShowTrial}); if (const
///     auto& best = search.study(0).best()) Use(best->configuration);
class ScenarioSearch {
 public:
  /// Throws InputError for scenarios that cannot be evaluated, have the same name, do not fit the
  /// trials that are to be resumed, or are to be evaluated again although their values are
  /// recorded, and for several objectives where one is needed (several scenarios, repeats).
  ScenarioSearch(std::vector<SearchMember> members, SearchOptions options);
  ~ScenarioSearch();

  /// Makes trials until the budget is spent, then evaluates the best again if the options say so.
  /// kStopped also where only the latter was interrupted; resumed, it goes on there.
  trial::StopReason Run(const run::RunObserver& observer = {},
                        const std::function<void(const run::RepeatStatus&)>& on_repeat = {});

  std::span<const SearchMember> members() const { return members_; }
  /// Whether the members are the contexts of one scenario, which learn of each other.
  bool AreContexts() const;
  const Study& study(int member) const { return studies_[member]->study(); }
  const record::RunRecord& record(int member) const { return studies_[member]->record(); }
  /// Whether it goes on with an earlier search.
  bool resumed(int member) const { return studies_[member]->resumed(); }
  run::RunStatus Status() const { return run_->Status(); }
  const run::RunOptions& run_options() const { return options_.run; }
  /// The members that slots were given to.
  std::span<const int> slots() const { return run_->state().slots(); }
  /// Why trials cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return lost_; }
  /// All trials of a member, from its store.
  std::vector<StudyTrial> TrialsOf(int member) const;
  /// The default configuration's trial, if there is a default and it has a value; else the first
  /// with a value.
  std::optional<StudyTrial> BaselineOf(int member) const;
  /// What was evaluated again of a member since its last trial, best first; from its store, where
  /// trials keep the outcomes that they had. Empty if nothing was.
  std::vector<RepeatedConfiguration> RepeatedOf(int member) const;

 private:
  /// Has the contexts of a scenario learn together.
  void ShareContexts();
  void AddEvaluator(const Scenario& scenario);
  void AddTask(int member);
  bool IsBetter(int member, double a, double b) const;
  /// The trials that are to be evaluated again, best first, then the baseline.
  std::vector<StudyTrial> BestOf(int member) const;
  trial::StopReason RepeatBest(const std::function<void(const run::RepeatStatus&)>& observer);

  std::vector<SearchMember> members_;
  SearchOptions options_;
  std::vector<std::unique_ptr<record::Store>> stores_;
  std::vector<std::unique_ptr<DurableStudy>> studies_;
  std::vector<std::shared_ptr<TimeLimit>> limits_;
  std::vector<std::unique_ptr<trial::Evaluator<space::Configuration>>> evaluators_;
  std::vector<std::unique_ptr<StudyTask>> tasks_;
  std::unique_ptr<run::ScheduledRun<space::Configuration>> run_;
  std::string lost_;
};

}  // namespace bayloom::search
