// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/access.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

class RewriteLayoutTest : public PrimitiveTest {
 protected:
  const std::vector<tensor::LayoutAxis>& LayoutOf(const std::string& buffer) {
    return program_.buffers[BufferNamed(buffer)].layout;
  }
  auto RewriteLayoutOf(const std::string& buffer) {
    return [id = BufferNamed(buffer)](tensor::Program& p) { return tensor::RewriteLayout(p, id); };
  }
  /// Loops j0 k0 i k1 j1.
  void TileMatmul() {
    const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
    const std::vector<tensor::LoopId> j = MustSplit(loops[1], {2, 16});
    const std::vector<tensor::LoopId> k = MustSplit(loops[2], {6, 4});
    Must(tensor::Reorder(program_, std::vector{j[0], k[0], loops[0], k[1], j[1]}));
  }
  void ExpectEveryAccessHasAnAddress() {
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      for (const tensor::Access& access : tensor::AccessesOf(program_, block)) {
        EXPECT_TRUE(tensor::LinearOffset(program_, access, nullptr)) << program_.blocks[block].name;
      }
    }
  }
};

TEST_F(RewriteLayoutTest, OrdersAConstantByTheReadersLoops) {
  Start(tensor::MatmulWorkload(4, 32, 24));  // w is k x j
  TileMatmul();
  Must(tensor::RewriteLayout(program_, BufferNamed("w")));
  EXPECT_THAT(LayoutOf("w"), ElementsAre(tensor::LayoutAxis{1, 16, 2}, tensor::LayoutAxis{0, 1, 24},
                                         tensor::LayoutAxis{1, 1, 16}));
  ExpectEveryAccessHasAnAddress();
  ExpectSameResult();
}

TEST_F(RewriteLayoutTest, KeepsTheContiguousPieceInnermost) {
  Start(tensor::MatmulWorkload(4, 32, 24));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const std::vector<tensor::LoopId> j = MustSplit(loops[1], {4, 2, 4});
  Must(tensor::Reorder(program_, std::vector{j[2], j[1], loops[2], j[0]}));
  Must(tensor::RewriteLayout(program_, BufferNamed("w")));
  EXPECT_THAT(LayoutOf("w"), ElementsAre(tensor::LayoutAxis{1, 4, 2}, tensor::LayoutAxis{0, 1, 24},
                                         tensor::LayoutAxis{1, 8, 4}, tensor::LayoutAxis{1, 1, 4}));
}

TEST_F(RewriteLayoutTest, ReordersAndRebuildsACopy) {
  Start(tensor::MatmulWorkload(8, 32, 24));
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("w"), tensor::StorageScope::kGlobal));
  TileMatmul();
  Must(tensor::RewriteLayout(program_, BufferNamed("w.global")));
  EXPECT_THAT(LayoutOf("w.global"),
              ElementsAre(tensor::LayoutAxis{1, 16, 2}, tensor::LayoutAxis{0, 1, 24},
                          tensor::LayoutAxis{1, 1, 16}));
  EXPECT_THAT(ExtentsOf("w.global"), ElementsAre(2, 24, 16));  // in the order of memory
  EXPECT_TRUE(program_.blocks[copy].alive);
  ExpectEveryAccessHasAnAddress();
  ExpectSameResult();
}

TEST_F(RewriteLayoutTest, RebuildsACopyUnderALoopOfItsReader) {
  Start(tensor::MatmulWorkload(8, 32, 24));
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("w"), tensor::StorageScope::kGlobal));
  TileMatmul();
  Must(tensor::ComputeAt(program_, copy, LoopOf("matmul", 0)));
  Must(tensor::RewriteLayout(program_, BufferNamed("w.global")));
  EXPECT_THAT(ExtentsOf("w.global"), ElementsAre(2, 24, 16));
  EXPECT_EQ(LoopOf("w.global", 0), LoopOf("matmul", 0));
  ExpectEveryAccessHasAnAddress();
  ExpectSameResult();
}

TEST_F(RewriteLayoutTest, CutsACopyWhereALoopAroundItLiesBetweenItsPieces) {
  Start(FindWorkload("matmul_int8"));  // w is k x j, 20 x 8
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("w"), tensor::StorageScope::kLocal));
  Must(tensor::ComputeAt(program_, copy, LoopOf("matmul", 1)));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {5, 4});
  Must(tensor::Tensorize(program_, k[1]));
  Must(tensor::RewriteLayout(program_, BufferNamed("w.local")));
  EXPECT_THAT(LayoutOf("w.local"),
              ElementsAre(tensor::LayoutAxis{0, 4, 5}, tensor::LayoutAxis{1, 1, 8},
                          tensor::LayoutAxis{0, 1, 4}));
  EXPECT_THAT(ExtentsOf("w.local"), ElementsAre(11, 8, 5, 4));
  ExpectEveryAccessHasAnAddress();
  ExpectSameResult();
}

TEST_F(RewriteLayoutTest, LeavesRowMajorOrderAlone) {
  Start(tensor::MatmulWorkload(4, 32, 24));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[1]}));
  MustSplit(loops[1], {2, 16});
  Must(tensor::RewriteLayout(program_, BufferNamed("w")));
  EXPECT_TRUE(LayoutOf("w").empty());
}

TEST_F(RewriteLayoutTest, Refuses) {
  Start(FindWorkload("conv2d_pad"));
  ExpectRefused("neither a constant nor a cache", RewriteLayoutOf("x"));
  ExpectRefused("neither a constant nor a cache", RewriteLayoutOf("conv_pad"));
  ExpectRefused("there is no buffer",
                [](tensor::Program& p) { return tensor::RewriteLayout(p, -1); });
  Must(tensor::CacheRead(program_, BlockNamed("conv"), BufferNamed("conv_pad"),
                         tensor::StorageScope::kGlobal));
  ExpectRefused("digit by digit", RewriteLayoutOf("conv_pad.global"));  // windows overlap
  Start(tensor::MatmulWorkload(4, 32, 24));
  TileMatmul();
  Must(tensor::RewriteLayout(program_, BufferNamed("w")));
  ExpectRefused("rewritten already", RewriteLayoutOf("w"));
}

TEST_F(RewriteLayoutTest, RefusesSeveralReaders) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor c = b.Constant("c", {6, 4}), d = b.Constant("d", {6, 6});
    const tensor::Tensor e = b.Constant("e", {8, 8});
    const tensor::Tensor y = b.Compute("y", {4, 6}, [&](const auto& i) {
      return x(i[0], i[1]) * c(i[1], i[0]) * d(i[1], 0) * d(0, i[1]);
    });
    return b.Compute("z", {4, 6}, [&](const auto& i) {
      return y(i[0], i[1]) * c(i[1], i[0]) * e(tensor::FloorMod(i[0], 8), i[1]);
    });
  }));
  ExpectRefused("2 blocks read c", RewriteLayoutOf("c"));
  ExpectRefused("d is read at several places", RewriteLayoutOf("d"));
}

TEST_F(RewriteLayoutTest, LeavesGathersAsTheyAre) {
  Start(OneInput({4}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor table = b.Constant("table", {20});
    const tensor::Tensor rows = b.Input("rows", {4}, tensor::DType::kInt64);
    return b.Compute(
        "z", {4}, [&](const auto& i) { return x(i[0]) * table(tensor::FloorMod(rows(i[0]), 20)); });
  }));
  Must(tensor::RewriteLayout(program_, BufferNamed("table")));
  EXPECT_TRUE(LayoutOf("table").empty());
}

/// The dimension in which data says where to read is the slowest one; the others are cut.
TEST_F(RewriteLayoutTest, CutsWhatIsChosenByData) {
  Start(OneInput({4, 8}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor weights = b.Constant("weights", {3, 8, 6});
    const tensor::Tensor chosen = b.Input("chosen", {4}, tensor::DType::kInt64);
    return b.Reduce("z", {4, 6}, {{"k", 8}}, tensor::Reduction::kSum,
                    [&](const auto& i, const auto& k) {
                      return x(i[0], k[0]) * weights(tensor::FloorMod(chosen(i[0]), 3), k[0], i[1]);
                    });
  }));
  const std::vector<tensor::LoopId> loops = LoopsOf("z");
  const std::vector<tensor::LoopId> n = MustSplit(loops[1], {3, 2});
  Must(tensor::Reorder(program_, std::vector{n[0], loops[2], n[1]}));
  Must(tensor::RewriteLayout(program_, BufferNamed("weights")));
  EXPECT_THAT(LayoutOf("weights"),
              ElementsAre(tensor::LayoutAxis{0, 1, 3}, tensor::LayoutAxis{2, 2, 3},
                          tensor::LayoutAxis{1, 1, 8}, tensor::LayoutAxis{2, 1, 2}));
  ExpectSameResult();
}

TEST_F(RewriteLayoutTest, RefusesACopyWhoseNestOthersUse) {
  Start(tensor::MatmulWorkload(8, 32, 24));
  const tensor::BlockId matmul = BlockNamed("matmul");
  const tensor::BlockId inner =
      Must(tensor::CacheRead(program_, matmul, BufferNamed("w"), tensor::StorageScope::kGlobal));
  const tensor::BlockId outer =
      Must(tensor::CacheRead(program_, inner, BufferNamed("w"), tensor::StorageScope::kGlobal));
  TileMatmul();
  Must(tensor::ComputeAt(program_, outer, LoopOf("w.global", 0)));
  ExpectRefused("other blocks are computed in it", RewriteLayoutOf("w.global"));
}

}  // namespace
}  // namespace bayloom::testing
