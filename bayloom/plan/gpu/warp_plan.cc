// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::plan {
namespace {

using target::MmaInstruction;
using tensor::DigitId;
using tensor::LoopId;
using tensor::LoopKind;
using tensor::NodeRef;

constexpr int64_t kRowBytes = 16;  // that a thread of ldmatrix names, aligned to as many
constexpr int kRegisterBytes = 4;

class WarpPlanner {
 public:
  WarpPlanner(const tensor::Program& program, const target::GpuLimits& limits, GpuPlan& plan)
      : program_(program), limits_(limits), plan_(plan) {}

  void Plan() {
    for (const auto& [outermost, nest] : plan_.thread_nests) {
      const std::vector<DigitId> threads = tensor::MovingDigits(program_, nest.loops);
      if (nest.group != 1 || threads.size() < 2) continue;
      WarpProduct product;
      product.lane_column = threads[threads.size() - 1];
      product.lane_row = threads[threads.size() - 2];
      if (Extent(product.lane_column) != MmaInstruction::kLaneColumns ||
          Extent(product.lane_row) != MmaInstruction::kLaneRows) {
        continue;
      }
      Visit(NodeRef::Loop(nest.loops.back()), product);
    }
  }

 private:
  int64_t Extent(DigitId digit) const { return program_.digit_extents[digit]; }

  /// Through loops that a thread runs by itself.
  void Visit(NodeRef node, const WarpProduct& lanes) {
    for (const NodeRef child : program_.BodyOf(node)) {
      if (!child.is_loop() || plan_.IsProduct(child.id)) continue;
      const LoopKind kind = program_.loops[child.id].kind;
      if (kind == LoopKind::kTensorized) {
        WarpProduct product = lanes;
        if (Match(child.id, product)) plan_.warp_products.emplace(child.id, product);
      } else if (kind == LoopKind::kSerial || kind == LoopKind::kUnrolled) {
        Visit(child, lanes);
      }
    }
  }

  bool Match(LoopId loop, WarpProduct& product) const {
    const Result<tensor::BlockId> block = tensor::BlockToTensorize(program_, loop);
    if (!block) return false;
    product.block = *block;
    product.depth = tensor::OnlyDigit(program_, loop);
    const auto dot = tensor::MatchDotProduct(program_.blocks[*block]);
    product.instruction = target::WarpInstructionFor(limits_, tensor::ToString(dot->a.dtype()),
                                                     tensor::ToString(dot->b.dtype()));
    const bool plain = dot->IsPlain() && !dot->a.condition.defined() && !dot->b.condition.defined();
    if (product.instruction == nullptr || !plain ||
        Extent(product.depth) != product.instruction->depth) {
      return false;
    }
    const BlockAccesses& accesses = plan_.accesses.at(*block);
    const PlacedAccess* rows = &accesses.loads.at(dot->a.load.get());
    const PlacedAccess* columns = &accesses.loads.at(dot->b.load.get());
    if (rows->affine.CoefficientOf(product.lane_row) == 0) std::swap(rows, columns);
    return FindParts(loop, *rows, *columns, product) && Take(*rows, *columns, product);
  }

  /// Inside of the loop there are two of two iterations: a thread's rows and its columns.
  bool FindParts(LoopId loop, const PlacedAccess& rows, const PlacedAccess& columns,
                 WarpProduct& product) const {
    std::vector<LoopId> loops;
    for (NodeRef at = NodeRef::Loop(loop); at.is_loop(); at = program_.loops[at.id].body[0]) {
      if (program_.loops[at.id].body.size() != 1) return false;
      if (at.id != loop) loops.push_back(at.id);
    }
    std::vector<DigitId> inside = tensor::MovingDigits(program_, loops);
    if (inside.size() != 2 || Extent(inside[0]) != MmaInstruction::kRowParts ||
        Extent(inside[1]) != MmaInstruction::kColumnParts) {
      return false;
    }
    if (rows.affine.CoefficientOf(inside[0]) == 0) std::swap(inside[0], inside[1]);
    product.row_part = inside[0];
    product.column_part = inside[1];
    const auto moves = [](const PlacedAccess& access, DigitId lane, DigitId part) {
      return access.affine.CoefficientOf(lane) != 0 && access.affine.CoefficientOf(part) != 0;
    };
    const auto stays = [](const PlacedAccess& access, DigitId lane, DigitId part) {
      return access.affine.CoefficientOf(lane) == 0 && access.affine.CoefficientOf(part) == 0;
    };
    return moves(rows, product.lane_row, product.row_part) &&
           stays(rows, product.lane_column, product.column_part) &&
           moves(columns, product.lane_column, product.column_part) &&
           stays(columns, product.lane_row, product.row_part);
  }

  bool Take(const PlacedAccess& rows, const PlacedAccess& columns, WarpProduct& product) const {
    using Form = WarpFactor::Form;
    if (!IsInShared(rows) || !IsInShared(columns)) return false;
    const bool by_elements = ElementBytes(rows) == kRegisterBytes;
    product.rows = {rows.buffer, rows.affine, Form::kMatrices};
    product.columns = {columns.buffer, columns.affine, Form::kMatrices};
    if (!IsAligned(rows, {product.depth})) {
      product.rows.form = by_elements ? Form::kElements : Form::kTransposed;
      const bool in_order =
          rows.affine.CoefficientOf(product.lane_row) == 1 && IsAligned(rows, {product.lane_row});
      if (!by_elements && !in_order) return false;
    }
    if (!IsAligned(columns, {product.depth})) {
      product.columns.form = by_elements ? Form::kElements : Form::kTransposed;
      const bool in_order =
          columns.affine.CoefficientOf(product.column_part) == 1 &&
          columns.affine.CoefficientOf(product.lane_column) == MmaInstruction::kColumnParts &&
          IsAligned(columns, {product.lane_column, product.column_part});
      if (!by_elements && !in_order) return false;
    }
    return true;
  }

  int ElementBytes(const PlacedAccess& access) const {
    return tensor::ByteSize(program_.buffers[access.buffer].dtype);
  }

  bool IsInShared(const PlacedAccess& access) const {
    return access.dynamic.empty() && plan_.places[access.buffer].memory == GpuMemory::kShared;
  }

  /// Rows begin at whole lines of memory: all but the digits that run along them keep them so. One
  /// of those is next to the other elements.
  bool IsAligned(const PlacedAccess& access, const std::vector<DigitId>& along) const {
    const int64_t line = kRowBytes / ElementBytes(access);
    bool contiguous = false, aligned = access.affine.constant % line == 0;
    for (const tensor::Affine::Term& term : access.affine.terms) {
      if (std::ranges::count(along, term.digit) > 0) {
        contiguous |= term.coefficient == 1;
      } else {
        aligned &= term.coefficient % line == 0;
      }
    }
    return contiguous && aligned;
  }

  const tensor::Program& program_;
  const target::GpuLimits& limits_;
  GpuPlan& plan_;
};

}  // namespace

void PlanWarpProducts(const tensor::Program& program, const target::GpuLimits& limits,
                      GpuPlan& plan) {
  WarpPlanner(program, limits, plan).Plan();
}

}  // namespace bayloom::plan
