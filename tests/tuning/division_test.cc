// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/division.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tune.h"
#include "bayloom/tuning/tuned_network.h"
#include "tests/graph/separable_blocks.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// The simulated machine, where chains take `factor` times as long.
class ChainEvaluator final : public SimulatedEvaluator {
 public:
  explicit ChainEvaluator(double factor) : factor_(factor) {
    before_report = [this](const sketch::Candidate& candidate, const trial::Outcome&) {
      is_chain_ =
          candidate.program.FindBlock("depthwise") >= 0 && candidate.program.FindBlock("conv") >= 0;
    };
  }
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    std::vector<trial::FinishedTrial> finished = SimulatedEvaluator::Collect(wait_seconds, stop);
    for (trial::FinishedTrial& trial : finished) {
      if (is_chain_ && trial.outcome->ok()) trial.outcome->value *= factor_;
    }
    return finished;
  }

 private:
  double factor_;
  bool is_chain_ = false;
};

/// A machine whose caches hold nothing.
target::Target SmallCaches() {
  target::Target target = strategy::SimulatedTarget();
  target.l2_bytes = 64;
  return target;
}

class DivisionTest : public ::testing::Test {
 protected:
  Tuning Begin(double factor, std::optional<std::string> divisions = {}, bool resume = false) {
    evaluator_.emplace(factor);
    TuneOptions options;
    options.run.budget.trials = trials_;
    options.strategy = "random";
    options.divisions = std::move(divisions);
    options.resume = resume;
    options.repeat = {.candidates = 2, .rounds = 1};
    return Tuning(NetworkSubject("net", network_), SmallCaches(), *store_, *evaluator_, options);
  }
  TunedNetwork Choose(Divisions divisions = Divisions::kAll) {
    return TunedNetwork::Choose(network_, SmallCaches(),
                                {.store = store_.get(),
                                 .zero_trials = {.population = 24, .generations = 1},
                                 .divisions = divisions,
                                 .threads = 2});
  }

  const graph::TaskGraph network_ = graph::ExtractTasks(
      graph::MakeSeparableBlocks({.blocks = 2, .height = 12, .width = 12, .channels = 16}));
  TemporaryFolder folder_;
  std::unique_ptr<record::Store> store_ = std::make_unique<record::Store>(folder_ / "a.db");
  std::optional<ChainEvaluator> evaluator_;
  int64_t trials_ = 90;
};

TEST_F(DivisionTest, MayPayWhereCachesDoNotHoldWhatIsBetween) {
  target::Target target;
  target.l2_bytes = 1 << 20;
  target.cores = 2;
  EXPECT_FALSE(MayPay(1 << 20, Divisions::kAll, target));
  EXPECT_TRUE(MayPay((1 << 20) + 4, Divisions::kAll, target));
  EXPECT_FALSE(MayPay(1 << 30, Divisions::kNone, target));
  target.triple = "nvptx64-nvidia-cuda";
  EXPECT_FALSE(MayPay(1 << 30, Divisions::kAll, target));
}

TEST_F(DivisionTest, TheFasterDivisionIsTaken) {
  for (const double factor : {0.01, 100.0}) {
    SCOPED_TRACE(factor);
    Tuning tuning = Begin(factor);
    ASSERT_EQ(tuning.session().tasks().size(), 3u);
    tuning.Run();
    const TuningGain gain = tuning.Gain();
    ASSERT_EQ(gain.regions.size(), 1u);
    EXPECT_EQ(gain.regions[0].count, 2) << "both blocks are alike";
    EXPECT_EQ(gain.regions[0].is_together, factor < 1);
    EXPECT_EQ(gain.weights,
              factor < 1 ? (std::vector<double>{0, 0, 2}) : (std::vector<double>{2, 2, 0}));
    double total = 0;
    for (size_t i = 0; i < gain.seconds.size(); ++i) total += gain.weights[i] * gain.seconds[i];
    EXPECT_DOUBLE_EQ(gain.total_seconds, total);

    const TunedNetwork tuned = Choose();
    EXPECT_EQ(tuned.network.calls.size(), factor < 1 ? 2u : 4u);
    EXPECT_EQ(tuned.chosen.size(), tuned.network.tasks.size());
    ASSERT_EQ(tuned.regions.size(), 1u);
    EXPECT_TRUE(tuned.regions[0].is_measured);
    EXPECT_EQ(tuned.regions[0].count, 2);
    double seconds = 0;
    for (size_t task = 0; task < tuned.chosen.size(); ++task) {
      ASSERT_TRUE(tuned.chosen[task].measured);
      seconds += tuned.network.tasks[task].weight * tuned.chosen[task].measured->value;
    }
    EXPECT_DOUBLE_EQ(seconds, gain.total_seconds) << "what tuning says is what is used";
    store_ = std::make_unique<record::Store>(folder_ / "b.db");
  }
}

TEST_F(DivisionTest, TheSlowerOneGetsFewTrials) {
  Tuning tuning = Begin(100);
  tuning.Run();
  const auto tasks = tuning.session().Status().tasks;
  EXPECT_GT(tasks[2].trials(), 0);
  EXPECT_LE(tasks[2].slots(), 2);
  EXPECT_TRUE(tasks[2].finished);
}

TEST_F(DivisionTest, WithoutAChoiceThereAreTheTasksApartOnly) {
  Tuning tuning = Begin(0.01, "none");
  EXPECT_EQ(tuning.session().tasks().size(), 2u);
  tuning.Run();
  EXPECT_TRUE(tuning.Gain().regions.empty());
  EXPECT_TRUE(Choose(Divisions::kNone).regions.empty());
}

/// Of a database of before, whose tasks together were never tried, nothing is given up.
TEST_F(DivisionTest, WhatWasMeasuredIsPreferred) {
  Begin(0.01, "none").Run();
  const TunedNetwork tuned = Choose();
  EXPECT_EQ(tuned.TunedTasks(), 2);
  ASSERT_EQ(tuned.regions.size(), 1u);
  EXPECT_FALSE(tuned.regions[0].is_together);
}

TEST_F(DivisionTest, BeforeAnyTrialTheEstimateDecides) {
  const TunedNetwork tuned = Choose();
  EXPECT_EQ(tuned.TunedTasks(), 0);
  ASSERT_EQ(tuned.regions.size(), 1u);
  const DividedRegion& region = tuned.regions[0];
  EXPECT_FALSE(region.is_measured);
  EXPECT_EQ(region.is_together, region.together_seconds < region.apart_seconds);
  EXPECT_EQ(tuned.network.calls.size(), region.is_together ? 2u : 4u);
}

TEST_F(DivisionTest, AResumedSessionDividesAsBefore) {
  trials_ = 48;
  Tuning first = Begin(0.01);
  first.Run();
  const std::vector<double> weights = first.Gain().weights;
  trials_ = 72;
  EXPECT_THROW(Begin(0.01, "none", /*resume=*/true), InputError);
  Tuning resumed = Begin(0.01, {}, /*resume=*/true);
  EXPECT_TRUE(resumed.resumed());
  const SessionStatus status = resumed.session().Status();
  EXPECT_EQ(status.trials, 48);
  for (size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(status.tasks[i].weight, weights[i]);
  resumed.Run();
  EXPECT_EQ(resumed.session().Status().trials, 72);
}

/// A session of a version that knew no other division.
TEST_F(DivisionTest, AnEarlierSessionGoesOnWithoutAChoice) {
  trials_ = 24;
  Begin(0.01, "none").Run();
  Tuning resumed = Begin(0.01, {}, /*resume=*/true);
  EXPECT_TRUE(resumed.resumed());
  EXPECT_EQ(resumed.session().tasks().size(), 2u);
}

}  // namespace
}  // namespace bayloom::tuning
