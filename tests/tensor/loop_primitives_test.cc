// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/tree.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using LoopPrimitivesTest = PrimitiveTest;

// --- Split -----------------------------------------------------------------------------------

TEST_F(LoopPrimitivesTest, SplitMakesANestOutermostFirst) {
  Start(tensor::MatmulWorkload(12, 5, 7));
  MustSplit(LoopOf("matmul", 0), {3, 1, 4});
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(3, 1, 4, 5, 7));
  // i = 4 * outer + inner; the middle loop's digit is in no binding.
  EXPECT_EQ(At("matmul").bindings[0].terms.size(), 2u);
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, SplitInfersOneFactor) {
  Start(tensor::MatmulWorkload(12, 5, 7));
  MustSplit(LoopOf("matmul", 0), {2, -1, 3});
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(2, 2, 3, 5, 7));
}

TEST_F(LoopPrimitivesTest, SplitKeepsTheUnrollAnnotationOutermost) {
  Start(tensor::MatmulWorkload(12, 5, 7));
  Must(tensor::AnnotateUnroll(program_, LoopOf("matmul", 0), 64));
  const std::vector<tensor::LoopId> loops = MustSplit(LoopOf("matmul", 0), {3, 4});
  EXPECT_EQ(program_.loops[loops[0]].unroll_max_step, 64);
  EXPECT_EQ(program_.loops[loops[1]].unroll_max_step, 0);
}

TEST_F(LoopPrimitivesTest, SplitDealsTheDigitsOfAFusedLoop) {
  Start(TwoStages({4, 6}));
  const tensor::LoopId fused = Must(tensor::Fuse(program_, LoopsOf("y")));
  MustSplit(fused, {2, 6, 2});  // 4 x 6 = 2 x (2 x 3) x 2
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(2, 6, 2));
  ExpectSameResult();
}

// --- SplitOverlapping -------------------------------------------------------------------------

TEST_F(LoopPrimitivesTest, OverlappingTilesCoverTheExtentAtEqualSteps) {
  for (int64_t extent = 1; extent <= 200; ++extent) {
    for (int64_t tile = 1; tile <= extent; ++tile) {
      const std::optional<tensor::OverlappingTiles> tiles =
          tensor::FindOverlappingTiles(extent, tile);
      ASSERT_TRUE(tiles) << extent << ' ' << tile;
      EXPECT_EQ((tiles->count - 1) * tiles->step + tile, extent);
      EXPECT_LE(tiles->step, tile);
      const bool divides = extent % tile == 0;
      EXPECT_EQ(tiles->count * tile == extent, divides) << "overlap only where they must";
    }
  }
  EXPECT_EQ(tensor::FindOverlappingTiles(197, 50)->step, 49);
  EXPECT_FALSE(tensor::FindOverlappingTiles(8, 0));
  EXPECT_FALSE(tensor::FindOverlappingTiles(8, 9));
}

TEST_F(LoopPrimitivesTest, SplitOverlappingComputesSharedElementsInBothTiles) {
  Start(tensor::MatmulWorkload(13, 5, 7));
  const auto [tiles, within] = Must(tensor::SplitOverlapping(program_, LoopOf("matmul", 0), 5));
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(3, 5, 5, 7));  // rows 0, 4 and 8 begin tiles
  EXPECT_EQ(program_.ExtentOf(tiles), 3);
  EXPECT_EQ(program_.ExtentOf(within), 5);
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, NothingIsAddedTwiceInOverlappingTiles) {
  Start(tensor::MatmulWorkload(13, 5, 7));
  const auto overlapping = [](tensor::LoopId loop, int64_t tile) {
    return [loop, tile](tensor::Program& p) { return tensor::SplitOverlapping(p, loop, tile); };
  };
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  ExpectRefused("would add to an element twice", overlapping(loops[2], 5));
  ExpectRefused("between 1 and the extent", overlapping(loops[0], 14));
  ExpectRefused("between 1 and the extent", overlapping(loops[0], 0));
  const auto [tiles, within] = Must(tensor::SplitOverlapping(program_, loops[0], 5));
  ExpectRefused("computes elements of it again", [&](tensor::Program& p) {
    return tensor::Reorder(p, std::vector<tensor::LoopId>{loops[2], tiles});
  });
  ExpectRefused("write the same elements",
                [&](tensor::Program& p) { return tensor::Parallelize(p, tiles); });
  Must(tensor::Reorder(program_, std::vector<tensor::LoopId>{loops[2], within}));
  ExpectSameResult();
  Start(tensor::MatmulWorkload(13, 5, 7));
  Must(tensor::Reorder(program_,
                       std::vector<tensor::LoopId>{LoopOf("matmul", 2), LoopOf("matmul", 0)}));
  ExpectRefused("would add to an element twice", overlapping(LoopOf("matmul", 2), 5));
}

TEST_F(LoopPrimitivesTest, OverlappingTilesMayStoreTheSameAtTheSameTime) {
  Start(TwoStages({13, 6}));
  const auto [tiles, within] = Must(tensor::SplitOverlapping(program_, LoopOf("y", 0), 5));
  Must(tensor::Parallelize(program_, tiles));
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, SplitRefuses) {
  Start(TwoStages({4, 6}));
  const tensor::LoopId outer = LoopOf("y", 0);
  const auto split = [](tensor::LoopId loop, std::vector<int64_t> factors) {
    return [loop, factors](tensor::Program& p) { return tensor::Split(p, loop, factors); };
  };
  ExpectRefused("at least one factor", split(outer, {}));
  ExpectRefused("must multiply to the extent", split(outer, {2, 3}));
  ExpectRefused("must multiply to the extent", split(outer, {3, -1}));
  ExpectRefused("between 1 and the extent", split(outer, {0, 4}));
  ExpectRefused("between 1 and the extent", split(outer, {-1, -1}));
  ExpectRefused("between 1 and the extent", split(outer, {int64_t{1} << 62, int64_t{1} << 62}));
  ExpectRefused("there is no loop", split(99, {4}));
  ExpectRefused("there is no loop", split(-1, {4}));
  const tensor::LoopId fused = Must(tensor::Fuse(program_, LoopsOf("y")));
  ExpectRefused("was replaced", split(outer, {2, 2}));
  ExpectRefused("neither falls on a part nor divides it", split(fused, {6, 4}));
  Must(tensor::Parallelize(program_, fused));
  ExpectRefused("no longer serial", split(fused, {4, 6}));
}

// --- Fuse ------------------------------------------------------------------------------------

TEST_F(LoopPrimitivesTest, FuseConcatenatesDigits) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  Must(tensor::AnnotateUnroll(program_, LoopOf("matmul", 1), 8));
  const tensor::LoopId fused =
      Must(tensor::Fuse(program_, std::vector{LoopOf("matmul", 0), LoopOf("matmul", 1)}));
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(20, 6));
  EXPECT_EQ(program_.loops[fused].digits.size(), 2u);
  EXPECT_EQ(program_.loops[fused].unroll_max_step, 8);
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, FuseAndSplitBackIsTheSameProgram) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const uint64_t before = program_.StructuralHash();
  const tensor::LoopId fused =
      Must(tensor::Fuse(program_, std::vector{LoopOf("matmul", 0), LoopOf("matmul", 1)}));
  EXPECT_NE(program_.StructuralHash(), before);
  MustSplit(fused, {4, 5});
  EXPECT_EQ(program_.StructuralHash(), before);
}

TEST_F(LoopPrimitivesTest, FuseOfOneLoopIsThatLoop) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  EXPECT_EQ(Must(tensor::Fuse(program_, std::vector{LoopOf("matmul", 2)})), LoopOf("matmul", 2));
}

TEST_F(LoopPrimitivesTest, FuseIgnoresTheNatureOfUnitLoops) {
  Start(tensor::MatmulWorkload(4, 1, 6));
  Must(tensor::Fuse(program_, std::vector{LoopOf("matmul", 1), LoopOf("matmul", 2)}));
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(4, 6));
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, FuseRefuses) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const auto fuse = [](std::vector<tensor::LoopId> fused) {
    return [fused](tensor::Program& p) { return tensor::Fuse(p, fused); };
  };
  ExpectRefused("at least one loop", fuse({}));
  ExpectRefused("reduction loops with spatial ones", fuse({loops[1], loops[2]}));
  ExpectRefused("must be all that the first contains", fuse({loops[1], loops[0]}));
  ExpectRefused("must be all that the first contains", fuse({loops[0], loops[2]}));
  Must(tensor::Parallelize(program_, loops[0]));
  ExpectRefused("no longer serial", fuse({loops[0], loops[1]}));
}

// --- Reorder ---------------------------------------------------------------------------------

TEST_F(LoopPrimitivesTest, ReorderMovesNamedLoopsAndLeavesTheOthers) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[0]}));
  EXPECT_THAT(LoopsOf("matmul"), ElementsAre(loops[2], loops[1], loops[0]));
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, ReorderWorksUnderOtherLoops) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[1]}));
  EXPECT_THAT(LoopsOf("matmul"), ElementsAre(loops[0], loops[2], loops[1]));
  ExpectSameResult();
}

TEST_F(LoopPrimitivesTest, ReorderRefuses) {
  Start(tensor::MatmulWorkload(4, 8, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const auto reorder = [](std::vector<tensor::LoopId> order) {
    return [order](tensor::Program& p) { return tensor::Reorder(p, order); };
  };
  ExpectRefused("at least one loop", reorder({}));
  ExpectRefused("named twice", reorder({loops[0], loops[0]}));
  const std::vector<tensor::LoopId> j = MustSplit(loops[1], {2, 4});
  Must(tensor::Reorder(program_, std::vector{loops[2], j[1]}));
  Must(tensor::Vectorize(program_, j[1]));
  ExpectRefused("no longer be innermost", reorder({j[1], loops[2]}));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), loops[2]));
  ExpectRefused("not one chain", reorder({loops[2], loops[0]}));
}

TEST_F(LoopPrimitivesTest, ReorderRefusesToMixLoopsOfDifferentNests) {
  Start(TwoStages({4, 6}));
  ExpectRefused("not one chain", [&](tensor::Program& p) {
    return tensor::Reorder(p, std::vector{LoopOf("y", 0), LoopOf("z", 0)});
  });
}

TEST_F(LoopPrimitivesTest, ReorderKeepsReductionsInsideLoopsThatComputeElementsAgain) {
  Start(tensor::MatmulWorkload(4, 5, 6));
  // A loop around everything that says nothing: all is computed three times.
  const tensor::NodeRef root = program_.roots[0];
  const tensor::LoopId again = tensor::NewLoop(program_, {tensor::NewDigit(program_, 3)});
  tensor::ReplaceNode(program_, root, tensor::NodeRef::Loop(again));
  tensor::SetBody(program_, again, {root});
  ExpectSameResult();
  ExpectRefused("computes elements of it again", [&](tensor::Program& p) {
    return tensor::Reorder(p, std::vector{LoopOf("matmul", 3), again});
  });
  Must(tensor::Reorder(program_, std::vector{LoopOf("matmul", 2), again}));
  ExpectSameResult();
}

}  // namespace
}  // namespace bayloom::testing
