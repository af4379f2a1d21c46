// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/convolution.h"

#include <fmt/format.h>

#include <vector>

#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

// Positions of the iterators.
constexpr int kBatch = 0, kRow = 1, kColumn = 2, kOutput = 3;
constexpr int kIterCount = 7;

/// Its loops are its iterators, in their order, and nothing else is in them.
bool IsInNaiveNest(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(id));
  if (loops.size() != block.iters.size()) return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = program.loops[loops[i]];
    if (loop.kind != LoopKind::kSerial || loop.digits.size() != 1 || loop.body.size() != 1) {
      return false;
    }
    if (block.bindings[i] != Affine{0, {{loop.digits[0], 1}}}) return false;
  }
  return true;
}

/// The coefficients of an index over the block's iterators; empty where it is not linear or has a
/// constant.
std::vector<int64_t> CoefficientsOf(const Expr& index) {
  const std::optional<LinearForm> form = ToLinear(index, kIterCount);
  return form && form->constant == 0 ? form->coefficients : std::vector<int64_t>();
}

/// The only iterator of an index, with coefficient 1; -1 if there is no such.
int OnlyIter(const Expr& index) {
  const std::vector<int64_t> coefficients = CoefficientsOf(index);
  int only = -1;
  for (size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i] == 0) continue;
    if (coefficients[i] != 1 || only >= 0) return -1;
    only = static_cast<int>(i);
  }
  return only;
}

/// Whether the index is that of a window: one iterator and another one of the reduction, each times
/// something.
struct Window {
  int64_t stride = 0, dilation = 0;
};
Window WindowOf(const Expr& index, int spatial, int reduction) {
  const std::vector<int64_t> coefficients = CoefficientsOf(index);
  for (size_t i = 0; i < coefficients.size(); ++i) {
    const int iter = static_cast<int>(i);
    if (coefficients[i] != 0 && iter != spatial && iter != reduction) return {};
  }
  if (coefficients.empty()) return {};
  return {coefficients[static_cast<size_t>(spatial)], coefficients[static_cast<size_t>(reduction)]};
}

bool IsLoad(const Expr& e) { return e->op == ExprOp::kLoad; }

}  // namespace

Result<Convolution> AsConvolution(const Program& program, BlockId id) {
  if (Status s = CheckBlock(program, id); !s) return s.error();
  const Block& block = program.blocks[id];
  const auto refuse = [&](std::string_view why) {
    return Error{fmt::format("{} {}", block.name, why)};
  };
  if (block.kind != BlockKind::kReduce || block.reduction != Reduction::kSum ||
      block.value->op != ExprOp::kMul || !IsLoad(block.value->operands[0]) ||
      !IsLoad(block.value->operands[1])) {
    return refuse("is no sum of products");
  }
  if (!IsInNaiveNest(program, id)) return refuse("is scheduled already");
  if (block.iters.size() != kIterCount || block.output_index.size() != 4) {
    return refuse("is no convolution of an image with channels last, without groups");
  }
  const Expr &image = block.value->operands[0], &weights = block.value->operands[1];
  if (image->operands.size() != 4 || weights->operands.size() != 4) {
    return refuse("is no convolution of an image with channels last, without groups");
  }
  const int row = OnlyIter(weights->operands[0]), column = OnlyIter(weights->operands[1]),
            channel = OnlyIter(weights->operands[2]);
  bool suits = row >= 4 && column >= 4 && channel >= 4 && row != column && column != channel &&
               row != channel && OnlyIter(weights->operands[3]) == kOutput &&
               OnlyIter(image->operands[0]) == kBatch && OnlyIter(image->operands[3]) == channel;
  for (int d = 0; d < 4; ++d) suits = suits && OnlyIter(block.output_index[d]) == d;
  if (!suits) return refuse("is no convolution of an image with channels last, without groups");
  const Window rows = WindowOf(image->operands[1], kRow, row),
               columns = WindowOf(image->operands[2], kColumn, column);
  if (rows.stride == 0 || rows.dilation == 0 || columns.stride == 0 || columns.dilation == 0) {
    return refuse("does not slide its kernel over rows and columns");
  }
  if (rows.stride != 1 || columns.stride != 1) return refuse("has a stride other than 1");
  if (rows.dilation != 1 || columns.dilation != 1) return refuse("has a dilation other than 1");
  for (BufferId buffer : {image->index, weights->index}) {
    if (!program.buffers[buffer].layout.empty()) return refuse("follows a rewritten layout");
  }
  const auto extent = [&](int iter) { return block.iters[static_cast<size_t>(iter)].extent; };
  return Convolution{id,
                     image->index,
                     weights->index,
                     extent(kBatch),
                     extent(kRow),
                     extent(kColumn),
                     extent(channel),
                     extent(kOutput),
                     extent(row),
                     extent(column),
                     block.iters[kBatch].bound,
                     block.iters[kRow].bound,
                     block.iters[kColumn].bound};
}

}  // namespace bayloom::tensor
