// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/cold_constants.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tune.h"
#include "tests/graph/separable_blocks.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

graph::TaskGraph Network() {
  return graph::ExtractTasks(
      graph::MakeSeparableBlocks({.blocks = 2, .height = 12, .width = 12, .channels = 16}));
}

/// A machine whose last cache holds so many bytes, for all threads together.
target::Target WithLastCache(int64_t bytes) {
  target::Target target = strategy::SimulatedTarget();
  target.machine = target::NominalMachine(target);
  target::MemoryLevel& last = target.machine->levels[target.machine->levels.size() - 2];
  last.bytes = bytes / target.machine->threads;
  return target;
}

/// Counts the trials that were to read cold constants.
class CountingEvaluator final : public SimulatedEvaluator {
 public:
  void Submit(trial::TrialId id, const ProgramTrial& trial) override {
    (trial.workload->has_cold_constants ? cold : warm) += 1;
    SimulatedEvaluator::Submit(id, trial);
  }
  int cold = 0, warm = 0;
};

class ColdConstantsTest : public ::testing::Test {
 protected:
  CountingEvaluator Tune(const target::Target& target, bool resume = false) {
    CountingEvaluator evaluator;
    TuneOptions options;
    options.run.budget.trials = trials_ += 20;
    options.strategy = "random";
    options.resume = resume;
    Tuning(NetworkSubject("net", Network()), target, store_, evaluator, options).Run();
    return evaluator;
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  int trials_ = 0;
  const int64_t bytes_ = ConstantBytes(Network());
};

/// Two blocks of a 3x3 depthwise and a 1x1 convolution of 16 channels, with their shifts.
TEST_F(ColdConstantsTest, AreThoseThatTheLastCacheDoesNotHold) {
  EXPECT_GE(bytes_, 2 * int64_t{sizeof(float)} * (9 * 16 + 16 * 16));
  EXPECT_LE(bytes_, 2 * int64_t{sizeof(float)} * (9 * 16 + 16 * 16 + 2 * 16));
  EXPECT_TRUE(AreCold(bytes_, WithLastCache(bytes_ / 2)));
  EXPECT_FALSE(AreCold(bytes_, WithLastCache(2 * bytes_)));
  target::Target gpu = WithLastCache(bytes_ / 2);
  gpu.triple = "nvptx64-nvidia-cuda";
  EXPECT_FALSE(AreCold(bytes_, gpu));
}

TEST_F(ColdConstantsTest, TrialsReadThemAsTheNetworkDoes) {
  const CountingEvaluator small = Tune(WithLastCache(bytes_ / 2));
  EXPECT_GT(small.cold, 0);
  EXPECT_EQ(small.warm, 0);
}

/// Times of both kinds do not compare.
TEST_F(ColdConstantsTest, ADatabaseStaysAsItWasBegun) {
  EXPECT_EQ(Tune(WithLastCache(2 * bytes_)).cold, 0);
  for (const bool resume : {true, false}) {
    const CountingEvaluator later = Tune(WithLastCache(bytes_ / 2), resume);
    EXPECT_EQ(later.cold, 0) << resume;
    EXPECT_GT(later.warm, 0) << resume;
  }
}

}  // namespace
}  // namespace bayloom::tuning
