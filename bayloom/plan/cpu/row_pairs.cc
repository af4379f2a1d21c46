// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/row_pairs.h"

#include <algorithm>
#include <vector>

namespace bayloom::plan {
namespace {

/// Looks for the rows and the columns of a tile.
class PairPlanner {
 public:
  PairPlanner(const tensor::Program& program, const BlockAccesses& accesses,
              const AccumulatorTile& tile, const std::map<tensor::LoopId, VectorLoop>& vector_loops)
      : program_(program), accesses_(accesses), tile_(tile) {
    for (tensor::LoopId loop : tile.spatial) {
      const auto vector = vector_loops.find(loop);
      const bool vectorized = vector != vector_loops.end();
      const auto& unrolled = vectorized ? vector->second.outer : program.loops[loop].digits;
      unrolled_.insert(unrolled_.end(), unrolled.begin(), unrolled.end());
      if (vectorized) lanes_ = vector->second.lanes;
    }
  }

  std::optional<RowPairs> Plan(const tensor::DotFactor& rows,
                               const tensor::DotFactor& columns) const {
    if (!IsInLanes(columns) || IsInLanes(rows)) return std::nullopt;
    RowPairs best;
    for (tensor::DigitId digit : unrolled_) {
      const int64_t paired = tile_.StepsOf(program_, digit) / 2 * 2;
      if (paired <= best.rows || !DependsOn(rows, digit) || DependsOn(columns, digit)) continue;
      best.digit = digit;
      best.rows = paired;
      best.stride = accesses_.store.affine.CoefficientOf(digit);
    }
    return best.rows > 0 ? std::optional(best) : std::nullopt;
  }

 private:
  bool IsInLanes(const tensor::DotFactor& factor) const {
    return std::ranges::any_of(lanes_,
                               [&](tensor::DigitId digit) { return DependsOn(factor, digit); });
  }

  bool DependsOn(const tensor::DotFactor& factor, tensor::DigitId digit) const {
    if (accesses_.loads.at(factor.load.get()).affine.CoefficientOf(digit) != 0) return true;
    return factor.condition.defined() &&
           MovesWith(program_, program_.blocks[tile_.block], factor.condition, digit);
  }

  const tensor::Program& program_;
  const BlockAccesses& accesses_;
  const AccumulatorTile& tile_;
  std::vector<tensor::DigitId> unrolled_, lanes_;
};

}  // namespace

std::optional<RowPairs> PlanRowPairs(const tensor::Program& program, const DotPlan& dot,
                                     const BlockAccesses& accesses, const AccumulatorTile& tile,
                                     const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  if (dot.matrix == nullptr || dot.IsShifted() || !tile.alone) return std::nullopt;
  const PairPlanner planner(program, accesses, tile, vector_loops);
  if (auto pairs = planner.Plan(dot.a, dot.b)) return pairs;
  auto pairs = planner.Plan(dot.b, dot.a);
  if (pairs) pairs->first_is_rows = false;
  return pairs;
}

}  // namespace bayloom::plan
