// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/rows_for_pool.h"
#include "tests/codegen/compiled_spaces.h"
#include "tests/tensor/pooled_convolutions.h"

namespace bayloom::testing {
namespace {

void ExpectCompiledPairsAreRight(const PooledConvolutionShape& shape, int seeds) {
  const tensor::Workload workload = PooledConvolutionWorkload(shape);
  ExpectCompiledSpacesAreRight(workload, *sketch::WithRowsForPool(workload), seeds,
                               shape.dtype == tensor::DType::kFloat32 ? 1e-4 : 0.05);
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
