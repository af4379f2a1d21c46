// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/schedule.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using tensor::LoopKind;
using tensor::StorageScope;

class AcceleratorMarksTest : public PrimitiveTest {
 protected:
  /// For types without a default.
  template <typename T>
  static T Get(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }
  static auto Binding(tensor::LoopId loop, LoopKind kind, int64_t threads = 0) {
    return [=](tensor::Program& p) { return tensor::Bind(p, loop, kind, threads); };
  }
};

/// i is split over 2 blocks of 3 threads, k in steps of 4; the left operand is staged in shared
/// memory.
class SharedStageTest : public AcceleratorMarksTest {
 protected:
  void SetUp() override {
    Start(tensor::MatmulWorkload(12, 5, 8));
    const std::vector<tensor::LoopId> i = MustSplit(LoopOf("matmul", 0), {2, 3, 2});
    const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 4), {2, 4});
    const std::vector<tensor::LoopId> all = LoopsOf("matmul");
    Must(tensor::Reorder(program_, std::vector{i[0], i[1], k[0], i[2], all[3], k[1]}));
    Must(tensor::Bind(program_, i[0], LoopKind::kBlockX));
    Must(tensor::Bind(program_, i[1], LoopKind::kThreadX));
    stage_ = Must(
        tensor::CacheRead(program_, BlockNamed("matmul"), BufferNamed("a"), StorageScope::kShared));
    Must(tensor::ComputeAt(program_, stage_, k[0]));
  }

  tensor::LoopId OwnLoop(size_t i) const {
    const std::vector<tensor::LoopId> loops = LoopsOf("a.shared");
    return loops[3 + i];
  }

  tensor::BlockId stage_ = -1;
};

TEST_F(SharedStageTest, SharedMemoryHoldsWhatAllThreadsOfABlockNeed) {
  const tensor::BufferId shared = BufferNamed("a.shared");
  EXPECT_EQ(tensor::AllocationOf(program_, shared).shape, (std::vector<int64_t>{6, 4}));
  EXPECT_THAT(ExtentsOf("a.shared"), ElementsAre(2, 3, 2, 6, 4));
  ExpectSameResult();
  Must(tensor::SetScope(program_, shared, StorageScope::kLocal));
  // Seen by one thread, the copy and its reader do not agree on the rows.
  EXPECT_EQ(tensor::AllocationOf(program_, shared).shape, (std::vector<int64_t>{12, 4}));
}

TEST_F(SharedStageTest, ACooperativeLoopFillsSharedMemory) {
  const uint64_t before = program_.StructuralHash();
  const tensor::LoopId copy = Must(tensor::Fuse(program_, std::vector{OwnLoop(0), OwnLoop(1)}));
  Must(tensor::Bind(program_, copy, LoopKind::kCooperative));
  EXPECT_NE(program_.StructuralHash(), before);
  EXPECT_THAT(tensor::Print(program_), ::testing::HasSubstr("cooperative for"));
  ExpectSameResult();
}

TEST_F(SharedStageTest, WhatEachThreadDoesForItselfIsNotCooperative) {
  ExpectRefused("does not fill shared memory",
                Binding(LoopsOf("matmul")[3], LoopKind::kCooperative));
  Must(tensor::SetScope(program_, BufferNamed("a.shared"), StorageScope::kLocal));
  ExpectRefused("does not fill shared memory", Binding(OwnLoop(0), LoopKind::kCooperative));
}

TEST_F(AcceleratorMarksTest, ACopyOfWhatAThreadComputesIsNotCooperative) {
  Start(TwoStages({6, 10}));
  Must(tensor::Bind(program_, LoopOf("z", 0), LoopKind::kThreadX));
  const tensor::BlockId copy =
      Must(tensor::CacheRead(program_, BlockNamed("z"), BufferNamed("y"), StorageScope::kShared));
  Must(tensor::ComputeAt(program_, copy, LoopOf("z", 0)));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  ExpectRefused("which each thread computes for itself",
                Binding(LoopOf("y.shared", 1), LoopKind::kCooperative));
}

TEST_F(AcceleratorMarksTest, CooperativeLoopsOutsideOfThreadsOnlyNeedToBeParallel) {
  Start(TwoStages({6, 10}));
  Must(tensor::Bind(program_, LoopOf("z", 0), LoopKind::kBlockX));
  Must(tensor::Bind(program_, LoopOf("z", 1), LoopKind::kCooperative, 32));
  EXPECT_EQ(program_.loops[LoopOf("z", 1)].threads, 32);
  ExpectSameResult();
  Start(tensor::MatmulWorkload(4, 5, 6));
  ExpectRefused("reduces over the loop", Binding(LoopOf("matmul", 2), LoopKind::kCooperative));
}

TEST_F(AcceleratorMarksTest, AGridTakesTheOutermostLoop) {
  Start(TwoStages({6, 10}));
  ExpectRefused("only the outermost loop", Binding(LoopOf("z", 1), LoopKind::kGridThread));
  Must(tensor::Bind(program_, LoopOf("z", 1), LoopKind::kCooperative));
  ExpectRefused("a cooperative loop cannot be in a grid_thread loop",
                Binding(LoopOf("z", 0), LoopKind::kGridThread));
  Must(tensor::Bind(program_, LoopOf("y", 0), LoopKind::kGridThread, 64));
  ExpectRefused("a cooperative loop cannot be in a grid_thread loop",
                Binding(LoopOf("y", 1), LoopKind::kCooperative));
  ExpectSameResult();
}

TEST_F(AcceleratorMarksTest, ThreadsShareAReduction) {
  Start(tensor::MatmulWorkload(4, 5, 12));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {6, 2});
  Must(tensor::Bind(program_, k[0], LoopKind::kThreadReduce, 4));
  EXPECT_THAT(tensor::Print(program_), ::testing::HasSubstr("by 4 threads"));
  ExpectSameResult();
}

TEST_F(AcceleratorMarksTest, OnlyReductionsAreSharedAsSuch) {
  Start(tensor::MatmulWorkload(4, 5, 12));
  const tensor::LoopId i = LoopOf("matmul", 0), k = LoopOf("matmul", 2);
  ExpectRefused("does not reduce over all loops", Binding(i, LoopKind::kThreadReduce));
  Must(tensor::Reorder(program_, std::vector{k, i}));
  ExpectRefused("does not reduce over all loops", Binding(k, LoopKind::kThreadReduce));
  Start(TwoStages({6, 10}));
  ExpectRefused("does not reduce", Binding(LoopOf("z", 1), LoopKind::kThreadReduce));
}

TEST_F(AcceleratorMarksTest, ThreadNumbersAreChecked) {
  Start(tensor::MatmulWorkload(4, 5, 12));
  const tensor::LoopId i = LoopOf("matmul", 0), k = LoopOf("matmul", 2);
  ExpectRefused("a power of two or a multiple of 32", Binding(k, LoopKind::kThreadReduce, 6));
  ExpectRefused("a block has 1 to 1024", Binding(i, LoopKind::kCooperative, 2048));
  ExpectRefused("a block has 1 to 1024", Binding(i, LoopKind::kCooperative, -1));
  ExpectRefused("the extent of the loop says", Binding(i, LoopKind::kThreadX, 4));
  Must(tensor::Bind(program_, k, LoopKind::kThreadReduce, 96));
}

TEST_F(AcceleratorMarksTest, TracesKeepMarksAndThreadNumbers) {
  const tensor::Workload workload = tensor::MatmulWorkload(4, 5, 12);
  tensor::Schedule s(workload, 1);
  const tensor::BlockVar block = Must(s.GetBlock("matmul"));
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(block));
  const tensor::ValueVar threads = Must(s.SampleCategorical({2, 4, 8}, {0.3, 0.3, 0.4}));
  Must(s.Bind(loops[2], LoopKind::kThreadReduce, threads));
  const tensor::Trace trace = Must(tensor::Trace::FromJson(s.trace().ToJson()));
  const tensor::Schedule again = Get(tensor::Replay(workload, trace, base::RandomStream(5)));
  EXPECT_EQ(again.program().StructuralHash(), s.program().StructuralHash());
  EXPECT_EQ(again.program().loops[again.Get(loops[2])].threads, s.Get(threads));
  const tensor::Trace other = trace.WithDecision(trace.SamplingSteps()[0], {{0}});
  const tensor::Schedule two = Get(tensor::Replay(workload, other, base::RandomStream(5)));
  EXPECT_EQ(two.program().loops[two.Get(loops[2])].threads, 2);
}

}  // namespace
}  // namespace bayloom::testing
