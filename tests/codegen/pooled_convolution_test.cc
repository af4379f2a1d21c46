// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pooled_convolution.h"

#include <string>
#include <vector>

#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/pooled_convolutions.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// Programs drawn from the design spaces of a pair compute, compiled, what the workload says.
void ExpectCompiledPairsAreRight(const PooledConvolutionShape& shape, int seeds) {
  const tensor::Workload workload = PooledConvolutionWorkload(shape);
  const sketch::SpaceGenerator generator(*sketch::WithRowsForPool(workload),
                                         codegen::HostTarget(2));
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

TEST(CompiledPooledConvolutions, OddSizesStridesAndPadding) {
  ExpectCompiledPairsAreRight({.height = 23, .width = 19, .filters = 19, .stride = 2, .pad = 0}, 8);
  ExpectCompiledPairsAreRight(
      {.height = 33, .width = 27, .filters = 24, .kernel = 7, .stride = 2, .pad = 3, .pool_pad = 1},
      8);
  ExpectCompiledPairsAreRight(
      {.batch = 2, .height = 10, .width = 12, .channels = 12, .filters = 32, .pool = 2}, 8);
  ExpectCompiledPairsAreRight(
      {.height = 13, .width = 37, .filters = 16, .pool_pad = 1, .averages = true}, 8);
  ExpectCompiledPairsAreRight(
      {.height = 14, .width = 11, .channels = 8, .filters = 10, .activates = false}, 8);
}

TEST(CompiledPooledConvolutions, NarrowTypes) {
  for (const tensor::DType dtype : {tensor::DType::kBFloat16, tensor::DType::kFloat16}) {
    ExpectCompiledPairsAreRight(
        {.height = 10, .width = 12, .channels = 8, .filters = 16, .pool_pad = 1, .dtype = dtype},
        6);
  }
}

}  // namespace
}  // namespace bayloom::testing
