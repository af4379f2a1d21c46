// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tuning_subject.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "tests/graph/separable_blocks.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// What the simulated machine shows when it is not alone.
struct Disturbance {
  double noise = 0;     ///< deviation of a time's logarithm
  double drift = 0;     ///< how much slower all becomes, a second
  double hiccups = 0;   ///< the part of the times that are three times as long
  double together = 1;  ///< factor of whole runs with other than the first programs
  uint64_t seed = 1;
};

/// A network on the simulated machine, with a clock of its own.
class SimulatedRunner final : public TurnRunner {
 public:
  SimulatedRunner(const graph::TaskGraph& network,
                  std::vector<std::vector<const tensor::Program*>> programs,
                  const Disturbance& disturbance, double& now)
      : network_(network),
        used_(programs.size()),
        disturbance_(disturbance),
        random_(disturbance.seed),
        now_(now) {
    for (const auto& of_task : programs) {
      std::vector<double>& truths = truths_.emplace_back();
      for (const tensor::Program* program : of_task) {
        truths.push_back(1e4 * strategy::SimulatedMachine::Run(*program));
      }
    }
  }
  void Use(int task, int program) override { used_[task] = program; }
  void Run(std::vector<double>* seconds) override {
    bool is_first = true;
    for (const int program : used_) is_first = is_first && program == 0;
    for (size_t c = 0; c < network_.calls.size(); ++c) {
      const int task = network_.calls[c].task;
      double took = truths_[task][used_[task]] * std::exp(disturbance_.noise * random_.Normal());
      took *= 1 + disturbance_.drift * now_;
      if (random_.Uniform() < disturbance_.hiccups) took *= 3;
      if (!is_first && seconds == nullptr) took *= disturbance_.together;
      now_ += took;
      if (seconds != nullptr) (*seconds)[c] += took;
    }
  }
  double Now() override { return now_; }

 private:
  const graph::TaskGraph& network_;
  std::vector<int> used_;
  std::vector<std::vector<double>> truths_;
  Disturbance disturbance_;
  base::RandomStream random_;
  double& now_;
};

class NetworkTurnsTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin("a.db"); }
  void Begin(const std::string& name) {
    session_.reset();
    store_ = std::make_unique<record::Store>(folder_ / name);
    SessionOptions options = QuickOptions();
    options.strategy = "random";
    options.run.budget.trials = 80;
    options.first = [](const sketch::SpaceGenerator& space) {
      return FirstPrograms{.zero_trial = DefaultCandidate(space)};
    };
    session_ = std::make_unique<Session>(target_, SpecsOf(network_), *store_, nullptr, evaluator_,
                                         std::move(options));
    session_->Run();
    tuned_ = Choose();
  }
  TunedNetwork Choose() {
    return TunedNetwork::Choose(
        network_, target_,
        {.store = store_.get(), .zero_trials = {.population = 0}, .divisions = Divisions::kNone});
  }
  double Total(const std::vector<const tensor::Program*>& programs) {
    double total = 0;
    for (size_t i = 0; i < programs.size(); ++i) {
      total += network_.tasks[i].weight * strategy::SimulatedMachine::Run(*programs[i]);
    }
    return total;
  }
  double ZeroTrialTotal() {
    std::vector<const tensor::Program*> programs;
    for (const auto& task : session_->tasks()) programs.push_back(&task->zero_trial()->program);
    return Total(programs);
  }
  trial::StopReason Turn(const Disturbance& disturbance, double seconds = 200) {
    double now = 0;
    NetworkTurns::Options options;
    options.budget = {.seconds = seconds, .stop = stop_, .clock = [&] { return now; }};
    NetworkTurns turns(*store_, *session_, tuned_, options);
    const trial::StopReason reason = turns.Run([&](const auto& programs) {
      return std::make_unique<SimulatedRunner>(tuned_.network, programs, disturbance, now);
    });
    gain_ = turns.gain();
    took_ = now;
    return reason;
  }

  const target::Target target_ = strategy::SimulatedTarget();
  const graph::TaskGraph network_ = graph::ExtractTasks(
      graph::MakeSeparableBlocks({.blocks = 2, .height = 12, .width = 12, .channels = 16}));
  TemporaryFolder folder_;
  std::unique_ptr<record::Store> store_;
  SimulatedEvaluator evaluator_;
  std::unique_ptr<Session> session_;
  TunedNetwork tuned_;
  std::function<bool()> stop_ = [] { return false; };
  std::optional<GainInTurns> gain_;
  double took_ = 0;
};

TEST_F(NetworkTurnsTest, TheFastestIsChosenWhereItIsClear) {
  const double before = ZeroTrialTotal();
  EXPECT_EQ(Turn({.noise = 0.01}), trial::StopReason::kTrials);
  const double after = Total(Choose().Programs());
  ASSERT_LT(after, 0.9 * before) << "there was nothing to gain";
  EXPECT_NEAR(after / Total(tuned_.Programs()), 1, 0.02);
  ASSERT_TRUE(gain_);
  EXPECT_TRUE(gain_->ratio.IsClear());
  EXPECT_NEAR(gain_->ratio.ratio / (before / after), 1, 0.02);
}

TEST_F(NetworkTurnsTest, ATuningNeverEndsSlowerThanItBegan) {
  const double before = ZeroTrialTotal();
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const double noise : {0.05, 0.3}) {
      Turn({.noise = noise, .drift = 0.02, .hiccups = 0.1, .seed = seed});
      EXPECT_LE(Total(Choose().Programs()), 1.001 * before) << seed << " " << noise;
      Begin(fmt::format("{}-{}.db", seed, noise));
    }
  }
}

TEST_F(NetworkTurnsTest, WhatIsSlowerTogetherIsNotUsed) {
  Turn({.noise = 0.01, .together = 3});
  EXPECT_DOUBLE_EQ(Total(Choose().Programs()), ZeroTrialTotal());
  ASSERT_TRUE(gain_);
  EXPECT_EQ(gain_->ratio.rounds, 0) << "nothing was gained";
  ASSERT_TRUE(gain_->refused);
  EXPECT_LT(gain_->refused->high, 1);
}

/// Times that say nothing choose nothing.
TEST_F(NetworkTurnsTest, WhatIsNotClearlyFasterIsNotUsed) {
  int kept = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Turn({.noise = 2, .hiccups = 0.3, .seed = seed}, /*seconds=*/10);
    ASSERT_TRUE(gain_);
    if (!gain_->refused) continue;
    EXPECT_DOUBLE_EQ(Total(Choose().Programs()), ZeroTrialTotal());
    ++kept;
    Begin(fmt::format("{}.db", seed));
  }
  EXPECT_GT(kept, 0);
}

TEST_F(NetworkTurnsTest, StoppedItLeavesNoTrace) {
  int asked = 0;
  stop_ = [&] { return ++asked > 3; };
  EXPECT_EQ(Turn({}), trial::StopReason::kStopped);
  EXPECT_TRUE(store_->RepeatsOf(session_->id()).empty());
  EXPECT_FALSE(gain_);
  stop_ = [] { return false; };
  EXPECT_EQ(Turn({}), trial::StopReason::kTrials);
  EXPECT_FALSE(store_->RepeatsOf(session_->id()).empty());
}

TEST_F(NetworkTurnsTest, TakesTheTimeThatItIsGiven) {
  Turn({.noise = 0.02}, /*seconds=*/1000);
  EXPECT_LT(took_, 1100);
  EXPECT_GT(took_, 900);
}

TEST_F(NetworkTurnsTest, ASecondNetworkKeepsWhatWasChosenForTheFirst) {
  Turn({.noise = 0.01});
  const size_t repeats = store_->RepeatsOf(session_->id()).size();
  const double chosen = Total(Choose().Programs());
  tuned_ = Choose();
  Turn({.noise = 0.3, .seed = 5});
  EXPECT_EQ(store_->RepeatsOf(session_->id()).size(), repeats);
  EXPECT_DOUBLE_EQ(Total(Choose().Programs()), chosen);
  EXPECT_TRUE(gain_) << "it is compared with the zero-trial programs, too";
}

TEST(GainInTurns, IsKeptAsJson) {
  const GainInTurns gain = {2,
                            1,
                            {.ratio = 2, .low = 1.5, .high = 2.5, .rounds = 9},
                            measure::PairedRatio{.ratio = 1, .low = 0.5, .high = 1.5, .rounds = 7}};
  const std::optional<GainInTurns> read = GainFromJson(ToJson(gain));
  ASSERT_TRUE(read);
  EXPECT_EQ(ToJson(*read), ToJson(gain));
  EXPECT_FALSE(GainFromJson(nlohmann::json::array()));
  nlohmann::json negative = ToJson(gain);
  negative["low"] = -1;
  EXPECT_FALSE(GainFromJson(negative));
  const GainInTurns sum = Sum(gain, {2, 2, {.ratio = 1, .low = 0.5, .high = 2, .rounds = 4}});
  EXPECT_DOUBLE_EQ(sum.ratio.ratio, 4.0 / 3);
  EXPECT_LT(sum.ratio.low, 1);
  EXPECT_EQ(sum.ratio.rounds, 4);
}

}  // namespace
}  // namespace bayloom::tuning
