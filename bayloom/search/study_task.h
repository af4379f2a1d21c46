// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bayloom/run/scheduled_run.h"
#include "bayloom/search/study.h"
#include "bayloom/search/time_limit.h"

namespace bayloom::search {

/// What a value is worth to a scheduler, given the first value of its study: 1 for that one, less
/// for better ones, in proportion. Values of different studies are in different units; these are
/// not. Infinity for what is worse than any ratio says; a value that is better than the first and
/// on the other side of zero counts a hundredth, as does a ratio below that.
double RelativeCost(double value, double first, bool maximize);

/// A study as a task of a run.
class StudyTask final : public run::RunTask<space::Configuration> {
 public:
  /// All must outlive the task; `limit` may be null, else is told how long the best took.
  StudyTask(Study& study, trial::Evaluator<space::Configuration>& evaluator,
            TimeLimit* limit = nullptr);

  /// What a trial of an earlier run is worth, which the study has learnt of already. In their
  /// order.
  run::TrialValue ValueOf(const space::Configuration& configuration, const trial::Outcome& outcome);

  std::vector<space::Configuration> Propose(int n,
                                            const std::function<bool()>& interrupted) override;
  bool GaveUp() const override { return study_.gave_up(); }
  std::vector<std::string> TakeNotices() override { return study_.TakeNotices(); }
  trial::Evaluator<space::Configuration>& evaluator() override { return evaluator_; }
  run::TrialValue Tell(space::Configuration&& configuration, const trial::Outcome& outcome,
                       double elapsed) override;
  bool HasConverged() const override { return study_.stop().HasConverged(); }
  bool HasReachedTarget() const override { return study_.stop().HasReachedTarget(); }
  trial::TrialStore* store() override { return study_.store(); }
  trial::TrialRecord RecordOf(const space::Configuration& configuration) override;

 private:
  void FollowBest();

  Study& study_;
  trial::Evaluator<space::Configuration>& evaluator_;
  TimeLimit* limit_;
  std::optional<double> first_;  ///< the study's first value
};

}  // namespace bayloom::search
