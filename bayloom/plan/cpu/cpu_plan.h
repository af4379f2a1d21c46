// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "bayloom/plan/cpu/across_plan.h"
#include "bayloom/plan/cpu/dot_plan.h"
#include "bayloom/plan/cpu/epilogue_plan.h"
#include "bayloom/plan/cpu/fold_plan.h"
#include "bayloom/plan/cpu/hoist_plan.h"
#include "bayloom/plan/cpu/row_pairs.h"
#include "bayloom/plan/cpu/tile_product.h"
#include "bayloom/plan/memory_plan.h"
#include "bayloom/plan/open_axes.h"
#include "bayloom/plan/vector_plan.h"

namespace bayloom::plan {

/// Bound on straight-line code from unrolling loops as asked, in block instances (a chunk of lanes
/// counts as one): compile time is the tuner's time, and code that leaves the instruction cache is
/// not fast.
inline constexpr int64_t kMaxUnrolled = 384;

/// Everything that is decided about a program's code before any is emitted.
struct CpuPlan {
  MemoryPlan memory;
  std::map<tensor::BlockId, BlockAccesses> accesses;
  OpenDigits open;
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

/// All but what only the emission of expressions reads: what an estimate of time reads of many
/// programs. Of a call of the library nothing is decided; the memory that it needs is its kernel's
/// to say. Fails when the program cannot be emitted for a CPU or would become too long.
Result<CpuPlan> PlanCpuNests(const tensor::Program& program, const target::Target& target);

/// Everything. Fails as above.
Result<CpuPlan> MakeCpuPlan(const tensor::Program& program, const target::Target& target);

/// What adding to the block's sums takes, and until the values that are added can be used.
TileWork WorkOf(const CpuPlan& plan, tensor::BlockId block);

/// Decides on unrolling, `unrolled`, from everything else in the plan. Fails as above.
Status PlanUnrolling(const tensor::Program& program, CpuPlan& plan);

}  // namespace bayloom::plan
