// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/run/scheduled_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/run/failure_watch.h"
#include "bayloom/trial/inline_evaluator.h"
#include "tests/trial/list_store.h"

namespace bayloom::run {
namespace {

using testing::ElementsAre;

/// Holds trials until told to finish them, in the reverse order of their submission.
class HeldEvaluator final : public trial::Evaluator<int> {
 public:
  explicit HeldEvaluator(int capacity) : capacity_(capacity) {}

  int Capacity() const override { return capacity_; }
  void Submit(trial::TrialId id, const int& candidate) override {
    held_.emplace_back(id, &candidate);
    max_held_ = std::max(max_held_, std::ssize(held_));
    ++attempts_[candidate];
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    if (fails_) throw InputError("the evaluator cannot work");
    std::vector<trial::FinishedTrial> finished;
    if (held_.empty()) return finished;
    const auto [id, candidate] = held_.back();
    held_.pop_back();
    trial::FinishedTrial& trial = finished.emplace_back();
    trial.id = id;
    if (lose_(*candidate, attempts_[*candidate])) {
      trial.lost = "no worker";
    } else {
      trial.outcome = trial::Outcome::Feasible(100 - *candidate);
    }
    return finished;
  }
  void Cancel() override {
    held_.clear();
    ++cancelled_;
  }

  int capacity_;
  bool fails_ = false;
  std::function<bool(int candidate, int attempt)> lose_ = [](int, int) { return false; };
  std::vector<std::pair<trial::TrialId, const int*>> held_;
  int64_t max_held_ = 0;
  int cancelled_ = 0;
  std::map<int, int> attempts_;
};

/// Proposes 0, 1, 2, ... up to a number.
class CountingTask final : public RunTask<int> {
 public:
  CountingTask(trial::Evaluator<int>& evaluator, int count)
      : evaluator_(evaluator), count_(count) {}

  std::vector<int> Propose(int n, const std::function<bool()>&) override {
    std::vector<int> proposed;
    while (std::ssize(proposed) < n && next < count_) proposed.push_back(next++);
    return proposed;
  }
  trial::Evaluator<int>& evaluator() override { return evaluator_; }
  TrialValue Tell(int&& candidate, const trial::Outcome& outcome, double) override {
    if (on_tell) on_tell(candidate);
    told.push_back(candidate);
    return {.cost = outcome.ok() ? outcome.value : std::numeric_limits<double>::infinity(),
            .seconds = seconds_a_trial,
            .feasible = outcome.ok()};
  }
  void EndSlot(bool) override { slots.push_back(std::ssize(told)); }
  bool HasConverged() const override {
    return converges_after > 0 && std::ssize(told) >= converges_after;
  }
  trial::TrialStore* store() override { return kept; }
  trial::TrialRecord RecordOf(const int& candidate) override {
    trial::TrialRecord record;
    record.candidate = std::to_string(candidate);
    return record;
  }

  int next = 0;
  std::vector<int> told;
  std::vector<int64_t> slots;
  int64_t converges_after = 0;
  double seconds_a_trial = 0;
  trial::TrialStore* kept = nullptr;
  std::function<void(int)> on_tell;

 private:
  trial::Evaluator<int>& evaluator_;
  int count_;
};

RunOptions Options(int64_t trials, int64_t slot = 0) {
  RunOptions options;
  options.budget.trials = trials;
  options.scheduler = "round-robin";
  options.trials_per_slot = slot;
  options.retry_seconds = 0.01;
  return options;
}

TEST(ScheduledRun, TellsOfEveryTrialOnceInWhateverOrderTheyEnd) {
  HeldEvaluator evaluator(4);
  CountingTask task(evaluator, 10);
  ScheduledRun<int> run(Options(trial::Budget::kUnlimited));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kExhausted);
  EXPECT_EQ(evaluator.max_held_, 4);
  std::vector<int> all(10);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_THAT(task.told, testing::UnorderedElementsAreArray(all));
  EXPECT_EQ(task.told.front(), 3);
  EXPECT_EQ(run.Status().trials, 10);
  EXPECT_EQ(run.state().tasks()[0].best(), 91);
}

TEST(ScheduledRun, RecordsBeforeItTells) {
  HeldEvaluator evaluator(3);
  CountingTask task(evaluator, 7);
  trial::ListStore store;
  task.kept = &store;
  task.on_tell = [&](int candidate) {
    ASSERT_EQ(store.trials.size(), task.told.size() + 1);
    EXPECT_EQ(store.trials.back().candidate, std::to_string(candidate));
    EXPECT_EQ(store.trials.back().outcome.value, 100 - candidate);
  };
  ScheduledRun<int> run(Options(trial::Budget::kUnlimited));
  run.AddTask(task, {});
  run.Run();
  EXPECT_EQ(store.trials.size(), 7u);
}

TEST(ScheduledRun, GivesSlotsInTurnsAndKeepsToTheBudget) {
  HeldEvaluator evaluator(4);
  CountingTask a(evaluator, 100), b(evaluator, 100);
  ScheduledRun<int> run(Options(20, 8));
  run.AddTask(a, {.name = "a"});
  run.AddTask(b, {.name = "b"}, /*max_trials=*/5);
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(run.Status().trials, 20);
  EXPECT_EQ(b.told.size(), 5u);
  EXPECT_THAT(run.state().slots(), ElementsAre(0, 1, 0));
  EXPECT_THAT(a.slots, ElementsAre(8, 15));
}

TEST(ScheduledRun, TriesALostTrialAgainAndDoesNotLearnFromTheLoss) {
  HeldEvaluator evaluator(2);
  evaluator.lose_ = [](int candidate, int attempt) { return candidate == 1 && attempt < 3; };
  CountingTask task(evaluator, 4);
  ScheduledRun<int> run(Options(trial::Budget::kUnlimited));
  run.AddTask(task, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kExhausted);
  EXPECT_EQ(evaluator.attempts_[1], 3);
  EXPECT_EQ(std::set<int>(task.told.begin(), task.told.end()), (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(run.Status().trials, 4);
}

TEST(ScheduledRun, PausesBeforeALostTrialIsTriedAgain) {
  HeldEvaluator evaluator(2);
  evaluator.lose_ = [](int candidate, int attempt) { return candidate == 1 && attempt < 3; };
  CountingTask task(evaluator, 6);
  RunOptions options = Options(trial::Budget::kUnlimited);
  options.retry_seconds = 0.1;
  ScheduledRun<int> run(options);
  run.AddTask(task, {});
  const double begun = base::MonotonicSeconds();
  EXPECT_EQ(run.Run(), trial::StopReason::kExhausted);
  EXPECT_GE(base::MonotonicSeconds() - begun, 0.3);  // once and twice as long
  EXPECT_EQ(task.told.back(), 1) << "the others go on meanwhile";
}

TEST(ScheduledRun, EndsWithTheReasonIfATrialIsLostAgainAndAgain) {
  HeldEvaluator evaluator(2);
  evaluator.lose_ = [](int candidate, int) { return candidate == 2; };
  CountingTask task(evaluator, 9);
  trial::ListStore store;
  task.kept = &store;
  ScheduledRun<int> run(Options(trial::Budget::kUnlimited));
  run.AddTask(task, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kLost);
  EXPECT_EQ(run.lost(), "no worker");
  EXPECT_EQ(evaluator.attempts_[2], ScheduledRun<int>::kMaxAttempts);
  EXPECT_EQ(store.trials.size(), task.told.size());
  EXPECT_TRUE(evaluator.held_.empty());
}

/// Fails with a reason for each candidate; an empty one: it has a value.
std::unique_ptr<trial::Evaluator<int>> FailingEvaluator(
    std::function<std::string(int candidate)> reason) {
  return std::make_unique<trial::InlineEvaluator<int>>(
      [reason = std::move(reason)](const int& candidate) {
        const std::string text = reason(candidate);
        return text.empty() ? trial::Outcome::Feasible(candidate)
                            : trial::Outcome::Infeasible(trial::Verdict::kCrash, text);
      });
}

/// How a run of 40 trials ends, and after how many.
std::pair<trial::StopReason, int64_t> EndOf(std::function<std::string(int candidate)> reason,
                                            int64_t earlier = 0, int64_t failures_alike = 12) {
  const auto evaluator = FailingEvaluator(std::move(reason));
  CountingTask task(*evaluator, 100);
  RunOptions options = Options(40);
  options.failures_alike = failures_alike;
  ScheduledRun<int> run(options);
  const int index = run.AddTask(task, {});
  for (int64_t i = 0; i < earlier; ++i) run.Restore(index, {});
  const trial::StopReason end = run.Run();
  return {end, run.Status().trials};
}

TEST(ScheduledRun, EndsWhenItsFirstTrialsAllFailAlike) {
  using trial::StopReason;
  const auto alike = [](int candidate) { return "exit code 1 after " + std::to_string(candidate); };
  EXPECT_EQ(EndOf(alike), std::pair(StopReason::kLost, int64_t{12}));
  EXPECT_EQ(EndOf(alike, 12), std::pair(StopReason::kTrials, int64_t{40}));
  EXPECT_EQ(EndOf(alike, 5), std::pair(StopReason::kTrials, int64_t{40}));
  EXPECT_EQ(EndOf(alike, 0, 0), std::pair(StopReason::kTrials, int64_t{40}));
  EXPECT_EQ(EndOf(alike, 0, 40), std::pair(StopReason::kTrials, int64_t{40}));
  for (const int other : {0, 6, 11}) {
    EXPECT_EQ(EndOf([&](int c) { return c == other ? "" : alike(c); }).second, 40);
    EXPECT_EQ(EndOf([&](int c) { return c == other ? "killed" : alike(c); }).second, 40);
  }
}

TEST(FailureWatch, WhatTheEvaluatorSaysOfACandidateIsNoFailureOfIts) {
  trial::Outcome outcome = trial::Outcome::Infeasible(trial::Verdict::kInvalidAnswer, "too large");
  for (const bool is_told : {true, false}) {
    outcome.is_told = is_told;
    FailureWatch watch(12);
    for (int i = 0; i < 12; ++i) watch.Look(outcome);
    EXPECT_EQ(watch.Fired(), !is_told);
  }
}

TEST(ScheduledRun, AStopEndsWhatIsUnderWay) {
  HeldEvaluator evaluator(4);
  CountingTask task(evaluator, 100);
  bool stop = false;
  task.on_tell = [&](int) { stop = task.told.size() == 5; };
  RunOptions options = Options(trial::Budget::kUnlimited);
  options.budget.stop = [&] { return stop; };
  ScheduledRun<int> run(options);
  run.AddTask(task, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kStopped);
  EXPECT_EQ(task.told.size(), 6u);
  EXPECT_EQ(evaluator.cancelled_, 1);
  EXPECT_TRUE(evaluator.held_.empty());
  EXPECT_THAT(task.slots, ElementsAre(6)) << "what was tried is learnt from";
  stop = false;
  task.on_tell = nullptr;
  EXPECT_EQ(run.Run(), trial::StopReason::kExhausted) << "it can go on";
}

TEST(ScheduledRun, AnEvaluatorThatCannotWorkLeavesNothingRunning) {
  HeldEvaluator evaluator(4);
  evaluator.fails_ = true;
  CountingTask task(evaluator, 100);
  ScheduledRun<int> run(Options(10));
  run.AddTask(task, {});
  EXPECT_THROW(run.Run(), InputError);
  EXPECT_EQ(evaluator.cancelled_, 1);
}

TEST(ScheduledRun, EndsWhenTheTimeIsUpWithThatOfBeforeCounted) {
  double now = 0;
  trial::InlineEvaluator<int> evaluator([&](int candidate) {
    now += 1;
    return trial::Outcome::Feasible(100 - candidate);
  });
  CountingTask task(evaluator, 1000);
  RunOptions options = Options(trial::Budget::kUnlimited, 4);
  options.budget.clock = [&] { return now; };
  options.budget.seconds = 30;
  options.earlier_seconds = 20;
  ScheduledRun<int> run(options);
  run.AddTask(task, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kTime);
  EXPECT_EQ(task.told.size(), 10u);
}

TEST(ScheduledRun, ATaskThatHasConvergedGetsNoMoreTrials) {
  HeldEvaluator evaluator(1);
  CountingTask a(evaluator, 100), b(evaluator, 6);
  a.converges_after = 5;
  ScheduledRun<int> run(Options(trial::Budget::kUnlimited, 2));
  run.AddTask(a, {});
  run.AddTask(b, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kConverged);
  EXPECT_EQ(a.told.size(), 5u);
  EXPECT_EQ(b.told.size(), 6u);
}

TEST(ScheduledRun, CountsWhatWasBefore) {
  HeldEvaluator evaluator(1);
  CountingTask task(evaluator, 100);
  ScheduledRun<int> run(Options(10, 4));
  const int index = run.AddTask(task, {});
  for (int i = 0; i < 7; ++i)
    run.Restore(index, {.cost = 50.0 - i, .seconds = 0, .feasible = true});
  run.RestoreSlotEnd(index);
  EXPECT_EQ(run.state().tasks()[0].best(), 44);
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(task.told.size(), 3u);
  EXPECT_EQ(run.Status().feasible_trials, 10);
}

/// Three tasks whose candidates n cost 100 - n; the third does the work of the first two, which
/// cost about 200 together.
struct AlternativeRun {
  explicit AlternativeRun(int first_of_third) {
    third.next = first_of_third;
    run.AddTask(first, {.name = "first"});
    run.AddTask(second, {.name = "second"});
    run.AddTask(third, {.name = "third", .weight = 0});
    run.SetAlternatives({{.together = 2, .apart = {0, 1}}});
  }

  HeldEvaluator evaluator{1};
  CountingTask first{evaluator, 99}, second{evaluator, 99}, third{evaluator, 99};
  ScheduledRun<int> run{Options(40, /*slot=*/2)};
};

TEST(ScheduledRun, ATaskThatCannotTakeTheOthersPlaceGetsNoMoreTrials) {
  AlternativeRun alternative(-200);
  EXPECT_EQ(alternative.run.Run(), trial::StopReason::kTrials);
  // It costs about 300: more than three halves of the others after its third slot.
  EXPECT_EQ(alternative.third.told.size(), 6u);
  const auto tasks = alternative.run.state().tasks();
  EXPECT_EQ(tasks[0].weight, 1);
  EXPECT_EQ(tasks[2].weight, 0);
  EXPECT_TRUE(tasks[2].finished);
  EXPECT_FALSE(tasks[0].finished);
}

TEST(ScheduledRun, TasksWhosePlaceIsTakenGetNoMoreTrials) {
  AlternativeRun alternative(0);
  EXPECT_EQ(alternative.run.Run(), trial::StopReason::kTrials);
  const auto tasks = alternative.run.state().tasks();
  EXPECT_EQ(tasks[0].weight, 0);
  EXPECT_EQ(tasks[2].weight, 1);
  EXPECT_LE(alternative.first.told.size(), 4u);
  EXPECT_LE(alternative.second.told.size(), 4u);
  EXPECT_GE(alternative.third.told.size(), 32u);
}

TEST(ScheduledRun, EndsWhenLittleMoreIsExpected) {
  HeldEvaluator evaluator(1);
  double now = 1;
  const auto trials_until = [&](double gain_per_minute) {
    CountingTask task(evaluator, 100);
    task.seconds_a_trial = 1;
    task.on_tell = [&](int) { now += 1; };
    RunOptions options = Options(90, 10);
    options.budget.clock = [&] { return now; };
    options.until_gain_per_minute = gain_per_minute;
    ScheduledRun<int> run(options);
    run.AddTask(task, {.name = "falls from 100 by 1"});
    const trial::StopReason reason = run.Run();
    EXPECT_EQ(reason,
              gain_per_minute > 0.9 ? trial::StopReason::kGain : trial::StopReason::kTrials);
    EXPECT_TRUE(run.GainPerMinute().has_value());
    return task.told.size();
  };
  EXPECT_EQ(trials_until(0), 90);
  EXPECT_EQ(trials_until(1e-6), 90);
  EXPECT_EQ(trials_until(0.99), 10);  // as soon as anything can be said
}

}  // namespace
}  // namespace bayloom::run
