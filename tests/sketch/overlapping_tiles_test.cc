// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/overlapping_tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(OverlappingTileSizes, AreForExtentsWithoutGoodDivisors) {
  for (int64_t extent : {1, 16, 49, 52, 56, 128, 1500}) {
    EXPECT_THAT(OverlappingTileSizes(extent), IsEmpty()) << extent;
  }
  for (int64_t extent : {19, 31, 197, 257, 577}) {
    EXPECT_THAT(OverlappingTileSizes(extent), Not(IsEmpty())) << extent;
  }
  EXPECT_THAT(OverlappingTileSizes(197), Contains(99)) << "two tiles that share a row";
  EXPECT_THAT(OverlappingTileSizes(197), Contains(50)) << "four tiles";
}

TEST(OverlappingTileSizes, WasteAtMostAnEighth) {
  for (int64_t extent = 17; extent < 1000; ++extent) {
    for (int64_t tile : OverlappingTileSizes(extent)) {
      const tensor::OverlappingTiles tiles = *tensor::FindOverlappingTiles(extent, tile);
      EXPECT_LE(8 * (tiles.count * tile - extent), extent) << extent << ' ' << tile;
    }
  }
}

TEST(OverlappingTileSizes, AreWhatProductsOfPrimeRowsAreTiledBy) {
  target::Target target;
  target.cores = 2;
  target.vector_bytes = 64;
  const SpaceGenerator generator(tensor::MatmulWorkload(197, 64, 32), target);
  bool overlaps = false;
  for (const tensor::Trace& space : generator.spaces()) {
    const std::vector<tensor::Instruction>& steps = space.instructions();
    overlaps |= std::any_of(steps.begin(), steps.end(), [](const tensor::Instruction& step) {
      return step.kind == tensor::InstructionKind::kSplitOverlapping;
    });
  }
  EXPECT_TRUE(overlaps);
}

}  // namespace
}  // namespace bayloom::sketch
