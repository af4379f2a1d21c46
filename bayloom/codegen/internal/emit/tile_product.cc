// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/internal/emit/tile_product.h"

#include <algorithm>
#include <vector>

#include "bayloom/tensor/digits.h"

namespace bayloom::codegen {
namespace {

constexpr int64_t kMaxRows = 16, kMaxGroups = 16;  // of a tile register
constexpr int kLanes = 16;

/// What is known of a block whose products may go through tile registers.
class TileProductPlanner {
 public:
  TileProductPlanner(const tensor::Program& program, const DotPlan& dot, tensor::BlockId block,
                     const BlockAccesses& accesses,
                     const std::map<tensor::LoopId, VectorLoop>& vector_loops)
      : program_(program), dot_(dot), block_(program.blocks[block]), accesses_(accesses) {
    for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
      const auto vector = vector_loops.find(loop);
      if (vector != vector_loops.end()) vector_ = &vector->second;
      if (program.ExtentOf(loop) > 1 && loop != dot.loop) loops_.push_back(loop);
    }
  }

  std::optional<TileProduct> Plan(const target::DotInstruction& instruction,
                                  const tensor::DotFactor& rows,
                                  const tensor::DotFactor& columns) const {
    TileProduct product;
    product.instruction = &instruction;
    product.rows = rows;
    product.columns = columns;
    if (!LieAsTaken(rows, columns) || !FindRows(product) || !FindGroups(product)) {
      return std::nullopt;
    }
    return product;
  }

 private:
  int64_t Step(const tensor::DotFactor& factor, tensor::DigitId digit) const {
    return accesses_.loads.at(factor.load.get()).affine.CoefficientOf(digit);
  }

  /// A lane's elements are neighbours, and lanes follow each other.
  bool LieAsTaken(const tensor::DotFactor& rows, const tensor::DotFactor& columns) const {
    if (rows.condition.defined() || columns.condition.defined()) return false;
    if (vector_ == nullptr || vector_->width > kLanes || vector_->lanes.size() != 1) return false;
    const tensor::DigitId lane = vector_->lanes[0];
    return Step(rows, dot_.digit) == 1 && Step(columns, dot_.digit) == 1 && Step(rows, lane) == 0 &&
           Step(columns, lane) == dot_.depth;
  }

  /// The innermost loop that moves the rows only.
  bool FindRows(TileProduct& product) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const tensor::DigitId digit = tensor::OnlyDigit(program_, *loop);
      if (!tensor::RunsInOrder(program_.loops[*loop].kind) || digit < 0 || IsReduced(digit))
        continue;
      if (Step(product.rows, digit) <= 0 || Step(product.columns, digit) != 0) continue;
      const int64_t extent = program_.ExtentOf(*loop);
      if (extent > kMaxRows && extent % kMaxRows != 0) return false;
      product.row_digit = digit;
      product.row_count = std::min(extent, kMaxRows);
      product.row_stride = Step(product.rows, digit) * tensor::ByteSize(product.rows.dtype());
      return true;
    }
    return false;
  }

  /// The innermost reduction, if it goes on where the depth ends.
  bool FindGroups(TileProduct& product) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const tensor::DigitId digit = tensor::OnlyDigit(program_, *loop);
      if (digit < 0 || !IsReduced(digit)) continue;
      const int64_t extent = program_.ExtentOf(*loop);
      if (extent > kMaxGroups || Step(product.rows, digit) != dot_.depth ||
          Step(product.columns, digit) <= 0) {
        return true;
      }
      product.group_loop = *loop;
      product.group_digit = digit;
      product.group_count = extent;
      product.group_stride =
          Step(product.columns, digit) * tensor::ByteSize(product.columns.dtype());
      return true;
    }
    return true;
  }

  bool IsReduced(tensor::DigitId digit) const {
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      if (block_.iters[i].kind == tensor::IterKind::kReduction &&
          block_.bindings[i].CoefficientOf(digit) != 0) {
        return true;
      }
    }
    return false;
  }

  const tensor::Program& program_;
  const DotPlan& dot_;
  const tensor::Block& block_;
  const BlockAccesses& accesses_;
  const VectorLoop* vector_ = nullptr;
  std::vector<tensor::LoopId> loops_;  ///< around the block, outermost first
};

}  // namespace

std::optional<TileProduct> PlanTileProduct(
    const tensor::Program& program, const target::Target& target, const DotPlan& dot,
    tensor::BlockId block, const BlockAccesses& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  const TileProductPlanner planner(program, dot, block, accesses, vector_loops);
  const auto plan = [&](const tensor::DotFactor& rows,
                        const tensor::DotFactor& columns) -> std::optional<TileProduct> {
    const target::DotInstruction* instruction = target::TileInstructionFor(
        target, tensor::ToString(rows.dtype()), tensor::ToString(columns.dtype()));
    if (instruction == nullptr || dot.depth != instruction->depth) return std::nullopt;
    return planner.Plan(*instruction, rows, columns);
  };
  if (auto product = plan(dot.a, dot.b)) return product;
  return plan(dot.b, dot.a);
}

}  // namespace bayloom::codegen
