// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/overlapping_tiles.h"

#include <algorithm>
#include <utility>

#include "bayloom/base/prime_factors.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

constexpr int64_t kLargestGoodPrime = 16;
constexpr size_t kMaxSizes = 8;

int64_t LargestPrimeOf(int64_t number) {
  int64_t largest = 1;
  for (const base::PrimePower& power : base::PrimeFactors(number)) largest = power.prime;
  return largest;
}

/// Whether rows of accumulators can be cut from the tile.
bool TilesWell(int64_t tile) {
  for (int64_t rows = 4; rows <= kLargestGoodPrime; ++rows) {
    if (tile % rows == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<int64_t> OverlappingTileSizes(int64_t extent) {
  if (LargestPrimeOf(extent) <= kLargestGoodPrime) return {};
  std::vector<std::pair<int64_t, int64_t>> sizes;  // what is computed in all, and the tile
  for (int64_t tile = 4; tile < extent; ++tile) {
    const tensor::OverlappingTiles tiles = *tensor::FindOverlappingTiles(extent, tile);
    const int64_t computed = tiles.count * tile;
    if (8 * (computed - extent) <= extent && TilesWell(tile)) sizes.emplace_back(computed, tile);
  }
  std::sort(sizes.begin(), sizes.end());
  if (sizes.size() > kMaxSizes) sizes.resize(kMaxSizes);
  std::vector<int64_t> tiles = {1, extent};
  for (const auto& [computed, tile] : sizes) tiles.push_back(tile);
  return tiles;
}

std::vector<size_t> OverlappingIters(const tensor::Block& block) {
  std::vector<size_t> spatial;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == tensor::IterKind::kSpatial) spatial.push_back(i);
  }
  if (!spatial.empty()) spatial.pop_back();
  std::erase_if(spatial,
                [&](size_t i) { return OverlappingTileSizes(block.iters[i].extent).empty(); });
  return spatial;
}

}  // namespace bayloom::sketch
