// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/tile_product.h"

#include "bayloom/tensor/tile_registers.h"

namespace bayloom::plan {
namespace {

constexpr int kLanes = 16;  // of a tile register

/// The vectorized loop around the block, if its registers are rows of tile registers.
const VectorLoop* LanesAround(const tensor::Program& program, tensor::BlockId block,
                              const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  const VectorLoop* found = nullptr;
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    const auto vector = vector_loops.find(loop);
    if (vector != vector_loops.end()) found = &vector->second;
  }
  const bool fits = found != nullptr && found->width <= kLanes && found->lanes.size() == 1;
  return fits ? found : nullptr;
}

}  // namespace

std::optional<TileProduct> PlanTileProduct(
    const tensor::Program& program, const target::Target& target, const DotPlan& dot,
    tensor::BlockId block, const BlockAccesses& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  const VectorLoop* const lanes = LanesAround(program, block, vector_loops);
  const bool is_plain = !dot.block_scale && !dot.a.shift.defined() && !dot.b.shift.defined();
  if (lanes == nullptr || !is_plain) return std::nullopt;
  const auto plan = [&](const tensor::DotFactor& rows,
                        const tensor::DotFactor& columns) -> std::optional<TileProduct> {
    const target::DotInstruction* instruction = target::TileInstructionFor(
        target, tensor::ToString(rows.dtype()), tensor::ToString(columns.dtype()));
    if (instruction == nullptr || dot.depth != instruction->depth) return std::nullopt;
    if (rows.condition.defined() || columns.condition.defined()) return std::nullopt;
    const PlacedAccess& row_access = accesses.loads.at(rows.load.get());
    const PlacedAccess& column_access = accesses.loads.at(columns.load.get());
    if (!row_access.dynamic.empty() || !column_access.dynamic.empty()) return std::nullopt;
    const tensor::Affine& of_rows = row_access.affine;
    const tensor::Affine& of_columns = column_access.affine;
    const auto fill = tensor::FillTileRegisters(program, block, dot.digit, dot.depth,
                                                lanes->lanes[0], {of_rows, of_columns});
    if (!fill) return std::nullopt;
    TileProduct product{instruction, rows, columns, *fill};
    product.row_stride = of_rows.CoefficientOf(fill->row_digit) * tensor::ByteSize(rows.dtype());
    if (fill->group_loop >= 0) {
      product.group_stride =
          of_columns.CoefficientOf(fill->group_digit) * tensor::ByteSize(columns.dtype());
    }
    return product;
  };
  if (auto product = plan(dot.a, dot.b)) return product;
  return plan(dot.b, dot.a);
}

}  // namespace bayloom::plan
