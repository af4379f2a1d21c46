// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/operators.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/random_tiles.h"
#include "tests/count_of.h"
#include "tests/plan/padded_windows.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

struct GuardCase {
  std::string name;
  tensor::Workload workload;
};
void PrintTo(const GuardCase& named, std::ostream* out) { *out << named.name; }

std::vector<GuardCase> GuardCases() {
  std::vector<GuardCase> all = {
      {"depthwise", Depthwise(7, 24, Padded(1, 1))},
      {"depthwise_stride", Depthwise(14, 16, Padded(1, 1, 2))},
      {"depthwise_one_side", Depthwise(9, 5, Padded(0, 2, 2))},
      {"depthwise_dilation", Depthwise(8, 8, Padded(2, 2, 1, 2))},
      {"depthwise_mostly_padding", Depthwise(2, 16, Padded(4, 5))},
  };
  tensor::Conv2dShape shape = ConvShape(6, 3, 16, 3, 1);
  all.push_back({"conv2d", tensor::Conv2dWorkload(shape)});
  shape = ConvShape(9, 4, 6, 5, 2);
  shape.options.stride = {2, 3};
  all.push_back({"conv2d_stride", tensor::Conv2dWorkload(shape)});
  shape = ConvShape(5, 4, 8, 3, 1);
  shape.dtype = tensor::DType::kInt32;
  all.push_back({"conv2d_integer", tensor::Conv2dWorkload(shape)});
  tensor::WorkloadBuilder b("max_pool");
  const tensor::Tensor x = b.Input("x", {1, 7, 7, 20});
  all.push_back(
      {"max_pool",
       b.Build({tensor::Pool2d(
           b, "pool", x,
           {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}})})});
  return all;
}

class GuardTest : public ::testing::TestWithParam<GuardCase> {};

TEST_P(GuardTest, TilesComputeWhatTheNaiveProgramComputes) {
  constexpr int kSchedules = 40;
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 5);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  const tensor::Program inlined = WithPaddingInlined(workload);
  base::RandomStream random(17);
  for (int i = 0; i < kSchedules; ++i) {
    tensor::Program program = inlined;
    TileAtRandom(program, program.BlocksInOrder().front(), random);
    UnrollAndParallelizeAtRandom(program, random);
    SCOPED_TRACE(tensor::Print(program));
    std::vector<tensor::HostTensor> actual = inputs;
    ASSERT_NO_THROW(RunCompiled(program, actual));
    ASSERT_FALSE(HasFatalFailure());
    ExpectClose(actual.back(), expected.back(), 1e-5, "schedule " + std::to_string(i));
    ASSERT_FALSE(HasFatalFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(All, GuardTest, ::testing::ValuesIn(GuardCases()),
                         [](const auto& named) { return named.param.name; });

/// One row of a depthwise convolution at a time, all columns and the window unrolled.
tensor::Program DepthwiseRowByRow() {
  tensor::Program program = WithPaddingInlined(Depthwise(7, 16, Padded(1, 1)));
  const std::vector<tensor::LoopId> n_h_w_c_kh_kw =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().front()));
  const auto& l = n_h_w_c_kh_kw;
  EXPECT_TRUE(
      tensor::Reorder(program, std::vector<tensor::LoopId>{l[0], l[1], l[4], l[5], l[2], l[3]})
          .ok());
  EXPECT_TRUE(tensor::Vectorize(program, l[3]).ok());
  EXPECT_TRUE(tensor::AnnotateUnroll(program, l[0], 512).ok());
  return program;
}

/// Rows of columns and channels in one vectorized loop, of all numbers of whole and further chunks:
/// the guard is about the columns.
TEST(GuardCodeTest, PaddingIsRightInLoopsOfAnyLength) {
  target::Target narrow = codegen::HostTarget();
  narrow.vector_bytes = 16;  // chunks without masks
  for (int64_t channels = 11; channels <= 29; ++channels) {
    tensor::WorkloadBuilder b("pad");
    const tensor::Tensor x = b.Input("x", {2, 8, channels}, tensor::DType::kUInt8);
    const tensor::Expr zero = tensor::Literal(0, tensor::DType::kUInt8);
    const tensor::Workload workload =
        b.Build({tensor::Pad(b, "padded", x, {0, 2, 0}, {0, 1, 0}, zero)});
    tensor::Program program = tensor::Lower(workload);
    const std::vector<tensor::LoopId> loops =
        program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("padded")));
    const Result<tensor::LoopId> fused =
        tensor::Fuse(program, std::vector<tensor::LoopId>{loops[1], loops[2]});
    ASSERT_TRUE(fused && tensor::Vectorize(program, *fused));
    ExpectMatchesInterpreter(program, RandomArguments(workload, 1), std::to_string(channels),
                             narrow);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(GuardCodeTest, WhatOnlyAddsZerosIsLeftOut) {
  target::Target target;
  target.triple = "x86_64-pc-linux-gnu";
  target.cpu = "skylake-avx512";
  target.vector_bytes = 64;
  const std::string ir = *codegen::EmitLlvmIr(DepthwiseRowByRow(), target, "depthwise");
  // 7 columns x 3 rows of the window x 3 columns of the window, but 2 x 3 that are all padding.
  EXPECT_EQ(CountOf(ir, "call contract <16 x float> @llvm.fmuladd"), 7 * 9 - 2 * 3) << ir;
  EXPECT_EQ(CountOf(ir, " select "), 0) << ir;
  // The first and the last row of the window are jumped over; the middle one is always inside.
  EXPECT_EQ(CountOf(ir, "label %then"), 2) << ir;
}

}  // namespace
}  // namespace bayloom::testing
