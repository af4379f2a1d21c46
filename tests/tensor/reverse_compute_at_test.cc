#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using ReverseComputeAtTest = PrimitiveTest;

auto ReverseComputeAtOf(BlockId block, LoopId loop) {
  return [=](Program& p) { return ReverseComputeAt(p, block, loop); };
}

/// Tiles the first two spatial loops of a matmul with its reduction in the middle.
std::vector<LoopId> TileMatmul(Program& p, BlockId matmul) {
  const std::vector<LoopId> loops = p.LoopsAround(NodeRef::Block(matmul));
  const std::vector<LoopId> i = *Split(p, loops[0], std::vector<int64_t>{3, 4});
  const std::vector<LoopId> j = *Split(p, loops[1], std::vector<int64_t>{4, 5});
  EXPECT_TRUE(Reorder(p, std::vector{i[0], j[0], loops[2], i[1], j[1]}));
  return {i[0], j[0], loops[2], i[1], j[1]};
}

TEST_F(ReverseComputeAtTest, CoversWhatTheProducerCompletes) {
  Start(FindWorkload("matmul_bias"));  // 12 x 20, 9 deep
  const std::vector<LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  Must(ReverseComputeInline(program_, BlockNamed("relu")));
  Must(ReverseComputeAt(program_, BlockNamed("add_bias"), loops[1]));
  EXPECT_THAT(ExtentsOf("add_bias"), ElementsAre(3, 4, 4, 5));
  EXPECT_EQ(program_.roots.size(), 1u);
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, FollowsStridedTiles) {
  Start(FindWorkload("matmul_bias"));
  Must(ReverseComputeInline(program_, BlockNamed("relu")));
  const std::vector<LoopId> loops = LoopsOf("matmul");
  const std::vector<LoopId> i = MustSplit(loops[0], {2, 3, 2});
  // Per iteration of the middle digit the rows are strided.
  Must(Reorder(program_, std::vector{i[1], i[0], i[2]}));
  Must(ReverseComputeAt(program_, BlockNamed("add_bias"), i[1]));
  EXPECT_THAT(ExtentsOf("add_bias"), ElementsAre(3, 4, 20));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, RunsIteratorsThatTheProducerLacksInFull) {
  Start(OneInput({4, 6}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor sum = ReduceAxes(b, "sum", x, {1}, Reduction::kSum, true);
    return b.Compute("z", {4, 6}, [&](const auto& i) { return x(i[0], i[1]) / sum(i[0], 0); });
  }));
  Must(ReverseComputeAt(program_, BlockNamed("z"), LoopOf("sum", 0)));
  EXPECT_THAT(ExtentsOf("z"), ElementsAre(4, 1, 6));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, FollowsPermutations) {
  Start(OneInput({4, 6}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    return b.Compute("z", {6, 4}, [&](const auto& i) { return y(i[1], i[0]) + 1; });
  }));
  Must(ReverseComputeAt(program_, BlockNamed("z"), LoopOf("y", 0)));
  EXPECT_THAT(ExtentsOf("z"), ElementsAre(4, 6, 1));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, WorksOnFusedAndParallelLoops) {
  Start(FindWorkload("matmul_bias"));
  Must(ReverseComputeInline(program_, BlockNamed("relu")));
  const std::vector<LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  const LoopId fused = Must(Fuse(program_, std::vector{loops[0], loops[1]}));
  Must(Parallelize(program_, fused));
  Must(ReverseComputeAt(program_, BlockNamed("add_bias"), fused));
  Must(DecomposeReduction(program_, BlockNamed("matmul"), loops[2]));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, MovesAResidualToItsConvolution) {
  Start(FindWorkload("conv2d_residual"));
  Must(ReverseComputeInline(program_, BlockNamed("relu")));
  Must(ReverseComputeInline(program_, BlockNamed("add_residual")));
  Must(ReverseComputeAt(program_, BlockNamed("add_bias"), LoopOf("conv", 2)));
  ExpectSameResult();
}

TEST_F(ReverseComputeAtTest, Refuses) {
  Start(FindWorkload("matmul_bias"));
  const std::vector<LoopId> loops = TileMatmul(program_, BlockNamed("matmul"));
  const BlockId bias = BlockNamed("add_bias");
  ExpectRefused("it reduces over a loop further out", ReverseComputeAtOf(bias, loops[2]));
  ExpectRefused("it reduces over a loop further out", ReverseComputeAtOf(bias, loops[4]));
  ExpectRefused("reads nothing that is computed under loop",
                ReverseComputeAtOf(bias, LoopOf("relu", 0)));
  ExpectRefused("part of a reduction", ReverseComputeAtOf(BlockNamed("matmul"), loops[0]));
  ExpectRefused("there is no loop", ReverseComputeAtOf(bias, -1));
  ExpectRefused("there is no block", ReverseComputeAtOf(90, loops[0]));
  Must(Vectorize(program_, loops[4]));
  ExpectRefused("is vectorized", ReverseComputeAtOf(bias, loops[4]));
}

TEST_F(ReverseComputeAtTest, RefusesWindowsAndParts) {
  Start(Stencil(18));
  ExpectRefused("something else than its own iterators",
                ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
  Start(OneInput({8}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    return b.Compute("z", {5}, [&](const auto& i) { return y(i[0]); });
  }));
  ExpectRefused("reads only a part of y", ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

TEST_F(ReverseComputeAtTest, RefusesProducersThatComputeElementsTwice) {
  Start(OneInput({18}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    const Tensor z = b.Compute("z", {16}, [&](const auto& i) { return y(i[0]) + y(i[0] + 2); });
    const Tensor w = Map(b, "w", y, [](Expr e) { return e + 1; });
    return b.Compute("out", {16}, [&](const auto& i) { return w(i[0]) * z(i[0]); });
  }));
  Must(ReverseComputeAt(program_, BlockNamed("w"), LoopOf("y", 0)));
  ExpectSameResult();
  Start(OneInput({18}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    const Tensor w = Map(b, "w", y, [](Expr e) { return e + 1; });
    return b.Compute("out", {16}, [&](const auto& i) { return w(i[0]) * w(i[0] + 2); });
  }));
  MustSplit(LoopOf("out", 0), {4, 4});
  const LoopId tile = LoopOf("out", 0);
  Must(ComputeAt(program_, BlockNamed("w"), tile));
  Must(ComputeAt(program_, BlockNamed("y"), tile));
  ExpectRefused("does not write each element of y just once",
                ReverseComputeAtOf(BlockNamed("w"), LoopOf("y", 1)));
}

TEST_F(ReverseComputeAtTest, NeedsTheOtherInputs) {
  Start(OneInput({4, 6}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    const Tensor sum = ReduceAxes(b, "sum", y, {0, 1}, Reduction::kSum, true);
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) / sum(0, 0); });
  }));
  ExpectRefused("before sum has computed it", ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

TEST_F(ReverseComputeAtTest, MovesInwardsOnly) {
  Start(TwoStages({4, 6}));
  const std::vector<LoopId> y = LoopsOf("y");
  Must(ReverseComputeAt(program_, BlockNamed("z"), y[1]));
  ExpectSameResult();
  ExpectRefused("cannot leave the loop that y", ReverseComputeAtOf(BlockNamed("z"), y[0]));
}

TEST_F(ReverseComputeAtTest, RefusesRewrittenLayouts) {
  Start(OneInput({4, 6}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor c = b.Constant("c", {6, 4});
    const Tensor y = Map(b, "y", x, [](Expr e) { return e * 2; });
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) * c(i[1], i[0]); });
  }));
  MustSplit(LoopOf("z", 1), {2, 3});
  MustSplit(LoopOf("z", 0), {2, 2});
  Must(RewriteLayout(program_, BufferNamed("c")));
  ExpectRefused("follows the rewritten layout of c",
                ReverseComputeAtOf(BlockNamed("z"), LoopOf("y", 0)));
}

}  // namespace
}  // namespace bayloom::testing
