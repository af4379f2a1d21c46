// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/codegen/compiled_spaces.h"
#include "tests/tensor/window_chains.h"

namespace bayloom::testing {
namespace {

void ExpectCompiledChainsAreRight(const WindowChainShape& shape, int seeds) {
  const tensor::Workload workload = WindowChainWorkload(shape);
  ExpectCompiledSpacesAreRight(workload, workload, seeds,
                               shape.dtype == tensor::DType::kFloat32 ? 1e-4 : 0.05);
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
