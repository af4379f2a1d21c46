// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using CacheTest = PrimitiveTest;

TEST_F(CacheTest, CacheReadCopiesTheWholeBufferAtTheRoot) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("a"), tensor::StorageScope::kLocal));
  EXPECT_EQ(program_.blocks[copy].name, "a.local");
  const tensor::Buffer& cache = program_.buffers[BufferNamed("a.local")];
  EXPECT_EQ(cache.role, tensor::BufferRole::kIntermediate);
  EXPECT_EQ(cache.scope, tensor::StorageScope::kLocal);
  EXPECT_THAT(cache.shape, ElementsAre(4, 8));
  EXPECT_EQ(program_.roots.size(), 2u);
  EXPECT_FALSE(tensor::Loads(At("matmul").value, BufferNamed("a")));
  ExpectSameResult();
  Must(tensor::ComputeAt(program_, copy, LoopOf("matmul", 0)));
  EXPECT_THAT(ExtentsOf("a.local"), ElementsAre(4, 1, 8));
  ExpectSameResult();
}

TEST_F(CacheTest, CachesOfCachesGetNamesOfTheirOwn) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId matmul = BlockNamed("matmul");
  Must(tensor::CacheRead(program_, matmul, BufferNamed("a"), tensor::StorageScope::kShared));
  Must(tensor::CacheRead(program_, matmul, BufferNamed("a.shared"), tensor::StorageScope::kLocal));
  const tensor::BlockId first = BlockNamed("a.shared");
  Must(tensor::CacheRead(program_, first, BufferNamed("a"), tensor::StorageScope::kShared));
  EXPECT_GE(program_.FindBlock("a.shared_1"), 0);
  EXPECT_GE(program_.FindBlock("a.shared.local"), 0);
  ExpectSameResult();
}

TEST_F(CacheTest, CacheReadServesGuardedReads) {
  Start(FindWorkload("conv2d_pad"));
  Must(tensor::CacheRead(program_, BlockNamed("conv_pad"), BufferNamed("x"),
                         tensor::StorageScope::kGlobal));
  Must(tensor::ComputeInline(program_, BlockNamed("conv_pad")));
  ExpectSameResult();
}

TEST_F(CacheTest, CacheReadRefuses) {
  Start(TwoStages({8}));
  const auto cache = [](tensor::BlockId block, tensor::BufferId buffer) {
    return [=](tensor::Program& p) {
      return tensor::CacheRead(p, block, buffer, tensor::StorageScope::kLocal);
    };
  };
  ExpectRefused("does not read buffer", cache(BlockNamed("z"), BufferNamed("x")));
  ExpectRefused("does not read buffer", cache(BlockNamed("z"), 44));
  ExpectRefused("there is no block", cache(44, BufferNamed("x")));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  ExpectRefused("would be read before y has computed it", cache(BlockNamed("z"), BufferNamed("y")));
}

TEST_F(CacheTest, CacheReadRefusesRewrittenLayouts) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId matmul = BlockNamed("matmul");
  const tensor::BufferId w = BufferNamed("w");
  MustSplit(LoopOf("matmul", 1), {3, 2});
  Must(tensor::RewriteLayout(program_, w));
  ASSERT_FALSE(program_.buffers[w].layout.empty());
  ExpectRefused("the layout of w is rewritten already", [=](tensor::Program& p) {
    return tensor::CacheRead(p, matmul, w, tensor::StorageScope::kLocal);
  });
}

TEST_F(CacheTest, CacheWriteCopiesBack) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId copy =
      Must(tensor::CacheWrite(program_, BlockNamed("matmul"), tensor::StorageScope::kLocal));
  EXPECT_EQ(program_.buffers[At("matmul").output].name, "matmul.local");
  EXPECT_EQ(program_.blocks[copy].output, BufferNamed("matmul"));
  ExpectSameResult();
  MustSplit(LoopOf("matmul", 0), {2, 2});
  Must(tensor::ReverseComputeAt(program_, copy, LoopOf("matmul", 0)));
  EXPECT_THAT(ExtentsOf("matmul.copy"), ElementsAre(2, 2, 6));
  ExpectSameResult();
}

TEST_F(CacheTest, CacheWriteStaysWithItsReaders) {
  Start(Stencil(18));
  MustSplit(LoopOf("z", 0), {4, 4});
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  Must(tensor::CacheWrite(program_, BlockNamed("y"), tensor::StorageScope::kLocal));
  EXPECT_THAT(ExtentsOf("y.copy"), ElementsAre(4, 6));
  EXPECT_EQ(program_.roots.size(), 1u);
  ExpectSameResult();
}

TEST_F(CacheTest, CacheWriteRefuses) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const tensor::BlockId matmul = BlockNamed("matmul");
  const tensor::BlockId init =
      Must(tensor::DecomposeReduction(program_, matmul, LoopOf("matmul", 2)));
  const auto cache = [](tensor::BlockId block) {
    return [=](tensor::Program& p) {
      return tensor::CacheWrite(p, block, tensor::StorageScope::kLocal);
    };
  };
  ExpectRefused("decomposed already", cache(matmul));
  ExpectRefused("decomposed already", cache(init));
  ExpectRefused("there is no block", cache(-3));
}

TEST_F(CacheTest, CacheWriteRefusesStridedParts) {
  Start(TwoStages({12}));
  const std::vector<tensor::LoopId> y = MustSplit(LoopOf("y", 0), {4, 3});
  Must(tensor::Reorder(program_, std::vector{y[1], y[0]}));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("z"), y[1]));
  ExpectSameResult();
  ExpectRefused("is not a box", [&](tensor::Program& p) {
    return tensor::CacheWrite(p, BlockNamed("y"), tensor::StorageScope::kLocal);
  });
}

}  // namespace
}  // namespace bayloom::testing
