// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/sketch/design_space.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/quantized_operators.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

target::Target TwoCores() {
  target::Target target = *target::LevelTarget("x86-64-v4", 2);
  target.features += ",+avx512vnni";
  return target;
}

bool SumsUpInParts(const tensor::Trace& trace) {
  return std::ranges::any_of(trace.instructions(), [](const tensor::Instruction& step) {
    return step.kind == tensor::InstructionKind::kRFactor;
  });
}

int SpacesInParts(const tensor::Workload& workload) {
  const SpaceGenerator generator(workload, TwoCores());
  return static_cast<int>(std::ranges::count_if(generator.spaces(), SumsUpInParts));
}

TEST(SplitReduction, IsForLongSumsOfWhichThereAreFew) {
  EXPECT_GT(SpacesInParts(tensor::MatmulWorkload(1, 1000, 1280)), 0);
  EXPECT_GT(SpacesInParts(tensor::MatmulWorkload(4, 256, 512)), 0);
  EXPECT_GT(SpacesInParts(tensor::QuantizedMatmulWorkload(1, 1000, 1280)), 0);
  EXPECT_EQ(SpacesInParts(tensor::MatmulWorkload(128, 1000, 1280)), 0);  // sums enough
  EXPECT_EQ(SpacesInParts(tensor::MatmulWorkload(1, 1000, 64)), 0);      // short
  EXPECT_EQ(SpacesInParts(tensor::MatmulWorkload(1, 1000, 1281)), 0);    // odd
  EXPECT_EQ(SpacesInParts(tensor::Conv2dWorkload(testing::ConvShape(5, 64, 64, 3))), 0);
}

TEST(SplitReduction, SpacesOfOtherExtentsAreTheSame) {
  const SpaceGenerator a(tensor::MatmulWorkload(1, 1000, 1280), TwoCores());
  const SpaceGenerator b(tensor::MatmulWorkload(1, 512, 4096), TwoCores());
  ASSERT_EQ(a.spaces().size(), b.spaces().size());
  for (size_t i = 0; i < a.spaces().size(); ++i) {
    EXPECT_EQ(a.spaces()[i].SpaceHash(), b.spaces()[i].SpaceHash()) << i;
  }
}

struct Found {
  int valid = 0, parallel = 0, tensorized = 0;
};

bool HasLoop(const tensor::Program& program, tensor::LoopKind kind) {
  return std::ranges::any_of(
      program.loops, [&](const tensor::Loop& loop) { return loop.alive && loop.kind == kind; });
}

/// Draws candidates that sum up in parts and compares them with the workload.
Found CheckCandidates(const tensor::Workload& workload, double tolerance) {
  const SpaceGenerator generator(workload, TwoCores());
  const std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 3);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  Found found;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    if (!SumsUpInParts(generator.spaces()[space])) continue;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      if (!candidate) continue;
      SCOPED_TRACE(tensor::Print(candidate->program));
      ++found.valid;
      found.parallel += HasLoop(candidate->program, tensor::LoopKind::kParallel);
      found.tensorized += HasLoop(candidate->program, tensor::LoopKind::kTensorized);
      EXPECT_TRUE(tensor::Validate(candidate->program));
      std::vector<tensor::HostTensor> actual = inputs;
      tensor::InterpretStrictly(candidate->program, actual);
      for (int64_t i = 0; i < expected.back().ElementCount(); ++i) {
        EXPECT_NEAR(actual.back().Get(i), expected.back().Get(i), tolerance) << i;
      }
      if (::testing::Test::HasFailure()) return found;
    }
  }
  return found;
}

TEST(SplitReduction, CandidatesComputeTheProduct) {
  const Found floats = CheckCandidates(
      tensor::MatmulWorkload(2, 50, 264, tensor::DType::kFloat32, {.bias = true, .relu = true}),
      1e-3);
  EXPECT_GT(floats.valid, 20);
  EXPECT_GT(floats.parallel, floats.valid / 2);
  const Found bytes = CheckCandidates(tensor::QuantizedMatmulWorkload(3, 48, 328), 0);
  EXPECT_GT(bytes.valid, 20);
  EXPECT_EQ(bytes.tensorized, bytes.valid);
}

}  // namespace
}  // namespace bayloom::sketch
