// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/sketch/design_space.h"
#include "tests/sketch/same_result.h"
#include "tests/sketch/space_checks.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

/// Sums over two axes of an image, all of it contiguous.
tensor::Workload ImageSums(int64_t images, int64_t height, int64_t width) {
  tensor::WorkloadBuilder b("sums");
  const tensor::Tensor x = b.Input("x", {images, height, width});
  return b.Build({b.Reduce("y", {images}, {{"h", height}, {"w", width}}, tensor::Reduction::kSum,
                           [&](auto s, auto r) { return x(s[0], r[0], r[1]); })});
}

bool HasRFactor(const tensor::Trace& trace) {
  return std::ranges::any_of(trace.instructions(), [](const tensor::Instruction& step) {
    return step.kind == tensor::InstructionKind::kRFactor;
  });
}

/// For any extents of the axes spaces are the same ones, all draws are valid and compute the
/// same, and so do draws that are replayed on another size, where the decisions are repaired.
TEST(AddRFactor, CutsReductionsOverSeveralAxes) {
  const std::pair<int64_t, int64_t> kSizes[] = {{12, 10}, {7, 9}, {6, 35}, {16, 16}, {5, 64}};
  for (const auto& [height, width] : kSizes) {
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    const tensor::Workload workload = ImageSums(3, height, width);
    const tensor::Workload other = ImageSums(3, width, height);
    const SpaceGenerator generator(workload, SmallTarget()), others(other, SmallTarget());
    ASSERT_EQ(generator.spaces().size(), others.spaces().size());
    int drawn = 0, valid = 0, replayed = 0;
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      if (!HasRFactor(generator.spaces()[space])) continue;
      for (uint64_t seed = 0; seed < 16; ++seed) {
        ++drawn;
        const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        ++valid;
        ExpectSameResult(workload, candidate->program, 1e-4);
        const Result<Candidate> again =
            others.Replay(space, candidate->trace, base::RandomStream(seed));
        if (!again) continue;
        ++replayed;
        ExpectSameResult(other, again->program, 1e-4);
      }
    }
    EXPECT_GT(drawn, 0);
    EXPECT_EQ(valid, drawn);
    EXPECT_EQ(replayed, valid);
  }
}

}  // namespace
}  // namespace bayloom::sketch
