#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using CacheTest = PrimitiveTest;

TEST_F(CacheTest, CacheReadCopiesTheWholeBufferAtTheRoot) {
  Start(MatmulWorkload(4, 6, 8));
  const BlockId copy =
      Must(CacheRead(program_, BlockNamed("matmul"), BufferNamed("a"), StorageScope::kLocal));
  EXPECT_EQ(program_.blocks[copy].name, "a.local");
  const Buffer& cache = program_.buffers[BufferNamed("a.local")];
  EXPECT_EQ(cache.role, BufferRole::kIntermediate);
  EXPECT_EQ(cache.scope, StorageScope::kLocal);
  EXPECT_THAT(cache.shape, ElementsAre(4, 8));
  EXPECT_EQ(program_.roots.size(), 2u);
  EXPECT_FALSE(Loads(At("matmul").value, BufferNamed("a")));
  ExpectSameResult();
  Must(ComputeAt(program_, copy, LoopOf("matmul", 0)));
  EXPECT_THAT(ExtentsOf("a.local"), ElementsAre(4, 1, 8));
  ExpectSameResult();
}

TEST_F(CacheTest, CachesOfCachesGetNamesOfTheirOwn) {
  Start(MatmulWorkload(4, 6, 8));
  const BlockId matmul = BlockNamed("matmul");
  Must(CacheRead(program_, matmul, BufferNamed("a"), StorageScope::kShared));
  Must(CacheRead(program_, matmul, BufferNamed("a.shared"), StorageScope::kLocal));
  const BlockId first = BlockNamed("a.shared");
  Must(CacheRead(program_, first, BufferNamed("a"), StorageScope::kShared));
  EXPECT_GE(program_.FindBlock("a.shared_1"), 0);
  EXPECT_GE(program_.FindBlock("a.shared.local"), 0);
  ExpectSameResult();
}

TEST_F(CacheTest, CacheReadServesGuardedReads) {
  Start(FindWorkload("conv2d_pad"));
  Must(CacheRead(program_, BlockNamed("conv_pad"), BufferNamed("x"), StorageScope::kGlobal));
  Must(ComputeInline(program_, BlockNamed("conv_pad")));
  ExpectSameResult();
}

TEST_F(CacheTest, CacheReadRefuses) {
  Start(TwoStages({8}));
  const auto cache = [](BlockId block, BufferId buffer) {
    return [=](Program& p) { return CacheRead(p, block, buffer, StorageScope::kLocal); };
  };
  ExpectRefused("does not read buffer", cache(BlockNamed("z"), BufferNamed("x")));
  ExpectRefused("does not read buffer", cache(BlockNamed("z"), 44));
  ExpectRefused("there is no block", cache(44, BufferNamed("x")));
  Must(ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  ExpectRefused("would be read before y has computed it", cache(BlockNamed("z"), BufferNamed("y")));
}

TEST_F(CacheTest, CacheReadRefusesRewrittenLayouts) {
  Start(MatmulWorkload(4, 6, 8));
  const BlockId matmul = BlockNamed("matmul");
  const BufferId w = BufferNamed("w");
  MustSplit(LoopOf("matmul", 1), {3, 2});
  Must(RewriteLayout(program_, w));
  ASSERT_FALSE(program_.buffers[w].layout.empty());
  ExpectRefused("the layout of w is rewritten already",
                [=](Program& p) { return CacheRead(p, matmul, w, StorageScope::kLocal); });
}

TEST_F(CacheTest, CacheWriteCopiesBack) {
  Start(MatmulWorkload(4, 6, 8));
  const BlockId copy = Must(CacheWrite(program_, BlockNamed("matmul"), StorageScope::kLocal));
  EXPECT_EQ(program_.buffers[At("matmul").output].name, "matmul.local");
  EXPECT_EQ(program_.blocks[copy].output, BufferNamed("matmul"));
  ExpectSameResult();
  MustSplit(LoopOf("matmul", 0), {2, 2});
  Must(ReverseComputeAt(program_, copy, LoopOf("matmul", 0)));
  EXPECT_THAT(ExtentsOf("matmul.copy"), ElementsAre(2, 2, 6));
  ExpectSameResult();
}

TEST_F(CacheTest, CacheWriteStaysWithItsReaders) {
  Start(Stencil(18));
  MustSplit(LoopOf("z", 0), {4, 4});
  Must(ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  Must(CacheWrite(program_, BlockNamed("y"), StorageScope::kLocal));
  EXPECT_THAT(ExtentsOf("y.copy"), ElementsAre(4, 6));
  EXPECT_EQ(program_.roots.size(), 1u);
  ExpectSameResult();
}

TEST_F(CacheTest, CacheWriteRefuses) {
  Start(MatmulWorkload(4, 6, 8));
  const BlockId matmul = BlockNamed("matmul");
  const BlockId init = Must(DecomposeReduction(program_, matmul, LoopOf("matmul", 2)));
  const auto cache = [](BlockId block) {
    return [=](Program& p) { return CacheWrite(p, block, StorageScope::kLocal); };
  };
  ExpectRefused("decomposed already", cache(matmul));
  ExpectRefused("decomposed already", cache(init));
  ExpectRefused("there is no block", cache(-3));
}

TEST_F(CacheTest, CacheWriteRefusesStridedParts) {
  Start(TwoStages({12}));
  const std::vector<LoopId> y = MustSplit(LoopOf("y", 0), {4, 3});
  Must(Reorder(program_, std::vector{y[1], y[0]}));
  Must(ReverseComputeAt(program_, BlockNamed("z"), y[1]));
  ExpectSameResult();
  ExpectRefused("is not a box",
                [&](Program& p) { return CacheWrite(p, BlockNamed("y"), StorageScope::kLocal); });
}

}  // namespace
}  // namespace bayloom::testing
