// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/tile_registers.h"

#include <algorithm>
#include <vector>

#include "bayloom/tensor/digits.h"

namespace bayloom::tensor {
namespace {

constexpr int64_t kMaxRows = 16, kMaxGroups = 16;  // of a tile register

class TileFiller {
 public:
  TileFiller(const Program& program, BlockId block, DigitId dot, int64_t depth, DigitId lane,
             const FactorOffsets& offsets)
      : program_(program),
        block_(program.blocks[block]),
        dot_(dot),
        depth_(depth),
        lane_(lane),
        offsets_(offsets) {
    for (LoopId loop : program.LoopsAround(NodeRef::Block(block))) {
      if (program.ExtentOf(loop) > 1 && OnlyDigit(program, loop) != dot) loops_.push_back(loop);
    }
  }

  std::optional<TileFill> Fill() const {
    TileFill fill;
    if (!LieAsTaken() || !FindRows(fill)) return std::nullopt;
    FindGroups(fill);
    return fill;
  }

 private:
  int64_t RowsStep(DigitId digit) const { return offsets_.rows.CoefficientOf(digit); }
  int64_t ColumnsStep(DigitId digit) const { return offsets_.columns.CoefficientOf(digit); }

  /// A lane's elements are neighbours, and lanes follow each other.
  bool LieAsTaken() const {
    return RowsStep(dot_) == 1 && ColumnsStep(dot_) == 1 && RowsStep(lane_) == 0 &&
           ColumnsStep(lane_) == depth_;
  }

  /// The innermost loop that moves the rows only.
  bool FindRows(TileFill& fill) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const DigitId digit = OnlyDigit(program_, *loop);
      if (!RunsInOrder(program_.loops[*loop].kind) || digit < 0 || IsReduced(digit)) continue;
      if (RowsStep(digit) <= 0 || ColumnsStep(digit) != 0) continue;
      const int64_t extent = program_.ExtentOf(*loop);
      if (extent > kMaxRows && extent % kMaxRows != 0) return false;
      fill.row_digit = digit;
      fill.rows = std::min(extent, kMaxRows);
      return true;
    }
    return false;
  }

  /// The innermost reduction, if it goes on where the depth ends.
  void FindGroups(TileFill& fill) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const DigitId digit = OnlyDigit(program_, *loop);
      if (digit < 0 || !IsReduced(digit)) continue;
      const int64_t extent = program_.ExtentOf(*loop);
      if (extent > kMaxGroups || RowsStep(digit) != depth_ || ColumnsStep(digit) <= 0) return;
      fill.group_loop = *loop;
      fill.group_digit = digit;
      fill.groups = extent;
      return;
    }
  }

  bool IsReduced(DigitId digit) const {
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      if (block_.iters[i].kind == IterKind::kReduction &&
          block_.bindings[i].CoefficientOf(digit) != 0) {
        return true;
      }
    }
    return false;
  }

  const Program& program_;
  const Block& block_;
  const DigitId dot_;
  const int64_t depth_;
  const DigitId lane_;
  const FactorOffsets& offsets_;
  std::vector<LoopId> loops_;  ///< around the block, outermost first, but the tensorized one
};

}  // namespace

std::optional<TileFill> FillTileRegisters(const Program& program, BlockId block, DigitId dot,
                                          int64_t depth, DigitId lane,
                                          const FactorOffsets& offsets) {
  return TileFiller(program, block, dot, depth, lane, offsets).Fill();
}

}  // namespace bayloom::tensor
