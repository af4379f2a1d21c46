// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pretraining.h"

#include <gtest/gtest.h>

#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "tests/pretrain/pretending_evaluator.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

class PretrainingTest : public testing::Test {
 protected:
  static PoolOptions SmallPool() {
    return {.networks = {},
            .families = {"softmax", "dense"},
            .tasks_per_family = 2,
            .programs_per_task = 30,
            .threads = 1};
  }
  static PretrainingOptions Small() {
    PretrainingOptions options;
    options.pool = SmallPool();
    options.share = 0.5;
    options.learning.rounds = 3;
    return options;
  }
  int64_t Measured() {
    int64_t measured = 0;
    for (const PoolGroupSummary& group : SummarizePool(store_, pool_, target_)) {
      measured += group.measured;
    }
    return measured;
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "pool.db"};
  record::ProgramPool pool_{folder_ / "pool.db"};
  target::Target target_;
  PretendingEvaluator evaluator_;
};

TEST_F(PretrainingTest, FillsThePoolMeasuresItsShareAndTrains) {
  Pretraining pretraining(store_, pool_, target_, evaluator_, Small());
  int tasks = 0, rounds = 0;
  int64_t trials = 0;
  PretrainingObserver observer;
  observer.on_task = [&](const PoolStatus& status) {
    EXPECT_EQ(status.tasks, ++tasks);
    EXPECT_EQ(status.all_tasks, 4);
    EXPECT_EQ(status.programs, 30 * tasks);
  };
  observer.on_trial = [&](const PretrainingStatus& status) {
    EXPECT_EQ(status.measured, ++trials);
    EXPECT_EQ(status.budget, 60);
    EXPECT_EQ(status.round, rounds + 1);
  };
  observer.on_round = [&](const PretrainingStatus& status) { EXPECT_EQ(status.round, ++rounds); };
  EXPECT_EQ(pretraining.Run(observer), trial::StopReason::kTrials);
  EXPECT_EQ(tasks, 4);
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(trials, 60);
  EXPECT_EQ(pretraining.measured(), 60);
  EXPECT_TRUE(pretraining.model().fitted());
  const std::vector<PoolGroupSummary> groups = SummarizePool(store_, pool_, target_);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "dense");
  EXPECT_EQ(groups[0].tasks, 2);
  EXPECT_EQ(groups[0].programs, 60);
  EXPECT_EQ(Measured(), 60);
  EXPECT_TRUE(store_.Runs().back().finished);
}

TEST_F(PretrainingTest, ContinuesAfterAnInterruptionAndMeasuresNothingTwice) {
  PretrainingOptions options = Small();
  options.budget.stop = [this] { return evaluator_.evaluated >= 25; };
  Pretraining interrupted(store_, pool_, target_, evaluator_, options);
  EXPECT_EQ(interrupted.Run(), trial::StopReason::kStopped);
  EXPECT_EQ(Measured(), 25);
  Pretraining continued(store_, pool_, target_, evaluator_, Small());
  EXPECT_EQ(continued.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(evaluator_.evaluated, 60);
  EXPECT_EQ(Measured(), 60);
}

TEST_F(PretrainingTest, AnInterruptionWhileSamplingIsNoEndOfThePool) {
  int asked = 0;
  EXPECT_FALSE(FillPool(store_, pool_, target_, SmallPool(), [&] { return ++asked > 4; }));
  EXPECT_TRUE(FillPool(store_, pool_, target_, SmallPool(), [] { return false; }));
  for (const PoolGroupSummary& group : SummarizePool(store_, pool_, target_)) {
    EXPECT_EQ(group.programs, 60) << group.name;
  }
}

TEST_F(PretrainingTest, TrainsOnWhatIsMeasuredWhenTimeIsUp) {
  PretrainingOptions options = Small();
  options.budget.seconds = 20;
  options.budget.clock = [this] { return static_cast<double>(evaluator_.evaluated); };
  Pretraining pretraining(store_, pool_, target_, evaluator_, options);
  EXPECT_EQ(pretraining.Run(), trial::StopReason::kTime);
  EXPECT_EQ(pretraining.measured(), 20);
  EXPECT_TRUE(pretraining.model().fitted());
}

TEST_F(PretrainingTest, UsesAPoolAsItIs) {
  FillPool(store_, pool_, target_, SmallPool(), [] { return false; });
  PretrainingOptions options = Small();
  options.pool = std::nullopt;
  options.budget.trials = 1000;
  Pretraining pretraining(store_, pool_, target_, evaluator_, options);
  EXPECT_EQ(pretraining.Run(), trial::StopReason::kExhausted);
  EXPECT_EQ(pretraining.measured(), 120);
}

TEST_F(PretrainingTest, RefusesWhatCannotBeLearntFrom) {
  PretrainingOptions options = Small();
  options.pool = std::nullopt;
  EXPECT_THROW(Pretraining(store_, pool_, target_, evaluator_, options).Run(), InputError);
  options.pool = PoolOptions{};
  EXPECT_THROW(Pretraining(store_, pool_, target_, evaluator_, options).Run(), InputError);
  options = Small();
  options.budget.seconds = 0;
  EXPECT_THROW(Pretraining(store_, pool_, target_, evaluator_, options).Run(), InputError);
  evaluator_.is_broken = true;
  EXPECT_THROW(Pretraining(store_, pool_, target_, evaluator_, Small()).Run(), SystemError);
}

}  // namespace
}  // namespace bayloom::pretrain
