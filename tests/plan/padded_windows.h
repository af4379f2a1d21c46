// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::testing {

inline tensor::Workload Depthwise(int64_t size, int64_t channels, tensor::Conv2dOptions options) {
  tensor::WorkloadBuilder b("depthwise");
  const tensor::Tensor x = b.Input("x", {1, size, size, channels});
  const tensor::Tensor w = b.Constant("w", {3, 3, channels});
  return b.Build({tensor::DepthwiseConv2d(b, "conv", x, w, options)});
}

inline tensor::Conv2dOptions Padded(int64_t before, int64_t after, int64_t stride = 1,
                                    int64_t dilation = 1) {
  tensor::Conv2dOptions options;
  options.stride = {stride, stride};
  options.dilation = {dilation, dilation};
  options.pad_before = {before, before};
  options.pad_after = {after, after};
  return options;
}

/// The naive program, padding read through guards.
inline tensor::Program WithPaddingInlined(const tensor::Workload& workload) {
  tensor::Program program = tensor::Lower(workload);
  for (tensor::BlockId block : program.BlocksInOrder()) {
    if (program.blocks[block].kind == tensor::BlockKind::kPlain) {
      EXPECT_TRUE(tensor::ComputeInline(program, block).ok());
    }
  }
  return program;
}

}  // namespace bayloom::testing
