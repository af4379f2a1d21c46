// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pooled_convolution.h"

#include <array>
#include <utility>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/pooled_blocks.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/sketch/window_stages.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockVar;
using tensor::LoopVar;
using Loops = std::vector<LoopVar>;

/// Rows of windows that a tile has at most, where they are not all.
constexpr int64_t kMaxRows = 64;
/// Columns that are computed together, in registers, at most.
constexpr int64_t kMaxPlacesAtOnce = 16;

class PooledConvolutionScheduler {
 public:
  PooledConvolutionScheduler(const tensor::Workload& workload, const PooledConvolution& pair,
                             const target::Target& target)
      : pair_(pair), target_(target), schedule_(FoldElementwise(workload)) {}

  Result<tensor::Schedule> Run(bool folds_padding) {
    if (Status s = InlineStage(schedule_, pair_.pool_padding); !s) return s.error();
    if (folds_padding) {
      if (Status s = InlineStage(schedule_, pair_.padding); !s) return s.error();
    }
    if (Status s = TilePool(); !s) return s.error();
    if (Status s = PlaceConvolution(); !s) return s.error();
    if (!folds_padding) {
      if (Status s = PlaceStage(schedule_, pair_.padding, rows_); !s) return s.error();
    }
    return FinishSpace(std::move(schedule_), target_);
  }

 private:
  /// rows, channels | rows, columns, channels | windows | columns, channels
  Status TilePool() {
    Result<BlockVar> pool = schedule_.GetBlock(pair_.pool);
    if (!pool) return pool.error();
    Result<BlockVar> store =
        StoreOf(schedule_, *pool, pair_.output == pair_.pool ? "" : pair_.output);
    if (!store) return store.error();
    Result<Loops> loops = schedule_.GetLoops(*store);
    if (!loops) return loops.error();
    Result<std::array<LoopVar, 2>> rows = CutIntoTiles(schedule_, (*loops)[kRow], kMaxRows);
    if (!rows) return rows.error();
    Result<Loops> columns = TilePerfectly(schedule_, (*loops)[kColumn], 2, kMaxPlacesAtOnce);
    if (!columns) return columns.error();
    Result<Loops> channels = TilePerfectly(schedule_, (*loops)[kChannel], 3, kMaxInnermostFactor);
    if (!channels) return channels.error();
    if (Status s =
            schedule_.Reorder({(*loops)[0], (*rows)[0], (*channels)[0], (*rows)[1], (*columns)[0],
                               (*channels)[1], (*columns)[1], (*channels)[2]});
        !s) {
      return s;
    }
    rows_ = (*rows)[0];
    tile_ = (*channels)[0];
    return PlaceReduction(*pool, (*channels)[1]);
  }

  /// channels, rows, columns, channels | sums | columns, channels: how many rows there are is
  /// decided by the tile, and may have no divisors.
  Status PlaceConvolution() {
    Result<BlockVar> convolution = schedule_.GetBlock(pair_.convolution);
    if (!convolution) return convolution.error();
    Result<BlockVar> store = StoreOf(schedule_, *convolution, pair_.between);
    if (!store) return store.error();
    if (Status s = schedule_.ComputeAt(*store, tile_); !s) return s;
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, *store);
    if (!own) return own.error();
    const Loops& loops = own->spatial;
    Result<std::array<LoopVar, 2>> strips =
        CutIntoTiles(schedule_, loops[kColumn], kMaxPlacesAtOnce);
    if (!strips) return strips.error();
    Result<Loops> columns = TilePerfectly(schedule_, (*strips)[1], 2, kMaxPlacesAtOnce);
    if (!columns) return columns.error();
    Result<Loops> channels = TilePerfectly(schedule_, loops[kChannel], 3, kMaxInnermostFactor);
    if (!channels) return channels.error();
    if (Status s =
            schedule_.Reorder({loops[0], (*channels)[0], loops[kRow], (*strips)[0], (*columns)[0],
                               (*channels)[1], (*columns)[1], (*channels)[2]});
        !s) {
      return s;
    }
    return PlaceReduction(*convolution, (*channels)[1]);
  }

  /// Computes a reduction for each iteration of the loop, with what it sums up outside of the
  /// places; what an instruction sums up at once comes last.
  Status PlaceReduction(BlockVar block, LoopVar at) {
    const auto dot = FindDotAxis(schedule_.program(), schedule_.Get(block), target_);
    if (Status s = schedule_.ComputeAt(block, at); !s) return s;
    const std::vector<tensor::Iter> iters = schedule_.program().blocks[schedule_.Get(block)].iters;
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, block);
    if (!own) return own.error();
    Loops order;
    std::optional<LoopVar> at_once;
    size_t sum = 0;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (iters[i].kind == tensor::IterKind::kSpatial) continue;
      const LoopVar loop = own->reduction[sum++];
      if (!dot || dot->iter != static_cast<int>(i)) {
        order.push_back(loop);
        continue;
      }
      Result<Loops> cut = schedule_.Split(loop, {iters[i].extent / dot->depth, dot->depth});
      if (!cut) return cut.error();
      order.push_back(cut->front());
      at_once = cut->back();
    }
    if (at_once) order.push_back(*at_once);
    order.insert(order.end(), own->spatial.begin(), own->spatial.end());
    if (Status s = schedule_.Reorder(order); !s) return s;
    if (at_once) {
      if (Status s = schedule_.Tensorize(*at_once); !s) return s;
    }
    return schedule_.Annotate(block, kTiled, 1);
  }

  const PooledConvolution& pair_;
  const target::Target& target_;
  tensor::Schedule schedule_;
  LoopVar rows_, tile_;  // over tiles of rows, and of channels within one
};

}  // namespace

std::optional<PooledConvolution> FindPooledConvolution(const tensor::Workload& workload) {
  const std::optional<FoldedPair> pair = FindFoldedPair(workload);
  if (!pair || pair->outside.any()) return std::nullopt;
  const auto& [padding, convolution, between, pool_padding, pool, epilogue] = pair->blocks;
  const auto name = [&](tensor::BlockId id) { return NameOf(pair->schedule.program(), id); };
  return PooledConvolution{name(padding), name(convolution),
                           name(between), name(pool_padding),
                           name(pool),    name(epilogue >= 0 ? epilogue : pool)};
}

std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload,
                                       const PooledConvolution& pair,
                                       const target::Target& target) {
  return SpacesByPadding(pair.padding, [&](bool folds_padding) {
    return PooledConvolutionScheduler(workload, pair, target).Run(folds_padding);
  });
}

}  // namespace bayloom::sketch
