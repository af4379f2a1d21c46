// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/window_chains.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// Programs drawn from the design spaces of a chain compute, compiled, what the workload says.
void ExpectCompiledChainsAreRight(const WindowChainShape& shape, int seeds) {
  const tensor::Workload workload = WindowChainWorkload(shape);
  const sketch::SpaceGenerator generator(workload, codegen::HostTarget(2));
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int compiled = 0;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    for (int seed = 0; seed < seeds; ++seed) {
      const Result<sketch::Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      if (!candidate) continue;
      SCOPED_TRACE(tensor::Print(candidate->program));
      std::vector<tensor::HostTensor> actual = inputs;
      RunCompiled(candidate->program, actual, codegen::HostTarget(2));
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      const double tolerance = shape.dtype == tensor::DType::kFloat32 ? 1e-4 : 0.05;
      ASSERT_LT(RelativeDifference(actual.back(), expected.back()), tolerance);
      ++compiled;
    }
  }
  EXPECT_GT(compiled, 0);
}

TEST(CompiledWindowChains, OddSizesStridesAndPadding) {
  ExpectCompiledChainsAreRight({.height = 13, .width = 9, .channels = 19, .filters = 11}, 8);
  ExpectCompiledChainsAreRight(
      {.height = 15, .width = 12, .channels = 32, .filters = 24, .stride = 2, .residual = true}, 8);
  ExpectCompiledChainsAreRight({.batch = 2,
                                .height = 11,
                                .width = 17,
                                .channels = 24,
                                .filters = 16,
                                .kernel = 5,
                                .pad = 2,
                                .activates = false},
                               8);
  ExpectCompiledChainsAreRight({.height = 12,
                                .width = 14,
                                .channels = 16,
                                .filters = 20,
                                .stride = 2,
                                .pad = 0,
                                .pools = true},
                               8);
  ExpectCompiledChainsAreRight({.height = 37, .width = 19, .channels = 16, .filters = 8}, 8);
}

TEST(CompiledWindowChains, NarrowTypes) {
  for (const tensor::DType dtype : {tensor::DType::kBFloat16, tensor::DType::kFloat16}) {
    ExpectCompiledChainsAreRight(
        {.height = 10, .width = 12, .channels = 32, .filters = 16, .dtype = dtype}, 6);
  }
}

}  // namespace
}  // namespace bayloom::testing
