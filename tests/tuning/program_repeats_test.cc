// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_repeats.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tune.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// What the machine takes without any noise.
double Truth(const sketch::Candidate& candidate) {
  return strategy::SimulatedMachine::Run(candidate.program);
}

/// The simulated machine, where the first measurement of every program is up to 4 % wrong by luck.
class LuckyEvaluator : public SimulatedEvaluator {
 public:
  std::vector<uint64_t> order;  ///< hashes of what was measured
  std::function<void()> before_collect = [] {};
  double measure_seconds = 0;  ///< that every measurement says it took

  LuckyEvaluator() {
    before_report = [this](const sketch::Candidate& candidate, const trial::Outcome&) {
      order.push_back(candidate.hash);
    };
  }
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    before_collect();
    std::vector<trial::FinishedTrial> finished = SimulatedEvaluator::Collect(wait_seconds, stop);
    if (finished.empty() || !measured_.insert(order.back()).second) return finished;
    const uint64_t luck = base::Hasher().Add(order.back()).Digest() % 1000;
    finished[0].outcome->value *= 0.96 + 8e-5 * static_cast<double>(luck);
    finished[0].outcome->Set("measure_seconds", measure_seconds);
    return finished;
  }

 private:
  std::set<uint64_t> measured_;
};

class ProgramRepeatsTest : public ::testing::Test {
 protected:
  ProgramRepeatsTest() {
    options_.run.budget.trials = 60;
    options_.strategy = "random";
    options_.repeat = {.candidates = 5, .rounds = 3};
  }
  Tuning Begin() {
    return Tuning({.name = "two", .specs = TwoTasks()}, strategy::SimulatedTarget(), *store_,
                  evaluator_, options_);
  }
  std::vector<record::Repeat> Comparison(const TuningTask& task) {
    return store_->LastComparison(task.id(), *store_->FindTarget(strategy::SimulatedTarget()));
  }
  /// Tasks that were compared.
  std::set<record::TaskId> Compared(record::RunId run) {
    std::set<record::TaskId> tasks;
    for (const record::Repeat& repeat : store_->RepeatsOf(run)) tasks.insert(repeat.task);
    return tasks;
  }

  TemporaryFolder folder_;
  std::unique_ptr<record::Store> store_ = std::make_unique<record::Store>(folder_ / "a.db");
  LuckyEvaluator evaluator_;
  TuneOptions options_;
};

TEST_F(ProgramRepeatsTest, TheFastestFinalistIsChosenNotTheLuckiest) {
  int lucky = 0;
  options_.run.budget.trials = 200;
  for (options_.run.seed = 0; options_.run.seed < 3; ++options_.run.seed) {
    store_ = std::make_unique<record::Store>(folder_ / fmt::format("{}.db", options_.run.seed));
    Tuning tuning = Begin();
    EXPECT_EQ(tuning.Run(), trial::StopReason::kTrials);
    for (const auto& task : tuning.session().tasks()) {
      std::map<int64_t, double> truths;
      double fastest = INFINITY;
      for (const record::Repeat& repeat : Comparison(*task)) {
        if (repeat.trial_run == 0) continue;
        const record::StoredTrial trial = store_->TrialsOfRun(repeat.trial_run)[repeat.trial];
        truths[trial.ordinal] = Truth(*RestoreCandidate(task->space(), trial));
        fastest = std::min(fastest, truths[trial.ordinal]);
      }
      const MeasuredCandidate chosen = *RestoreBest(*store_, task->space());
      EXPECT_EQ(Truth(chosen.candidate), fastest);
      if (truths.size() > 1) lucky += task->best()->candidate.hash != chosen.candidate.hash;
    }
  }
  EXPECT_GE(lucky, 1) << "luck never decided, so nothing was tested";
}

TEST_F(ProgramRepeatsTest, MeasuresInTurnsTheDefaultProgramOnce) {
  Tuning tuning = Begin();
  tuning.Run();
  EXPECT_EQ(tuning.session().Status().trials, 60);
  EXPECT_EQ(store_->CountTrials(tuning.session().id()), 60);
  size_t next = 60;
  std::vector<const TuningTask*> tasks;
  for (const auto& task : tuning.session().tasks()) tasks.push_back(task.get());
  std::ranges::sort(tasks, std::ranges::greater(), [](const TuningTask* task) {
    return task->weight() * task->best()->outcome.value;
  });
  for (const TuningTask* task : tasks) {
    std::map<int, std::set<std::pair<record::RunId, int64_t>>> rounds;
    for (const record::Repeat& repeat : Comparison(*task)) {
      rounds[repeat.round].insert({repeat.trial_run, repeat.trial});
    }
    const auto untuned = std::pair<record::RunId, int64_t>(0, 0);
    ASSERT_TRUE(rounds[0].contains(untuned));
    const size_t candidates = rounds[0].size() - 1;
    EXPECT_EQ(rounds.size(), candidates == 1 ? 1u : 3u);
    const auto first = evaluator_.order.begin() + static_cast<int64_t>(next);
    const std::vector<uint64_t> order(first, first + static_cast<int64_t>(candidates));
    EXPECT_EQ(
        first[static_cast<int64_t>(candidates)],
        sketch::DefaultSchedule(task->space().workload(), task->space().target()).StructuralHash());
    next += candidates + 1;
    for (int round = 1; round < static_cast<int>(rounds.size()); ++round) {
      EXPECT_EQ(rounds[round].size(), candidates);
      for (const uint64_t hash : order) EXPECT_EQ(evaluator_.order[next++], hash);
    }
  }
  EXPECT_EQ(next, evaluator_.order.size());
}

TEST_F(ProgramRepeatsTest, IsStoppedAndResumedBetweenTasks) {
  bool stop = false;
  options_.run.budget.stop = [&] { return stop; };
  record::RunId session = 0;
  {
    Tuning tuning = Begin();
    session = tuning.session().id();
    std::vector<int> done;
    EXPECT_EQ(tuning.Run({.on_repeat =
                              [&](const run::RepeatStatus& status) {
                                EXPECT_EQ(status.all, 2);
                                done.push_back(status.done);
                                stop = status.done == 1;
                              }}),
              trial::StopReason::kStopped);
    EXPECT_EQ(done, (std::vector<int>{0, 1}));
    EXPECT_FALSE(store_->RunOf(session).finished);
    EXPECT_EQ(Compared(session).size(), 1u);
  }
  stop = false;
  options_.resume = true;
  const int before = evaluator_.candidates;
  Tuning tuning = Begin();
  std::vector<int> tasks;
  EXPECT_EQ(tuning.Run({.on_repeat = [&](const run::RepeatStatus& s) { tasks.push_back(s.all); }}),
            trial::StopReason::kTrials);
  EXPECT_EQ(tasks, (std::vector<int>{1, 1})) << "what is compared is not compared again";
  EXPECT_GT(evaluator_.candidates, before);
  EXPECT_EQ(Compared(session).size(), 2u);
  EXPECT_TRUE(store_->RunOf(session).finished);
  EXPECT_EQ(store_->CountTrials(session), 60);
}

TEST_F(ProgramRepeatsTest, ATuningThatIsStoppedMeasuresNothingAgain) {
  bool stop = false;
  options_.run.budget.stop = [&] { return stop; };
  evaluator_.before_collect = [&] { stop = evaluator_.candidates == 30; };
  Tuning tuning = Begin();
  EXPECT_EQ(tuning.Run(), trial::StopReason::kStopped);
  EXPECT_TRUE(store_->RepeatsOf(tuning.session().id()).empty());
}

TEST_F(ProgramRepeatsTest, TheTasksThatTakeMostOfTheTimeComeFirstWhereTimeIsShort) {
  evaluator_.measure_seconds = 0.25;
  options_.repeat.candidates = 0;
  Tuning tuning = Begin();
  tuning.Run();
  EXPECT_TRUE(store_->RepeatsOf(tuning.session().id()).empty());
  const auto& tasks = tuning.session().tasks();
  const auto importance = [](const TuningTask& task) {
    return task.weight() * task.best()->outcome.value;
  };
  const TuningTask& first = importance(*tasks[0]) > importance(*tasks[1]) ? *tasks[0] : *tasks[1];
  // The least is to measure the best and the default program once, for half the time of a trial.
  for (const auto& [seconds, compared] : std::map<double, size_t>{{0.2, 0}, {0.3, 1}, {60, 2}}) {
    ProgramRepeats repeats(*store_, tuning.session(), evaluator_, {.candidates = 5}, seconds);
    repeats.Run({});
    EXPECT_EQ(Compared(tuning.session().id()).size(), compared) << seconds;
    if (compared == 1) {
      EXPECT_EQ(*Compared(tuning.session().id()).begin(), first.id());
    }
  }
}

TEST_F(ProgramRepeatsTest, TimeForItIsTakenFromTheTimeOfTheTuning) {
  double now = 0;
  options_.run.budget = {.seconds = 100, .clock = [&] { return now; }};
  evaluator_.before_collect = [&] { now += 1; };
  Tuning tuning = Begin();
  EXPECT_EQ(tuning.Run(), trial::StopReason::kTime);
  EXPECT_EQ(tuning.session().Status().trials, 95);
  EXPECT_LE(now, 100);
  EXPECT_GT(now, 95);
}

TEST_F(ProgramRepeatsTest, TheGainIsOverTheDefaultPrograms) {
  Tuning tuning = Begin();
  tuning.Run();
  double untuned = 0, tuned = 0;
  for (const auto& task : tuning.session().tasks()) {
    const tensor::Program plain =
        sketch::DefaultSchedule(task->space().workload(), task->space().target());
    untuned += task->weight() * strategy::SimulatedMachine::Run(plain);
    tuned += task->weight() * Truth(RestoreBest(*store_, task->space())->candidate);
  }
  const TuningGain gain = tuning.Gain();
  EXPECT_EQ(gain.compared_tasks, 2);
  EXPECT_NEAR(gain.default_seconds / untuned, 1, 0.05);
  EXPECT_NEAR(gain.compared_seconds / tuned, 1, 0.05);
  EXPECT_NEAR(gain.total_seconds / tuned, 1, 0.05);
  EXPECT_EQ(gain.seconds.size(), 2u);
  EXPECT_FALSE(gain.roofline_share) << "nothing is known of the simulated machine";
}

}  // namespace
}  // namespace bayloom::tuning
