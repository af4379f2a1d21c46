// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <set>

#include "bayloom/codegen/internal/emit/across_plan.h"
#include "bayloom/codegen/internal/emit/dot_plan.h"
#include "bayloom/codegen/internal/emit/epilogue_plan.h"
#include "bayloom/codegen/internal/emit/fold_plan.h"
#include "bayloom/codegen/internal/emit/hoist_plan.h"
#include "bayloom/codegen/internal/emit/memory_plan.h"
#include "bayloom/codegen/internal/emit/row_pairs.h"
#include "bayloom/codegen/internal/emit/tile_product.h"
#include "bayloom/codegen/internal/emit/vector_plan.h"

namespace bayloom::codegen {

/// Everything that is decided about a program's code before any is emitted.
struct EmitPlan {
  MemoryPlan memory;
  std::map<tensor::BlockId, BlockAccesses> accesses;
  std::map<tensor::LoopId, VectorLoop> vector_loops;            ///< others are run serially
  std::map<tensor::LoopId, AcrossLoop> across;                  ///< by AcrossLoop::loop
  std::map<tensor::LoopId, std::vector<HoistedValue>> hoisted;  ///< in front of the loop
  std::map<tensor::BlockId, DotPlan> dots;
  std::map<tensor::LoopId, AccumulatorTile> tiles;  ///< by AccumulatorTile::root
  std::map<tensor::BlockId, RowPairs> pairs;        ///< by AccumulatorTile::block
  std::map<tensor::BlockId, TileProduct> tile_products;
  std::map<tensor::BlockId, VectorLoop> folds;        ///< by AccumulatorTile::block
  std::map<tensor::BlockId, TileEpilogue> epilogues;  ///< by AccumulatorTile::block
  std::set<tensor::LoopId> unrolled;
  std::set<tensor::BlockId> absorbed;  ///< kInit blocks and consumers that tiles make superfluous
  std::set<tensor::LoopId> absorbed_loops;  ///< and the nests around them
  bool scales_by_powers = false;  ///< the target multiplies by powers of two in one instruction

  /// The digit of a loop all of whose products an instruction sums up; nullopt if none does.
  std::optional<tensor::DigitId> DigitAtOnce(tensor::LoopId loop) const;
};

/// Fails when the program cannot be emitted for a CPU or would become too long.
Result<EmitPlan> MakeEmitPlan(const tensor::Program& program, const target::Target& target);

/// Decides on unrolling, `unrolled`, from everything else in the plan. Fails as above.
Status PlanUnrolling(const tensor::Program& program, EmitPlan& plan);

}  // namespace bayloom::codegen
