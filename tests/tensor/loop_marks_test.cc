#include "bayloom/tensor/access.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using LoopMarksTest = PrimitiveTest;

TEST_F(LoopMarksTest, ParallelizeMarksALoopWithoutReduction) {
  Start(MatmulWorkload(4, 5, 6));
  Must(Parallelize(program_, LoopOf("matmul", 0)));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 0)].kind, LoopKind::kParallel);
  ExpectSameResult();
}

TEST_F(LoopMarksTest, ParallelizeRefuses) {
  Start(MatmulWorkload(4, 5, 6));
  const std::vector<LoopId> loops = LoopsOf("matmul");
  const auto parallelize = [](LoopId loop) {
    return [loop](Program& p) { return Parallelize(p, loop); };
  };
  ExpectRefused("reduces over the loop", parallelize(loops[2]));
  Must(Parallelize(program_, loops[1]));
  ExpectRefused("no longer serial", parallelize(loops[1]));
  ExpectRefused("a loop inside it is already", parallelize(loops[0]));
  Start(MatmulWorkload(4, 5, 6));
  Must(Parallelize(program_, LoopOf("matmul", 0)));
  ExpectRefused("a loop around it is parallel already", parallelize(LoopOf("matmul", 1)));
}

TEST_F(LoopMarksTest, ParallelizeRefusesSharedWrites) {
  // y is needed before z's loop runs: its nest writes what several iterations read.
  Start(Stencil(18));
  const LoopId outer = MustSplit(LoopOf("z", 0), {4, 4})[0];
  Must(ComputeAt(program_, BlockNamed("y"), outer));
  Must(Parallelize(program_, outer));  // every iteration has its own part of y
  ExpectSameResult();
}

TEST_F(LoopMarksTest, VectorizeMarksAnInnermostLoop) {
  Start(MatmulWorkload(4, 8, 6));
  const std::vector<LoopId> loops = LoopsOf("matmul");
  Must(Reorder(program_, std::vector{loops[2], loops[1]}));
  const std::vector<LoopId> j = MustSplit(loops[1], {2, 4});
  Must(Vectorize(program_, j[1]));
  Must(Vectorize(program_, j[0]));  // around vectorized loops only
  ExpectSameResult();
}

TEST_F(LoopMarksTest, VectorizeRefuses) {
  Start(MatmulWorkload(4, 5, 6));
  const std::vector<LoopId> loops = LoopsOf("matmul");
  const auto vectorize = [](LoopId loop) {
    return [loop](Program& p) { return Vectorize(p, loop); };
  };
  ExpectRefused("contains a loop that is not vectorized", vectorize(loops[1]));
  ExpectRefused("reduces over the loop", vectorize(loops[2]));
  Must(Unroll(program_, loops[2]));
  ExpectRefused("no longer serial", vectorize(loops[2]));
}

TEST_F(LoopMarksTest, UnrollMarksAnySerialLoop) {
  Start(MatmulWorkload(4, 5, 6));
  Must(Unroll(program_, LoopOf("matmul", 2)));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 2)].kind, LoopKind::kUnrolled);
  ExpectSameResult();
  ExpectRefused("no longer serial", [&](Program& p) { return Unroll(p, LoopOf("matmul", 2)); });
}

TEST_F(LoopMarksTest, AnnotateUnrollNeedsSteps) {
  Start(MatmulWorkload(4, 5, 6));
  Must(AnnotateUnroll(program_, LoopOf("matmul", 0), 16));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 0)].unroll_max_step, 16);
  ExpectRefused("within -1 steps",
                [&](Program& p) { return AnnotateUnroll(p, LoopOf("matmul", 0), -1); });
  ExpectRefused("there is no loop", [](Program& p) { return AnnotateUnroll(p, 77, 1); });
}

TEST_F(LoopMarksTest, BindGivesALoopToAnAcceleratorIndex) {
  Start(MatmulWorkload(4, 5, 6));
  const std::vector<LoopId> loops = LoopsOf("matmul");
  Must(Bind(program_, loops[0], LoopKind::kBlockX));
  EXPECT_EQ(program_.loops[loops[0]].kind, LoopKind::kBlockX);
  const auto bind = [](LoopId loop, LoopKind kind) {
    return [=](Program& p) { return Bind(p, loop, kind); };
  };
  ExpectRefused("has the same index", bind(loops[1], LoopKind::kBlockX));
  ExpectRefused("block index, a thread index", bind(loops[1], LoopKind::kParallel));
  ExpectRefused("reduces over the loop", bind(loops[2], LoopKind::kThreadX));
  ExpectRefused("no longer serial", bind(loops[0], LoopKind::kThreadX));
  Must(Bind(program_, loops[1], LoopKind::kThreadX));
  ExpectSameResult();
}

TEST_F(LoopMarksTest, AnnotateKeepsWishes) {
  Start(MatmulWorkload(4, 5, 6));
  Must(Annotate(program_, BlockNamed("matmul"), "parallel", 16));
  Must(Annotate(program_, BlockNamed("matmul"), "parallel", 32));
  EXPECT_EQ(At("matmul").annotations.at("parallel"), 32);
  ExpectRefused("there is no block", [](Program& p) { return Annotate(p, 9, "parallel", 1); });
}

TEST_F(LoopMarksTest, SetScopeMovesIntermediatesOnly) {
  Start(TwoStages({4, 6}));
  Must(SetScope(program_, BufferNamed("y"), StorageScope::kLocal));
  EXPECT_EQ(program_.buffers[BufferNamed("y")].scope, StorageScope::kLocal);
  ExpectRefused("belongs to the caller",
                [&](Program& p) { return SetScope(p, BufferNamed("x"), StorageScope::kShared); });
  ExpectRefused("there is no buffer",
                [](Program& p) { return SetScope(p, 17, StorageScope::kShared); });
  Must(SetScope(program_, BufferNamed("x"), StorageScope::kGlobal));
}

}  // namespace
}  // namespace bayloom::testing
