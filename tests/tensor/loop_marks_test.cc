// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/access.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using LoopMarksTest = PrimitiveTest;

TEST_F(LoopMarksTest, ParallelizeMarksALoopWithoutReduction) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::Parallelize(program_, LoopOf("matmul", 0)));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 0)].kind, tensor::LoopKind::kParallel);
  ExpectSameResult();
}

TEST_F(LoopMarksTest, ParallelizeRefuses) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const auto parallelize = [](tensor::LoopId loop) {
    return [loop](tensor::Program& p) { return tensor::Parallelize(p, loop); };
  };
  ExpectRefused("reduces over the loop", parallelize(loops[2]));
  Must(tensor::Parallelize(program_, loops[1]));
  ExpectRefused("no longer serial", parallelize(loops[1]));
  ExpectRefused("a loop inside it is already", parallelize(loops[0]));
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::Parallelize(program_, LoopOf("matmul", 0)));
  ExpectRefused("a loop around it is parallel already", parallelize(LoopOf("matmul", 1)));
}

TEST_F(LoopMarksTest, ParallelizeRefusesSharedWrites) {
  // y is needed before z's loop runs: its nest writes what several iterations read.
  Start(Stencil(18));
  const tensor::LoopId outer = MustSplit(LoopOf("z", 0), {4, 4})[0];
  Must(tensor::ComputeAt(program_, BlockNamed("y"), outer));
  Must(tensor::Parallelize(program_, outer));  // every iteration has its own part of y
  ExpectSameResult();
}

TEST_F(LoopMarksTest, VectorizeMarksAnInnermostLoop) {
  Start(tensor::MatmulWorkload(4, 8, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[1]}));
  const std::vector<tensor::LoopId> j = MustSplit(loops[1], {2, 4});
  Must(tensor::Vectorize(program_, j[1]));
  Must(tensor::Vectorize(program_, j[0]));  // around vectorized loops only
  ExpectSameResult();
}

TEST_F(LoopMarksTest, VectorizeRefuses) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const auto vectorize = [](tensor::LoopId loop) {
    return [loop](tensor::Program& p) { return tensor::Vectorize(p, loop); };
  };
  ExpectRefused("contains a loop that is not vectorized", vectorize(loops[1]));
  ExpectRefused("reduces over the loop", vectorize(loops[2]));
  Must(tensor::Unroll(program_, loops[2]));
  ExpectRefused("no longer serial", vectorize(loops[2]));
}

TEST_F(LoopMarksTest, UnrollMarksAnySerialLoop) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::Unroll(program_, LoopOf("matmul", 2)));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 2)].kind, tensor::LoopKind::kUnrolled);
  ExpectSameResult();
  ExpectRefused("no longer serial",
                [&](tensor::Program& p) { return tensor::Unroll(p, LoopOf("matmul", 2)); });
}

TEST_F(LoopMarksTest, AnnotateUnrollNeedsSteps) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::AnnotateUnroll(program_, LoopOf("matmul", 0), 16));
  EXPECT_EQ(program_.loops[LoopOf("matmul", 0)].unroll_max_step, 16);
  ExpectRefused("within -1 steps", [&](tensor::Program& p) {
    return tensor::AnnotateUnroll(p, LoopOf("matmul", 0), -1);
  });
  ExpectRefused("there is no loop",
                [](tensor::Program& p) { return tensor::AnnotateUnroll(p, 77, 1); });
}

TEST_F(LoopMarksTest, BindGivesALoopToAnAcceleratorIndex) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Bind(program_, loops[0], tensor::LoopKind::kBlockX));
  EXPECT_EQ(program_.loops[loops[0]].kind, tensor::LoopKind::kBlockX);
  const auto bind = [](tensor::LoopId loop, tensor::LoopKind kind) {
    return [=](tensor::Program& p) { return tensor::Bind(p, loop, kind); };
  };
  ExpectRefused("has the same index", bind(loops[1], tensor::LoopKind::kBlockX));
  ExpectRefused("block index, a thread index", bind(loops[1], tensor::LoopKind::kParallel));
  ExpectRefused("reduces over the loop", bind(loops[2], tensor::LoopKind::kThreadX));
  ExpectRefused("no longer serial", bind(loops[0], tensor::LoopKind::kThreadX));
  Must(tensor::Bind(program_, loops[1], tensor::LoopKind::kThreadX));
  ExpectSameResult();
}

TEST_F(LoopMarksTest, AnnotateKeepsWishes) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::Annotate(program_, BlockNamed("matmul"), "parallel", 16));
  Must(tensor::Annotate(program_, BlockNamed("matmul"), "parallel", 32));
  EXPECT_EQ(At("matmul").annotations.at("parallel"), 32);
  ExpectRefused("there is no block",
                [](tensor::Program& p) { return tensor::Annotate(p, 9, "parallel", 1); });
}

TEST_F(LoopMarksTest, SetScopeMovesIntermediatesOnly) {
  Start(TwoStages({4, 6}));
  Must(tensor::SetScope(program_, BufferNamed("y"), tensor::StorageScope::kLocal));
  EXPECT_EQ(program_.buffers[BufferNamed("y")].scope, tensor::StorageScope::kLocal);
  ExpectRefused("belongs to the caller", [&](tensor::Program& p) {
    return tensor::SetScope(p, BufferNamed("x"), tensor::StorageScope::kShared);
  });
  ExpectRefused("there is no buffer", [](tensor::Program& p) {
    return tensor::SetScope(p, 17, tensor::StorageScope::kShared);
  });
  Must(tensor::SetScope(program_, BufferNamed("x"), tensor::StorageScope::kGlobal));
}

}  // namespace
}  // namespace bayloom::testing
