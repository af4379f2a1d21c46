// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/default_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "tests/sketch/space_checks.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

int CountLoops(const tensor::Program& program, tensor::LoopKind kind) {
  return static_cast<int>(
      std::count_if(program.loops.begin(), program.loops.end(),
                    [&](const tensor::Loop& loop) { return loop.alive && loop.kind == kind; }));
}

TEST(PlainScheduleTest, ComputesWhatTheNaiveProgramComputes) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    const tensor::Program plain = DefaultSchedule(workload, SmallTarget());
    EXPECT_TRUE(tensor::Validate(plain)) << name;
    std::vector<tensor::HostTensor> expected = testing::RandomArguments(workload, 5);
    std::vector<tensor::HostTensor> actual = expected;
    tensor::Interpret(tensor::Lower(workload), expected);
    tensor::Interpret(plain, actual);
    for (int64_t i = 0; i < actual.back().ElementCount(); ++i) {
      ASSERT_NEAR(actual.back().Get(i), expected.back().Get(i),
                  1e-4 * (1 + std::abs(expected.back().Get(i))))
          << name;
    }
  }
}

TEST(PlainScheduleTest, RunsNestsInParallelAndInVectors) {
  for (const char* line : {"matmul:64,64,64", "conv2d:9x7x5,16,3x3,pad=1,bias,relu",
                           "depthwise:8x8x13,3x3,pad=1", "matmul:7,16,5,bias,relu"}) {
    const tensor::Program plain = DefaultSchedule(tensor::ParseOperator(line), SmallTarget());
    EXPECT_EQ(CountLoops(plain, tensor::LoopKind::kParallel), static_cast<int>(plain.roots.size()))
        << line;
    EXPECT_GE(CountLoops(plain, tensor::LoopKind::kVectorized), 1) << line;
  }
}

TEST(PlainScheduleTest, ElementwiseChainsBecomeOneNest) {
  const tensor::Program plain = DefaultSchedule(testing::FindWorkload("gelu_chain"), SmallTarget());
  EXPECT_EQ(plain.roots.size(), 1u);
}

}  // namespace
}  // namespace bayloom::sketch
