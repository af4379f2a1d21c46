// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::plan {
namespace {

using target::MmaInstruction;
using target::WgmmaInstruction;
using tensor::DigitId;
using tensor::LoopId;
using tensor::LoopKind;
using tensor::NodeRef;

/// Loops around a product, of one thread, become straight code of as many instructions.
constexpr int64_t kMaxStraight = 64;

/// Digits of a position along one side of the product, slowest first.
using Places = std::vector<DigitId>;

class WarpGroupPlanner {
 public:
  WarpGroupPlanner(const tensor::Program& program, const target::GpuLimits& limits, GpuPlan& plan)
      : program_(program), limits_(limits), plan_(plan) {}

  void Plan() {
    for (const tensor::BlockId id : program_.BlocksInOrder()) {
      if (program_.blocks[id].annotations.contains(tensor::kWarpGroups)) Add(id);
    }
  }

 private:
  int64_t Extent(DigitId digit) const { return program_.digit_extents[digit]; }

  Places DigitsOf(LoopId loop) const { return tensor::MovingDigits(program_, std::span(&loop, 1)); }

  void Add(tensor::BlockId id) {
    const std::vector<LoopId> around = program_.LoopsAround(NodeRef::Block(id));
    const auto tensorized = std::ranges::find_if(
        around, [&](LoopId loop) { return program_.loops[loop].kind == LoopKind::kTensorized; });
    if (tensorized == around.end()) return;
    const std::optional<Places> threads = ThreadsAround(around);
    WarpGroupProduct product;
    product.block = id;
    if (!threads || !MatchBlock(*tensorized, (*threads)[kLaneRow], product)) return;
    const LoopId outermost = FindMatrices(*tensorized, product);
    if (!MatchPlaces(*tensorized, *threads, product)) return;
    for (const WarpGroupProduct::Factor* factor : {&product.rows, &product.columns}) {
      plan_.places[factor->buffer].panels = SwizzledTilesOf(factor->buffer);
    }
    MakeStraight(outermost);
    plan_.group_products.emplace(outermost, std::move(product));
  }

  /// The digits of the threads, of which the last three name a group's; nullopt where they do not.
  std::optional<Places> ThreadsAround(const std::vector<LoopId>& around) const {
    for (const auto& [outermost, nest] : plan_.thread_nests) {
      if (std::ranges::count(around, outermost) == 0 || nest.group != 1) continue;
      Places threads = tensor::MovingDigits(program_, nest.loops);
      constexpr int64_t kExtents[] = {WgmmaInstruction::kWarps, MmaInstruction::kLaneRows,
                                      MmaInstruction::kLaneColumns};
      if (threads.size() < std::size(kExtents)) return std::nullopt;
      threads.erase(threads.begin(), threads.end() - std::size(kExtents));
      const bool fits =
          std::ranges::equal(threads, kExtents, {}, [&](DigitId digit) { return Extent(digit); });
      return fits ? std::optional(threads) : std::nullopt;
    }
    return std::nullopt;
  }

  bool MatchBlock(LoopId tensorized, DigitId lane_row, WarpGroupProduct& product) const {
    if (!tensor::BlockToTensorize(program_, tensorized)) return false;
    const tensor::Block& block = program_.blocks[product.block];
    const auto dot = tensor::MatchDotProduct(block);
    product.instruction = target::WarpGroupInstructionFor(limits_, tensor::ToString(dot->a.dtype()),
                                                          tensor::ToString(dot->b.dtype()));
    const DigitId depth = tensor::OnlyDigit(program_, tensorized);
    if (product.instruction == nullptr || !dot->IsPlain() || dot->a.condition.defined() ||
        dot->b.condition.defined() || Extent(depth) != product.instruction->depth ||
        plan_.places[block.output].memory != GpuMemory::kThread) {
      return false;
    }
    const BlockAccesses& accesses = plan_.accesses.at(product.block);
    const PlacedAccess* rows = &accesses.loads.at(dot->a.load.get());
    const PlacedAccess* columns = &accesses.loads.at(dot->b.load.get());
    if (rows->affine.CoefficientOf(lane_row) == 0) std::swap(rows, columns);
    if (!LiesInPanels(*rows) || !LiesInPanels(*columns)) return false;
    const auto factor = [&](const PlacedAccess& access) {
      return WarpGroupProduct::Factor{access.buffer, access.affine,
                                      access.affine.CoefficientOf(depth) == 1};
    };
    product.rows = factor(*rows);
    product.columns = factor(*columns);
    return !product.instruction->along_depth_only ||
           (product.rows.along_depth && product.columns.along_depth);
  }

  SwizzledTiles SwizzledTilesOf(tensor::BufferId buffer) const {
    const std::vector<int64_t>& shape = plan_.memory.buffers[buffer].allocation->shape;
    SwizzledTiles panels{1, shape.back() * ElementBytes(buffer)};
    for (size_t i = 0; i + 1 < shape.size(); ++i) panels.rows *= shape[i];
    return panels;
  }

  int64_t ElementBytes(tensor::BufferId buffer) const {
    return tensor::ByteSize(program_.buffers[buffer].dtype);
  }

  /// All of a buffer in shared memory that nothing else reads is whole panels.
  bool LiesInPanels(const PlacedAccess& access) const {
    const BufferPlace& place = plan_.memory.buffers[access.buffer];
    if (!access.dynamic.empty() || access.affine.constant != 0 ||
        plan_.places[access.buffer].memory != GpuMemory::kShared || place.lane_count != 1 ||
        !program_.buffers[access.buffer].layout.empty() || place.allocation->shape.empty() ||
        program_.ReadersOf(access.buffer).size() != 1) {
      return false;
    }
    const SwizzledTiles panels = SwizzledTilesOf(access.buffer);
    return panels.row_bytes % target::kPanelRowBytes == 0 &&
           panels.rows % target::kSwizzledRows == 0;
  }

  static bool IsOfOneThread(const tensor::Loop& loop) {
    return loop.kind == LoopKind::kSerial || loop.kind == LoopKind::kUnrolled;
  }

  /// Loops directly around that move columns alone; returns the outermost one.
  LoopId FindMatrices(LoopId tensorized, WarpGroupProduct& product) const {
    LoopId outermost = tensorized;
    int64_t columns = MmaInstruction::kColumns;
    for (NodeRef at = program_.loops[tensorized].parent; at.is_loop(); at = program_.ParentOf(at)) {
      const tensor::Loop& loop = program_.loops[at.id];
      const Places own = DigitsOf(at.id);
      columns *= program_.ExtentOf(at.id);
      const bool moves_columns = std::ranges::all_of(own, [&](DigitId digit) {
        return product.rows.index.CoefficientOf(digit) == 0 &&
               product.columns.index.CoefficientOf(digit) != 0;
      });
      if (!IsOfOneThread(loop) || loop.body.size() != 1 || !moves_columns ||
          columns > WgmmaInstruction::kMaxColumns) {
        break;
      }
      product.matrices.insert(product.matrices.begin(), own.begin(), own.end());
      outermost = at.id;
    }
    return outermost;
  }

  /// The instruction's rows, columns and depth are neighbours, in this order of digits.
  bool MatchPlaces(LoopId tensorized, const Places& threads, WarpGroupProduct& product) const {
    Places parts;
    for (NodeRef at = NodeRef::Loop(tensorized); at.is_loop(); at = program_.loops[at.id].body[0]) {
      if (program_.loops[at.id].body.size() != 1) return false;
      const Places own = at.id == tensorized ? Places{} : DigitsOf(at.id);
      parts.insert(parts.end(), own.begin(), own.end());
    }
    if (parts.size() != 2) return false;
    if (product.rows.index.CoefficientOf(parts[0]) == 0) std::swap(parts[0], parts[1]);
    product.row_part = parts[0];
    product.column_part = parts[1];
    const Places depth = {tensor::OnlyDigit(program_, tensorized)};
    const Places rows = {threads[kWarp], product.row_part, threads[kLaneRow]};
    Places columns = product.matrices;
    columns.insert(columns.end(), {threads[kLaneColumn], product.column_part});
    for (const Places& places : {depth, rows, columns}) {
      product.inside.insert(product.inside.end(), places.begin(), places.end());
    }
    return Extent(product.row_part) == MmaInstruction::kRowParts &&
           Extent(product.column_part) == MmaInstruction::kColumnParts &&
           IsPanelPart(product.rows, rows, depth, product) &&
           IsPanelPart(product.columns, columns, depth, product);
  }

  /// Neighbours along one side, `step` elements apart.
  bool AreNeighbours(const tensor::Affine& index, const Places& places, int64_t step) const {
    for (auto digit = places.rbegin(); digit != places.rend(); ++digit) {
      if (index.CoefficientOf(*digit) != step) return false;
      step *= Extent(*digit);
    }
    return true;
  }

  int64_t CountOf(const Places& places) const {
    int64_t count = 1;
    for (const DigitId digit : places) count *= Extent(digit);
    return count;
  }

  /// What the instruction takes of a factor, `side` (rows or columns) by depth, begins at a row
  /// where the order of its pieces does, at whole pieces of what is along a panel's row.
  bool IsPanelPart(const WarpGroupProduct::Factor& factor, const Places& side, const Places& depth,
                   const WarpGroupProduct& product) const {
    const int64_t row = SwizzledTilesOf(factor.buffer).row_bytes / ElementBytes(factor.buffer);
    const int64_t panel_row = target::kPanelRowBytes / ElementBytes(factor.buffer);
    const Places& along = factor.along_depth ? depth : side;
    const Places& across = factor.along_depth ? side : depth;
    if (!AreNeighbours(factor.index, along, 1) || !AreNeighbours(factor.index, across, row)) {
      return false;
    }
    // Behind the end of a panel's row the next panel follows, from its beginning.
    const int64_t length = CountOf(along);
    if (length % panel_row != 0 && panel_row % length != 0) return false;
    const int64_t piece = std::min(length, panel_row);
    return std::ranges::all_of(factor.index.terms, [&](const tensor::Affine::Term& term) {
      if (IsSlot(term.digit) || Extent(term.digit) == 1) return true;
      const bool is_inside = std::ranges::count(product.inside, term.digit) > 0;
      const int64_t rows = term.coefficient / row, rest = term.coefficient % row;
      const bool is_whole = rows % target::kSwizzledRows == 0 && rest % piece == 0;
      return is_inside || is_whole;
    });
  }

  /// Of rings, whose slots are whole panels.
  bool IsSlot(DigitId digit) const {
    return std::ranges::any_of(plan_.pipelines,
                               [&](const auto& pipeline) { return pipeline.second.slot == digit; });
  }

  /// Loops around that the thread runs by itself, so that sums stay in the same registers.
  void MakeStraight(LoopId outermost) {
    int64_t instructions = 1;
    for (NodeRef at = program_.loops[outermost].parent; at.is_loop(); at = program_.ParentOf(at)) {
      const tensor::Loop& loop = program_.loops[at.id];
      instructions *= program_.ExtentOf(at.id);
      if (!IsOfOneThread(loop) || loop.body.size() != 1 || instructions > kMaxStraight) return;
      plan_.unrolled.insert(at.id);
    }
  }

  enum Thread : size_t { kWarp, kLaneRow, kLaneColumn };

  const tensor::Program& program_;
  const target::GpuLimits& limits_;
  GpuPlan& plan_;
};

}  // namespace

void PlanWarpGroupProducts(const tensor::Program& program, const target::GpuLimits& limits,
                           GpuPlan& plan) {
  WarpGroupPlanner(program, limits, plan).Plan();
}

}  // namespace bayloom::plan
