// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using ComputeAtTest = PrimitiveTest;

auto ComputeAtOf(tensor::BlockId block, tensor::LoopId loop) {
  return [=](tensor::Program& p) { return tensor::ComputeAt(p, block, loop); };
}

TEST_F(ComputeAtTest, ComputesJustWhatAnIterationNeeds) {
  Start(Stencil(18));
  MustSplit(LoopOf("z", 0), {4, 4});
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(4, 6));  // 4 outputs and a halo of 2
  EXPECT_EQ(program_.roots.size(), 1u);
  ExpectSameResult();
}

TEST_F(ComputeAtTest, MovesReductionsWithAllTheirLoops) {
  Start(FindWorkload("matmul_bias"));
  MustSplit(LoopOf("relu", 1), {4, 5});
  Must(tensor::ComputeInline(program_, BlockNamed("add_bias")));
  Must(tensor::ComputeAt(program_, BlockNamed("matmul"), LoopOf("relu", 1)));
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(12, 4, 1, 5, 9));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, PlacesPaddingAtAnyLevelOfAConvolution) {
  for (size_t depth = 0; depth < 7; ++depth) {
    Start(FindWorkload("conv2d_stride"));
    Must(tensor::ComputeAt(program_, BlockNamed("conv_pad"), LoopOf("conv", depth)));
    ExpectSameResult();
  }
}

TEST_F(ComputeAtTest, ServesSeveralReaders) {
  Start(OneInput({8, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z =
        b.Compute("z", {8, 6}, [&](const auto& i) { return y(i[0], i[1]) + 1; });
    return b.Compute("w", {8, 6}, [&](const auto& i) { return z(i[0], i[1]) * y(i[0], 0); });
  }));
  const tensor::BlockId y = BlockNamed("y");
  ExpectRefused("z reads y outside of loop", ComputeAtOf(y, LoopOf("w", 0)));
  Must(tensor::ComputeAt(program_, BlockNamed("z"), LoopOf("w", 0)));
  Must(tensor::ComputeAt(program_, y, LoopOf("w", 0)));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(8, 1, 6));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, TakesWholeDimensionsWhereIndicesAreNotAffine) {
  Start(OneInput({20, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor rows = b.Input("rows", {11}, tensor::DType::kInt64);
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {11, 6},
                     [&](const auto& i) { return y(tensor::FloorMod(rows(i[0]), 20), i[1]); });
  }));
  const tensor::LoopId column = LoopOf("z", 1);
  Must(tensor::Reorder(program_, std::vector{column, LoopOf("z", 0)}));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), column));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(6, 20, 1));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, GoesBackToTheRoot) {
  Start(Stencil(18));
  const uint64_t naive = program_.StructuralHash();
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  EXPECT_NE(program_.StructuralHash(), naive);
  Must(tensor::ComputeAt(program_, BlockNamed("y"), -1));
  EXPECT_EQ(program_.StructuralHash(), naive);
}

TEST_F(ComputeAtTest, Refuses) {
  Start(FindWorkload("conv2d_bias_relu"));
  const tensor::LoopId conv_loop = LoopOf("conv", 0);
  const tensor::LoopId pad_loop = LoopOf("conv_pad", 0);
  ExpectRefused("it cannot be computed at a reader", ComputeAtOf(BlockNamed("relu"), conv_loop));
  ExpectRefused("outside of loop", ComputeAtOf(BlockNamed("conv_pad"), pad_loop));
  ExpectRefused("there is no loop", ComputeAtOf(BlockNamed("conv_pad"), 500));
  ExpectRefused("there is no block", ComputeAtOf(500, conv_loop));
  Must(tensor::DecomposeReduction(program_, BlockNamed("conv"), LoopOf("conv", 4)));
  ExpectRefused("decomposed already", ComputeAtOf(BlockNamed("conv"), LoopOf("add_bias", 0)));
  ExpectRefused("decomposed already", ComputeAtOf(BlockNamed("conv_init"), LoopOf("add_bias", 0)));
}

TEST_F(ComputeAtTest, RefusesVectorizedLoops) {
  Start(TwoStages({4, 8}));
  Must(tensor::Vectorize(program_, LoopOf("z", 1)));
  ExpectRefused("is vectorized", ComputeAtOf(BlockNamed("y"), LoopOf("z", 1)));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, RefusesRegionsThatOnlyAGuardKeepsInside) {
  Start(OneInput({8}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {12}, [&](const auto& i) {
      return tensor::Select(i[0] < 8, y(i[0]), tensor::Literal(0, tensor::DType::kFloat32));
    });
  }));
  ExpectRefused("its readers guard their accesses", ComputeAtOf(BlockNamed("y"), LoopOf("z", 0)));
  const std::vector<tensor::LoopId> z = MustSplit(LoopOf("z", 0), {1, 12});
  Must(tensor::ComputeAt(program_, BlockNamed("y"), z[0]));  // clipped to what there is
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(1, 8));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, RefusesToLeaveAProducerBehind) {
  Start(OneInput({8, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z = tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
    return tensor::Map(b, "w", z, [](tensor::Expr e) { return e * e; });
  }));
  const tensor::BlockId y = BlockNamed("y");
  const tensor::BlockId z = BlockNamed("z");
  Must(tensor::ComputeAt(program_, y, LoopOf("z", 0)));
  ExpectRefused("cannot leave the loop that its producer y", ComputeAtOf(z, LoopOf("w", 0)));
  Must(tensor::ComputeAt(program_, y, -1));
  Must(tensor::ComputeAt(program_, z, LoopOf("w", 0)));
  Must(tensor::ComputeAt(program_, y, LoopOf("w", 0)));
  ExpectRefused("cannot leave the loop that its producer y", ComputeAtOf(z, -1));
  // Deeper is fine: y is computed at the loop around.
  Must(tensor::ComputeAt(program_, z, LoopOf("w", 1)));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, RefusesWhatAProducerDidNotCompute) {
  // z needs every second y; w's guard makes z compute all.
  Start(OneInput({17}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z = tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
    return b.Compute("w", {3, 3}, [&](const auto& i) { return z(i[0] * 6 + i[1] * 2); });
  }));
  const tensor::LoopId outer = LoopOf("w", 0);
  const tensor::LoopId inner = LoopOf("w", 1);
  Must(tensor::ComputeAt(program_, BlockNamed("z"), inner));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), inner));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(3, 3, 1));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), outer));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(3, 5));
  ExpectSameResult();
}

TEST_F(ComputeAtTest, RefusesBlocksWithARewrittenLayout) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("a"), tensor::StorageScope::kGlobal));
  MustSplit(LoopOf("matmul", 2), {2, 4});
  Must(tensor::Reorder(program_, std::vector{LoopOf("matmul", 2), LoopOf("matmul", 0)}));
  Must(tensor::RewriteLayout(program_, program_.blocks[copy].output));
  ASSERT_FALSE(program_.buffers[program_.blocks[copy].output].layout.empty());
  ExpectRefused("follows the rewritten layout", ComputeAtOf(copy, LoopOf("matmul", 0)));
}

// --- ComputeLocations --------------------------------------------------------------------------

TEST_F(ComputeAtTest, LocationsAreSpatialLoopsOfTheReaderOutsideItsReductions) {
  Start(FindWorkload("conv2d_pad"));
  const std::vector<tensor::LoopId> conv = LoopsOf("conv");  // n h w co kh kw ci, n of extent 1
  EXPECT_THAT(tensor::ComputeLocations(program_, BlockNamed("conv_pad")),
              ElementsAre(conv[1], conv[2], conv[3]));
  Must(tensor::Reorder(program_, std::vector{conv[4], conv[2]}));
  EXPECT_THAT(tensor::ComputeLocations(program_, BlockNamed("conv_pad")), ElementsAre(conv[1]));
}

TEST_F(ComputeAtTest, LocationsAreAroundAllReaders) {
  Start(FindWorkload("softmax"));
  EXPECT_TRUE(tensor::ComputeLocations(program_, BlockNamed("softmax_exp")).empty());
  EXPECT_TRUE(tensor::ComputeLocations(program_, BlockNamed("softmax")).empty());
}

}  // namespace
}  // namespace bayloom::testing
