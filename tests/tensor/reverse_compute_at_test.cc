// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using ReverseComputeAtTest = PrimitiveTest;

auto ReverseComputeAtOf(tensor::BlockId block, tensor::LoopId loop) {
  return [=](tensor::Program& p) { return tensor::ReverseComputeAt(p, block, loop); };
}

/// Tiles the first two spatial loops of a matmul with its reduction in the middle.
std::vector<tensor::LoopId> TileMatmul(tensor::Program& p, tensor::BlockId matmul) {
  const std::vector<tensor::LoopId> loops = p.LoopsAround(tensor::NodeRef::Block(matmul));
  const std::vector<tensor::LoopId> i = *tensor::Split(p, loops[0], std::vector<int64_t>{3, 4});
  const std::vector<tensor::LoopId> j = *tensor::Split(p, loops[1], std::vector<int64_t>{4, 5});
  EXPECT_TRUE(tensor::Reorder(p, std::vector{i[0], j[0], loops[2], i[1], j[1]}));
  return {i[0], j[0], loops[2], i[1], j[1]};
}

TEST_F(ReverseComputeAtTest, CoversWhatTheProducerCompletes) {
  Start(FindWorkload("matmul_bias"));  // 12 x 20, 9 deep
  const std::vector<tensor::LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("relu")));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("add_bias"), loops[1]));
  EXPECT_THAT(ExtentsOf("add_bias"), ElementsAre(3, 4, 4, 5));
  EXPECT_EQ(program_.roots.size(), 1u);
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, FollowsStridedTiles) {
  Start(FindWorkload("matmul_bias"));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("relu")));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const std::vector<tensor::LoopId> i = MustSplit(loops[0], {2, 3, 2});
  // Per iteration of the middle digit the rows are strided.
  Must(tensor::Reorder(program_, std::vector{i[1], i[0], i[2]}));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("add_bias"), i[1]));
  EXPECT_THAT(ExtentsOf("add_bias"), ElementsAre(3, 4, 20));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, RunsIteratorsThatTheProducerLacksInFull) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor sum = tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, true);
    return b.Compute("z", {4, 6}, [&](const auto& i) { return x(i[0], i[1]) / sum(i[0], 0); });
  }));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("z"), LoopOf("sum", 0)));
  EXPECT_THAT(ExtentsOf("z"), ElementsAre(4, 1, 6));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, FollowsPermutations) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {6, 4}, [&](const auto& i) { return y(i[1], i[0]) + 1; });
  }));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("z"), LoopOf("y", 0)));
  EXPECT_THAT(ExtentsOf("z"), ElementsAre(4, 6, 1));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, WorksOnFusedAndParallelLoops) {
  Start(FindWorkload("matmul_bias"));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("relu")));
  const std::vector<tensor::LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  const tensor::LoopId fused = Must(tensor::Fuse(program_, std::vector{loops[0], loops[1]}));
  Must(tensor::Parallelize(program_, fused));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("add_bias"), fused));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), loops[2]));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, MovesAResidualToItsConvolution) {
  Start(FindWorkload("conv2d_residual"));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("relu")));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("add_residual")));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("add_bias"), LoopOf("conv", 2)));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, Refuses) {
  Start(FindWorkload("matmul_bias"));
  const std::vector<tensor::LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  const tensor::BlockId bias = BlockNamed("add_bias");
  ExpectRefused("it reduces over a loop further out", ReverseComputeAtOf(bias, loops[2]));
  ExpectRefused("it reduces over a loop further out", ReverseComputeAtOf(bias, loops[4]));
  ExpectRefused("reads nothing that is computed under loop",
                ReverseComputeAtOf(bias, LoopOf("relu", 0)));
  ExpectRefused("reads nothing that is computed under loop",
                ReverseComputeAtOf(BlockNamed("matmul"), loops[0]));
  ExpectRefused("there is no loop", ReverseComputeAtOf(bias, -1));
  ExpectRefused("there is no block", ReverseComputeAtOf(90, loops[0]));
  Must(tensor::Vectorize(program_, loops[4]));
  ExpectRefused("is vectorized", ReverseComputeAtOf(bias, loops[4]));
}

TEST_F(ReverseComputeAtTest, MovesAReductionOfWholeRows) {
  const auto sums = OneInput({6, 8}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Reduce("z", {6}, {{"j", 8}}, tensor::Reduction::kSum,
                    [&](const auto& s, const auto& r) { return y(s[0], r[0]); });
  });
  Start(sums);
  const tensor::LoopId column = LoopOf("y", 1);
  ExpectRefused("would reduce over a loop further out",
                ReverseComputeAtOf(BlockNamed("z"), column));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("z"), LoopOf("y", 0)));
  EXPECT_THAT(ExtentsOf("z"), ElementsAre(6, 1, 8));
  ExpectSameResult();
  Start(sums);
  Must(tensor::DecomposeReduction(program_, BlockNamed("z"), LoopOf("z", 1)));
  ExpectRefused("part of a reduction", ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

TEST_F(ReverseComputeAtTest, RefusesWindowsAndParts) {
  Start(Stencil(18));
  ExpectRefused("something else than its own iterators",
                ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
  Start(OneInput({8}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {5}, [&](const auto& i) { return y(i[0]); });
  }));
  ExpectRefused("reads only a part of y", ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

TEST_F(ReverseComputeAtTest, FollowsProducersWhoseTilesOverlap) {
  Start(OneInput({18}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z =
        b.Compute("z", {16}, [&](const auto& i) { return y(i[0]) + y(i[0] + 2); });
    const tensor::Tensor w = tensor::Map(b, "w", y, [](tensor::Expr e) { return e + 1; });
    return b.Compute("out", {16}, [&](const auto& i) { return w(i[0]) * z(i[0]); });
  }));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("w"), LoopOf("y", 0)));
  ExpectSameResult();
  Start(OneInput({18}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor w = tensor::Map(b, "w", y, [](tensor::Expr e) { return e + 1; });
    return b.Compute("out", {16}, [&](const auto& i) { return w(i[0]) * w(i[0] + 2); });
  }));
  MustSplit(LoopOf("out", 0), {4, 4});
  const tensor::LoopId tile = LoopOf("out", 0);
  Must(tensor::ComputeAt(program_, BlockNamed("w"), tile));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), tile));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("w"), LoopOf("y", 1)));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, NeedsTheOtherInputs) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor sum =
        tensor::ReduceAxes(b, "sum", y, {0, 1}, tensor::Reduction::kSum, true);
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) / sum(0, 0); });
  }));
  ExpectRefused("before sum has computed it", ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

TEST_F(ReverseComputeAtTest, MovesInwardsOnly) {
  Start(TwoStages({4, 6}));
  const std::vector<tensor::LoopId> y = LoopsOf("y");
  Must(tensor::ReverseComputeAt(program_, BlockNamed("z"), y[1]));
  ExpectSameResult();
  ExpectRefused("cannot leave the loop that y", ReverseComputeAtOf(BlockNamed("z"), y[0]));
}

TEST_F(ReverseComputeAtTest, RefusesRewrittenLayouts) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor c = b.Constant("c", {6, 4});
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) * c(i[1], i[0]); });
  }));
  MustSplit(LoopOf("z", 1), {2, 3});
  MustSplit(LoopOf("z", 0), {2, 2});
  Must(tensor::RewriteLayout(program_, BufferNamed("c")));
  ExpectRefused("follows the rewritten layout of c",
                ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

}  // namespace
}  // namespace bayloom::testing
