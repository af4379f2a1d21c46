// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bayloom/cost/random_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  std::vector<uint64_t> HashesOf(record::RunId session) {
    std::vector<uint64_t> hashes;
    for (const record::StoredTrial& trial : store_.TrialsOfRun(session))
      hashes.push_back(trial.key);
    return hashes;
  }
  static std::vector<TaskSpec> OneTask() { return {TwoTasks()[0]}; }
  /// Four floats to compute: a few dozen programs.
  static std::vector<TaskSpec> TinyTask() { return {{"tiny", tensor::MatmulWorkload(2, 2, 1), 1}}; }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "tuning.db"};
  SimulatedEvaluator evaluator_;
  SessionOptions options_ = QuickOptions();
};

TEST_F(SessionTest, UsesUpItsTrialsAndRecordsEachOnce) {
  options_.run.budget.trials = 37;  // not a multiple of the slot
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(evaluator_.candidates, 37);
  const std::vector<record::StoredTrial> trials = store_.TrialsOfRun(session.id());
  ASSERT_EQ(trials.size(), 37u);
  std::set<std::pair<record::TaskId, uint64_t>> distinct;
  for (const record::StoredTrial& trial : trials) {
    EXPECT_TRUE(distinct.insert({trial.task, trial.key}).second);
    EXPECT_EQ(trial.proposer, "bayes");
  }
  EXPECT_TRUE(store_.RunOf(session.id()).finished);
}

TEST_F(SessionTest, TheBestOfATaskIsItsFastestTrial) {
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  session.Run();
  double total = 0;
  const SessionStatus status = session.Status();
  for (size_t i = 0; i < session.tasks().size(); ++i) {
    const TuningTask& task = *session.tasks()[i];
    double fastest = std::numeric_limits<double>::infinity();
    for (const record::StoredTrial& trial : store_.TrialsOfRun(session.id())) {
      if (trial.task == task.id() && trial.outcome.ok()) {
        fastest = std::min(fastest, trial.outcome.value);
      }
    }
    ASSERT_TRUE(task.best());
    EXPECT_EQ(task.best()->outcome.value, fastest);
    EXPECT_EQ(strategy::SimulatedMachine::Run(task.best()->candidate.program), fastest);
    const scheduling::TaskProgress& progress = status.tasks[i];
    EXPECT_EQ(progress.best(), fastest);
    EXPECT_EQ(progress.slot_ends.back(), progress.trials());
    EXPECT_TRUE(
        std::is_sorted(progress.best_after_trial.rbegin(), progress.best_after_trial.rend()));
    total += task.weight() * fastest;
  }
  EXPECT_DOUBLE_EQ(status.total_seconds, total);
}

TEST_F(SessionTest, TheObserverHearsOfEveryTrialAndSlot) {
  options_.run.budget.trials = 20;
  cost::RandomModel model(1);
  Session session(strategy::SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  std::vector<int64_t> at_trial, at_slot;
  session.Run({.on_trial = [&](const SessionStatus& status,
                               const trial::Outcome&) { at_trial.push_back(status.trials); },
               .on_slot =
                   [&](const SessionStatus& status) {
                     at_slot.push_back(status.trials);
                     EXPECT_TRUE(status.model);
                   }});
  EXPECT_EQ(at_trial.size(), 20u);
  EXPECT_EQ(at_trial.back(), 20);
  EXPECT_EQ(at_slot, (std::vector<int64_t>{8, 16, 20}));
}

TEST_F(SessionTest, KeepsTheModelsMetricsPerSlot) {
  options_.run.budget.trials = 24;
  cost::XgboostModel model;
  Session session(strategy::SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  session.Run();
  std::set<int64_t> slots;
  for (const record::Metric& metric : store_.MetricsOf(session.id())) {
    EXPECT_EQ(metric.task, session.tasks()[0]->id());
    if (metric.name == "rmse") slots.insert(metric.batch);
  }
  EXPECT_EQ(slots, (std::set<int64_t>{0, 1, 2}));
}

TEST_F(SessionTest, GoesOnWithoutAModelThatCannotBeFitted) {
  class UnfitModel final : public cost::CostModel {
   public:
    std::vector<double> Predict(std::span<const feature::FeatureMatrix* const>) override {
      throw model::FitFailure("no trees");
    }
    cost::BatchMetrics Update(std::span<const cost::Sample>) override {
      throw model::FitFailure("no trees");
    }
    void Remember(std::span<const cost::Sample>) override { throw model::FitFailure("no trees"); }
  };
  options_.run.budget.trials = 20;
  UnfitModel model;
  Session session(strategy::SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(store_.CountTrials(session.id()), 20);
  options_.resume = session.id();
  options_.run.budget.trials = 30;
  Session resumed(strategy::SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  EXPECT_EQ(resumed.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(store_.CountTrials(session.id()), 30);
}

TEST_F(SessionTest, RespectsTheLimitPerTask) {
  options_.max_trials_per_task = 12;
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
  for (const scheduling::TaskProgress& progress : session.Status().tasks)
    EXPECT_EQ(progress.trials(), 12);
}

TEST_F(SessionTest, RespectsTheTimeBudgetAndAccountsForPhases) {
  double now = 100;
  options_.run.budget.clock = [&] { return now; };
  options_.run.budget.seconds = 31;
  /// Compiles whenever it has not for eight programs: at the beginning of each slot.
  class SlowEvaluator final : public SimulatedEvaluator {
   public:
    explicit SlowEvaluator(double& now) : now_(now) {}
    std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                              const std::function<bool()>& stop) override {
      if (candidates % 8 == 0) {
        now_ += 3;
        build_seconds_ += 3;
      }
      now_ += 1;  // measuring
      return SimulatedEvaluator::Collect(wait_seconds, stop);
    }
    double build_seconds() const override { return build_seconds_; }

   private:
    double& now_;
    double build_seconds_ = 0;
  } evaluator(now);
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kTime);
  const SessionStatus status = session.Status();
  // Two slots of 3 + 8 seconds, then 3 + 6.
  EXPECT_EQ(status.trials, 22);
  EXPECT_EQ(status.seconds, 31);
  EXPECT_EQ(status.phases.compile, 9);
  EXPECT_EQ(status.phases.measure, 22);
  EXPECT_EQ(status.phases.OverheadShare(), 0);
}

TEST_F(SessionTest, StopsWhenAskedAndCanBeResumed) {
  bool stop = false;
  options_.run.budget.stop = [&] { return stop; };
  evaluator_.before_report = [&](const sketch::Candidate&, const trial::Outcome&) {
    if (evaluator_.candidates == 13) stop = true;
  };
  {
    Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
    EXPECT_EQ(session.Run(), trial::StopReason::kStopped);
    EXPECT_EQ(session.Status().trials, 13);
    EXPECT_FALSE(store_.RunOf(session.id()).finished);
    options_.resume = session.id();
  }
  stop = false;
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Status().trials, 13);
  EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(evaluator_.candidates, 60);
  EXPECT_EQ(HashesOf(session.id()).size(), 60u);
}

/// Loses some trials, and after a while all.
class LosingEvaluator final : public SimulatedEvaluator {
 public:
  int lost = 0;
  bool broken = false;

  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    std::vector<trial::FinishedTrial> finished = SimulatedEvaluator::Collect(wait_seconds, stop);
    if (!finished.empty() && (broken || (candidates % 5 == 0))) {
      finished[0].outcome.reset();
      finished[0].lost = "the disk is full";
      ++lost;
    }
    return finished;
  }
};

TEST_F(SessionTest, WhatIsLostIsTriedAgainAndNeverRecorded) {
  LosingEvaluator evaluator;
  options_.run.budget.trials = 32;
  {
    Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator, options_);
    EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
    EXPECT_EQ(HashesOf(session.id()).size(), 32u);
    EXPECT_EQ(evaluator.candidates, 32 + evaluator.lost);
    EXPECT_GT(evaluator.lost, 5);
    options_.resume = session.id();
  }
  options_.run.budget.trials = 48;
  evaluator.broken = true;
  {
    Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator, options_);
    EXPECT_EQ(session.Run(), trial::StopReason::kLost);
    EXPECT_EQ(session.lost(), "the disk is full");
    EXPECT_FALSE(store_.RunOf(session.id()).finished);
    EXPECT_EQ(HashesOf(session.id()).size(), 32u);
  }
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(HashesOf(session.id()).size(), 48u);
}

/// Measures nothing at all.
class FailingEvaluator final : public SimulatedEvaluator {
 public:
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    std::vector<trial::FinishedTrial> finished = SimulatedEvaluator::Collect(wait_seconds, stop);
    for (trial::FinishedTrial& trial : finished) {
      trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "exit code 126");
    }
    return finished;
  }
};

TEST_F(SessionTest, EndsWithTheReasonWhereTheFirstTrialsAllFailAlike) {
  FailingEvaluator evaluator;
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kLost);
  EXPECT_THAT(session.lost(), ::testing::HasSubstr("exit code 126"));
  EXPECT_EQ(HashesOf(session.id()).size(), 12u);
}

TEST_F(SessionTest, EndsWhenTheDesignSpacesAreExhausted) {
  options_.run.budget.trials = 100000;
  Session session(strategy::SimulatedTarget(), TinyTask(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), trial::StopReason::kExhausted);
  EXPECT_LT(session.Status().trials, 5000);
  EXPECT_TRUE(session.Status().tasks[0].finished);
}

TEST_F(SessionTest, EqualWorkloadsAreOneTask) {
  std::vector<TaskSpec> specs = TwoTasks();
  specs.push_back(specs[0]);
  specs.back().weight = 5;
  Session session(strategy::SimulatedTarget(), std::move(specs), store_, nullptr, evaluator_,
                  options_);
  ASSERT_EQ(session.tasks().size(), 2u);
  EXPECT_EQ(session.tasks()[0]->weight(), 6);
  EXPECT_EQ(session.Status().tasks[0].weight, 6);
}

TEST_F(SessionTest, EarlierSessionsAreLearntFromAndNotRepeated) {
  options_.run.budget.trials = 24;
  Session first(strategy::SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  first.Run();
  options_.run.seed = 0;  // the same choices, were it not for what is known
  Session second(strategy::SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(second.Status().trials, 0);
  ASSERT_TRUE(second.tasks()[0]->best());
  EXPECT_EQ(second.tasks()[0]->best()->outcome.value, first.tasks()[0]->best()->outcome.value);
  second.Run();
  const std::vector<uint64_t> hashes = HashesOf(second.id());
  EXPECT_EQ(hashes.size(), 24u);
  for (uint64_t known : HashesOf(first.id())) {
    EXPECT_EQ(std::count(hashes.begin(), hashes.end(), known), 0);
  }
  options_.use_earlier_sessions = false;
  Session third(strategy::SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  EXPECT_FALSE(third.tasks()[0]->best());
  third.Run();
  EXPECT_EQ(HashesOf(third.id()), HashesOf(first.id()));
}

TEST_F(SessionTest, TheZeroTrialProgramIsTriedFirstAndNotAgain) {
  options_.first = [](const sketch::SpaceGenerator& space) {
    return FirstPrograms{.zero_trial = DefaultCandidate(space)};
  };
  options_.run.budget.trials = 20;
  for (const char* strategy : {"bayes", "evolutionary"}) {
    options_.strategy = strategy;
    options_.use_earlier_sessions = false;
    Session session(strategy::SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
    session.Run();
    const uint64_t plain = DefaultCandidate(session.tasks()[0]->space()).hash;
    std::vector<uint64_t> hashes = HashesOf(session.id());
    ASSERT_EQ(hashes.size(), 20u);
    EXPECT_EQ(hashes[0], plain);
    EXPECT_EQ(store_.TrialsOfRun(session.id())[0].proposer, kZeroTrialProposer);
    EXPECT_NE(store_.TrialsOfRun(session.id())[1].proposer, kZeroTrialProposer);
    EXPECT_EQ(std::ranges::count(hashes, plain), 1);

    options_.use_earlier_sessions = true;
    Session second(strategy::SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
    second.Run();
    EXPECT_EQ(std::ranges::count(HashesOf(second.id()), plain), 0) << "it is known";
  }
}

TEST_F(SessionTest, EveryTaskBeginsBeforeAnyGoesOnAndCountsByItsEstimateUntilThen) {
  options_.first = [](const sketch::SpaceGenerator& space) {
    return FirstPrograms{.zero_trial = DefaultCandidate(space)};
  };
  options_.run.budget.trials = 20;
  Session session(strategy::SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Status().estimated_tasks, 2);
  EXPECT_TRUE(std::isfinite(session.Status().total_seconds));
  std::vector<int> trials;
  session.Run({.on_trial = {}, .on_slot = [&](const SessionStatus& status) {
                 trials.push_back(status.tasks[status.task].trials());
               }});
  ASSERT_GE(trials.size(), 3u);
  EXPECT_EQ(trials[0], 1);
  EXPECT_EQ(trials[1], 1) << "the other task";
  EXPECT_GT(trials[2], 2);
  EXPECT_EQ(session.Status().estimated_tasks, 0);
  const std::optional<SessionState> state = SessionState::Parse(store_.RunOf(session.id()).state);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->estimates.size(), 2u);
}

TEST_F(SessionTest, ChoicesDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<uint64_t>> choices;
  options_.use_earlier_sessions = false;
  for (int threads : {1, 3}) {
    options_.threads = threads;
    cost::XgboostModel model;
    Session session(strategy::SimulatedTarget(), TwoTasks(), store_, &model, evaluator_, options_);
    session.Run();
    choices.push_back(HashesOf(session.id()));
  }
  EXPECT_EQ(choices[0], choices[1]);
}

TEST_F(SessionTest, RefusesUnusableOptions) {
  auto make = [&](std::vector<TaskSpec> specs) {
    Session(strategy::SimulatedTarget(), std::move(specs), store_, nullptr, evaluator_, options_);
  };
  EXPECT_THROW(make({}), InputError);
  options_.strategy = "luck";
  EXPECT_THROW(make(OneTask()), InputError);
  options_ = QuickOptions();
  options_.run.scheduler = "fair";
  EXPECT_THROW(make(OneTask()), InputError);
  options_ = QuickOptions();
  options_.resume = 4711;
  EXPECT_THROW(make(OneTask()), InputError);
}

}  // namespace
}  // namespace bayloom::tuning
