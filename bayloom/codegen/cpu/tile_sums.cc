// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/tile_sums.h"

#include "bayloom/codegen/cpu/folded_sums.h"
#include "bayloom/codegen/cpu/paired_sums.h"
#include "bayloom/codegen/cpu/register_sums.h"
#include "bayloom/codegen/cpu/scaled_sums.h"
#include "bayloom/codegen/cpu/tile_register_sums.h"

namespace bayloom::codegen {

std::unique_ptr<TileSums> MakeTileSums(NestContext& nest, const plan::AccumulatorTile& tile,
                                       const std::optional<plan::SumBlocks>& blocks,
                                       ShiftSums* shift) {
  const plan::CpuPlan& plan = nest.plan;
  if (const auto found = plan.tile_products.find(tile.block); found != plan.tile_products.end()) {
    return std::make_unique<TileRegisterSums>(nest, tile, found->second);
  }
  if (const auto found = plan.pairs.find(tile.block); found != plan.pairs.end()) {
    return std::make_unique<PairedSums>(nest, tile, blocks, shift, found->second);
  }
  if (const auto found = plan.folds.find(tile.block); found != plan.folds.end()) {
    return std::make_unique<FoldedSums>(nest, tile, blocks, shift, found->second);
  }
  const auto dot = plan.dots.find(tile.block);
  if (dot != plan.dots.end() && dot->second.block_scale) {
    return std::make_unique<ScaledSums>(nest, tile, dot->second);
  }
  return std::make_unique<RegisterSums>(nest, tile, blocks, shift);
}

}  // namespace bayloom::codegen
