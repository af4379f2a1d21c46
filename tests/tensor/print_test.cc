// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

Workload ConvRelu() {
  Conv2dShape shape;
  shape.height = shape.width = 8;
  shape.in_channels = 3;
  shape.out_channels = 16;
  shape.kernel = {3, 3};
  shape.options.pad_before = shape.options.pad_after = {1, 1};
  shape.options.stride = {2, 2};
  shape.epilogue.bias = shape.epilogue.relu = true;
  return Conv2dWorkload(shape);
}

TEST(PrintTest, WorkloadReadsAsEquations) {
  EXPECT_EQ(
      Print(ConvRelu()),
      R"(workload conv2d+bias+relu(x: float32[1, 8, 8, 3], const weight: float32[3, 3, 3, 16], const bias: float32[16]) -> relu: float32[1, 4, 4, 16]
  conv_pad[n, h, w, c] = select(1 <= h and h < 9 and 1 <= w and w < 9, x[n, h - 1, w - 1, c], 0.0)  # float32[1, 10, 10, 3]
  conv[n, h, w, co] = sum over kh < 3, kw < 3, ci < 3: conv_pad[n, h * 2 + kh, w * 2 + kw, ci] * weight[kh, kw, ci, co]  # float32[1, 4, 4, 16]
  add_bias[n, h, w, c] = conv[n, h, w, c] + bias[c]  # float32[1, 4, 4, 16]
  relu[n, h, w, c] = max(add_bias[n, h, w, c], 0.0)
)");
}

TEST(PrintTest, ProgramReadsAsALoopNest) {
  Program program = Lower(MatmulWorkload(4, 8, 16));
  program.loops[0].kind = LoopKind::kParallel;
  program.loops[0].unroll_max_step = 64;
  // A loop that nothing depends on, of one iteration: not shown.
  program.digit_extents.push_back(1);
  program.loops.push_back(program.loops[0]);
  program.loops.back().kind = LoopKind::kSerial;
  program.loops.back().unroll_max_step = 0;
  program.loops.back().digits = {3};
  program.loops[0].parent = NodeRef::Loop(3);
  program.loops.back().body = {NodeRef::Loop(0)};
  program.roots = {NodeRef::Loop(3)};
  // i = i0 * 2 + i1, with i1 beside k in the innermost loop.
  program.digit_extents[0] = 2;
  program.digit_extents.push_back(2);
  program.loops[2].digits = {2, 4};
  program.blocks[0].bindings[0] = {0, {{0, 2}, {4, 1}}};
  EXPECT_EQ(Print(program),
            R"(program matmul(a: float32[4, 16], const w: float32[16, 8]) -> matmul: float32[4, 8]
parallel for i0 in 0..2:  # unroll up to 64
  for j in 0..8:
    for k.i1 in 0..32:
      with i = i0*2 + i1:
        matmul[i, j] += a[i, k] * w[k, j]  # starts from 0.0
)");
}

}  // namespace
}  // namespace bayloom::tensor
