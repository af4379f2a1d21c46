// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "bayloom/sketch/design_space.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/access.h"
#include "tests/sketch/same_result.h"

namespace bayloom::sketch {

/// A processor with two cores and vectors of 32 bytes.
inline target::Target SmallTarget() {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  target.vector_bytes = 32;
  return target;
}

/// Calls `check` with `seeds` candidates of each design space, none of which may be refused.
inline void ForCandidates(const SpaceGenerator& generator, int seeds,
                          const std::function<void(const Candidate&)>& check) {
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    for (int seed = 0; seed < seeds; ++seed) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate.ok()) << candidate.error().message;
      check(*candidate);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Elements of a buffer that there are at a time.
inline int64_t ElementsHeld(const tensor::Program& program, tensor::BufferId buffer) {
  const tensor::Allocation held = tensor::AllocationOf(program, buffer);
  return std::accumulate(held.shape.begin(), held.shape.end(), int64_t{1}, std::multiplies<>());
}

/// Candidates for a target that has instructions for dot products of bfloat16 use them, and compute
/// what the workload says.
inline void ExpectDotProductsInEverySpace(const tensor::Workload& workload) {
  target::Target target = *target::LevelTarget("x86-64-v4", 2);
  target.features += ",+avx512bf16";
  ForCandidates(SpaceGenerator(workload, target), 6, [&](const Candidate& candidate) {
    EXPECT_TRUE(std::ranges::any_of(candidate.program.loops, [](const tensor::Loop& loop) {
      return loop.alive && loop.kind == tensor::LoopKind::kTensorized;
    }));
    ExpectSameResult(workload, candidate.program, 0.02);
  });
}

}  // namespace bayloom::sketch
