// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/tile_levels.h"

#include <algorithm>
#include <utility>

#include "bayloom/sketch/overlapping_tiles.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::sketch {
namespace {

constexpr int kSpatialLevels = 4;
constexpr int kReductionLevels = 2;

/// Splits off the part of a dot product's loop that an instruction sums up; the rest takes its
/// place. nullopt if there is none.
Result<std::optional<tensor::LoopVar>> SplitOffDepth(tensor::Schedule& schedule,
                                                     const std::optional<DotAxis>& axis,
                                                     std::vector<tensor::LoopVar>& loops,
                                                     std::vector<tensor::Iter>& iters) {
  if (!axis) return std::optional<tensor::LoopVar>();
  const int64_t rest = iters[axis->iter].extent / axis->depth;
  Result<std::vector<tensor::LoopVar>> split =
      schedule.Split(loops[axis->iter], std::vector<int64_t>{rest, axis->depth});
  if (!split) return split.error();
  loops[axis->iter] = split->front();
  iters[axis->iter].extent = rest;
  return std::optional(split->back());
}

/// The loop over the tiles and the loop within one, whose size is left open.
Result<std::array<tensor::LoopVar, 2>> SplitIntoOverlapping(tensor::Schedule& schedule,
                                                            tensor::LoopVar loop,
                                                            const std::vector<int64_t>& sizes) {
  const std::vector<double> weights(sizes.size(), 1.0 / static_cast<double>(sizes.size()));
  Result<tensor::ValueVar> size = schedule.SampleCategorical(sizes, weights);
  if (!size) return size.error();
  return schedule.SplitOverlapping(loop, *size);
}

/// Splits one loop into as many levels as there are; the outermost may be one of tiles that
/// overlap.
Result<std::vector<tensor::LoopVar>> SplitIntoLevels(tensor::Schedule& schedule,
                                                     tensor::LoopVar loop, int levels,
                                                     std::optional<int64_t> overlapping_extent) {
  std::vector<tensor::LoopVar> nest;
  if (overlapping_extent) {
    Result<std::array<tensor::LoopVar, 2>> tiles =
        SplitIntoOverlapping(schedule, loop, OverlappingTileSizes(*overlapping_extent));
    if (!tiles) return tiles.error();
    nest.push_back((*tiles)[0]);
    loop = (*tiles)[1];
    --levels;
  }
  Result<std::vector<tensor::LoopVar>> split =
      TilePerfectly(schedule, loop, levels, kMaxInnermostFactor);
  if (!split) return split.error();
  nest.insert(nest.end(), split->begin(), split->end());
  return nest;
}

/// What sums of integers with one scale run over, where others have other scales: sums that are
/// taken whole, and are unrolled.
struct OneScale {
  std::vector<tensor::LoopVar> bytes;  ///< iterators of their places
  std::vector<tensor::LoopVar> parts;  ///< of the elements that share one

  /// Whether the block has such sums and the iterator is of them; then its loop is taken.
  bool Take(const tensor::Block& block, int iter, tensor::LoopVar loop) {
    const auto product = tensor::MatchDotProduct(block);
    if (!product || !product->block || block.iters[iter].kind != tensor::IterKind::kReduction ||
        !product->HasOneScaleAlong(iter)) {
      return false;
    }
    (product->SumsAlong(iter) ? bytes : parts).push_back(loop);
    return true;
  }
};

}  // namespace

Result<std::array<tensor::LoopVar, 2>> TileInLevels(tensor::Schedule& schedule,
                                                    tensor::BlockVar block,
                                                    std::vector<tensor::LoopVar> loops,
                                                    const LevelTiling& tiling) {
  std::vector<tensor::LoopVar> spatial[kSpatialLevels], reduction[kReductionLevels];
  std::vector<tensor::Iter> iters = schedule.program().blocks[schedule.Get(block)].iters;
  std::vector<size_t> overlapping;
  if (tiling.overlap) {
    overlapping = OverlappingIters(schedule.program().blocks[schedule.Get(block)]);
  }
  Result<std::optional<tensor::LoopVar>> at_once =
      SplitOffDepth(schedule, tiling.dot, loops, iters);
  if (!at_once) return at_once.error();
  OneScale one_scale;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (tiling.dot && one_scale.Take(schedule.program().blocks[schedule.Get(block)],
                                     static_cast<int>(i), loops[i])) {
      continue;
    }
    const bool is_spatial = iters[i].kind == tensor::IterKind::kSpatial;
    std::vector<tensor::LoopVar>* levels = is_spatial ? spatial : reduction;
    if (iters[i].extent == 1 || i < tiling.batch || static_cast<int>(i) == tiling.whole) {
      levels[0].push_back(loops[i]);
      continue;
    }
    const bool overlaps = std::find(overlapping.begin(), overlapping.end(), i) != overlapping.end();
    Result<std::vector<tensor::LoopVar>> split =
        SplitIntoLevels(schedule, loops[i], is_spatial ? kSpatialLevels : kReductionLevels,
                        overlaps ? std::optional(iters[i].extent) : std::nullopt);
    if (!split) return split.error();
    for (size_t level = 0; level < split->size(); ++level) levels[level].push_back((*split)[level]);
  }
  // Bytes are read in the order in which they lie: all of the tile's columns before the next ones.
  std::vector<tensor::LoopVar> around, within = reduction[kReductionLevels - 1];
  if (!one_scale.bytes.empty()) {
    around = std::exchange(within, one_scale.parts);
    around.insert(around.end(), one_scale.bytes.begin(), one_scale.bytes.end());
  }
  if (*at_once) within.push_back(**at_once);
  std::vector<tensor::LoopVar> order;
  for (const std::vector<tensor::LoopVar>* level :
       {&spatial[0], &spatial[1], &reduction[0], &around, &spatial[2], &within, &spatial[3]}) {
    order.insert(order.end(), level->begin(), level->end());
  }
  if (Status s = schedule.Reorder(order); !s) return s.error();
  for (const std::vector<tensor::LoopVar>* unrolled : {&one_scale.bytes, &one_scale.parts}) {
    for (tensor::LoopVar loop : *unrolled) {
      if (Status s = schedule.Unroll(loop); !s) return s.error();
    }
  }
  if (*at_once) {
    if (Status s = schedule.Tensorize(**at_once); !s) return s.error();
  }
  const tensor::LoopVar first = spatial[0].back();
  return std::array<tensor::LoopVar, 2>{first, spatial[1].empty() ? first : spatial[1].back()};
}

Result<std::vector<tensor::LoopVar>> TilePerfectly(tensor::Schedule& schedule, tensor::LoopVar loop,
                                                   int parts, int64_t max_innermost) {
  Result<std::vector<tensor::ValueVar>> tile =
      schedule.SamplePerfectTile(loop, parts, max_innermost);
  if (!tile) return tile.error();
  return schedule.Split(loop, *tile);
}

Result<std::array<tensor::LoopVar, 2>> CutIntoTiles(tensor::Schedule& schedule,
                                                    tensor::LoopVar loop, int64_t max_size) {
  const std::vector<int64_t> sizes =
      OverlappingTileSizes(schedule.program().ExtentOf(schedule.Get(loop)));
  if (!sizes.empty()) return SplitIntoOverlapping(schedule, loop, sizes);
  Result<std::vector<tensor::LoopVar>> split = TilePerfectly(schedule, loop, 2, max_size);
  if (!split) return split.error();
  return std::array<tensor::LoopVar, 2>{(*split)[0], (*split)[1]};
}

}  // namespace bayloom::sketch
