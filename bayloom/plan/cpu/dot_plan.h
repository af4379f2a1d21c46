// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "bayloom/plan/cpu/tile_cost.h"
#include "bayloom/plan/vector_plan.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::plan {

/// How an instruction sums up the products of a tensorized loop: the loop's digit stays at 0, and
/// each lane of an operand holds the elements of all its values.
struct DotPlan {
  tensor::BlockId block = -1;
  tensor::LoopId loop = -1;
  tensor::DigitId digit = -1;
  target::DotMethod method;
  /// With shifted operands `a` is the one that moves by 128, and its products with 128 itself are
  /// what has to be taken away. Otherwise they are as the instruction takes them.
  tensor::DotFactor a, b;
  int64_t depth = 1;
  int64_t parts = 1;  ///< of `depth`, that an instruction sums up one after the other
  /// The instruction for matrices whose depth the loop has; null where the target has none.
  const target::DotInstruction* matrix = nullptr;
  /// The sums are of integers for one scale at a time, and `a` and `b` are as the instruction takes
  /// them; what `zero` is taken away from is the one that `zero_of_a` says.
  std::optional<tensor::BlockScale> block_scale = std::nullopt;
  bool zero_of_a = false;
  int64_t terms_of_scale = 1;  ///< products that have one scale
  /// Sums for one scale have room in 16 bits: the halves of a lane sum up pairs of products, and
  /// are added up once for a scale.
  bool in_halves = false;
  std::vector<int> scaled_iters = {};  ///< reduction iterators along which the scale differs

  /// The factor that is multiplied by zeros.
  const tensor::DotFactor& BesideZero() const { return zero_of_a ? b : a; }
  bool IsShifted() const { return method.operands == target::DotOperands::kShifted; }
};

/// Whether an expression over the block's iterators changes with the digit, or may.
bool MovesWith(const tensor::Program& program, const tensor::Block& block, const tensor::Expr& e,
               tensor::DigitId digit);

/// Whether the factor's elements are to be loaded and chosen each by itself: their conditions
/// differ, or their paddings.
bool IsTakenApart(const tensor::Program& program, const DotPlan& plan,
                  const tensor::DotFactor& factor);

/// By block. A tensorized loop that is not in any of them is run like others: its block has been
/// rewritten since, its target lacks the instruction, or no loop inside of it is vectorized.
std::map<tensor::BlockId, DotPlan> PlanDots(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops);

/// What a tile's sums take, for TileCost.
TileWork WorkOf(const DotPlan& plan, const BlockAccesses& accesses);

}  // namespace bayloom::plan
