// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pooled_blocks.h"

#include <algorithm>
#include <utility>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/window_stages.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockId;
using tensor::BlockKind;

/// Whether the block reads the buffer at its own place, dimension by dimension.
bool ReadsInPlace(const tensor::Program& program, BlockId id, tensor::BufferId buffer) {
  const std::vector<int64_t>& shape = program.buffers[buffer].shape;
  bool in_place = true;
  tensor::Visit(program.blocks[id].value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->index != buffer) return;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      const tensor::Expr& index = e->operands[d];
      const bool is_own = index->op == tensor::ExprOp::kIter && index->index == d;
      in_place &= is_own || (shape[d] == 1 && tensor::IsIntLiteral(index, 0));
    }
  });
  return in_place;
}

/// Whether the block combines windows of rows and columns of one tensor, channel by channel.
bool IsPool(const tensor::Block& block) {
  const tensor::Expr load = OnlyLoad(block.value);
  if (!load.defined() || load->operands.size() != kRank || LastSpatialIter(block) != kChannel ||
      !IsChannelByChannel(block)) {
    return false;
  }
  const int iters = static_cast<int>(block.iters.size());
  for (int d = 0; d < kRank; ++d) {
    const auto form = tensor::ToLinear(load->operands[d], iters);
    if (!form) return false;
    for (int i = 0; i < iters; ++i) {
      if (i == d || form->coefficients[i] == 0 || block.iters[i].extent == 1) continue;
      const bool slides =
          (d == kRow || d == kColumn) && block.iters[i].kind == tensor::IterKind::kReduction;
      if (!slides) return false;
    }
  }
  return true;
}

BlockId LastOfConvolution(const PairBlocks& pair) {
  return pair.between >= 0 ? pair.between : pair.convolution;
}

std::optional<PairBlocks> FindPairBlocks(const tensor::Program& program) {
  BlocksInTurn blocks(program);
  PairBlocks pair;
  pair.padding = blocks.Take(BlockKind::kPlain);
  pair.convolution = blocks.Take(BlockKind::kReduce);
  if (pair.convolution < 0) return std::nullopt;
  if (blocks.Next() >= 0 && ElementwiseConsumer(program, pair.convolution) == blocks.Next()) {
    pair.between = blocks.Take(BlockKind::kPlain);
  }
  pair.pool_padding = blocks.Take(BlockKind::kPlain);
  pair.pool = blocks.Take(BlockKind::kReduce);
  pair.epilogue = blocks.Take(BlockKind::kPlain);
  if (blocks.Next() >= 0 || pair.pool < 0) return std::nullopt;

  const BlockId last = LastOfConvolution(pair);
  const BlockId reader = pair.pool_padding >= 0 ? pair.pool_padding : pair.pool;
  const tensor::BufferId image = program.blocks[last].output;
  const auto pads = [&](BlockId padding, BlockId padded) {
    return padding < 0 || IsPaddingOf(program, padding, padded);
  };
  const auto finishes = [&](BlockId plain, BlockId reduction) {
    return plain < 0 || (ElementwiseConsumer(program, reduction) == plain &&
                         program.blocks[plain].iters.size() == kRank &&
                         ReadsInPlace(program, plain, program.blocks[reduction].output));
  };
  const bool is_pair =
      program.buffers[image].shape.size() == kRank && OnlyReaderOf(program, last) == reader &&
      IsPool(program.blocks[pair.pool]) && HasDataReuse(program, pair.convolution) &&
      pads(pair.padding, pair.convolution) && pads(pair.pool_padding, pair.pool) &&
      finishes(pair.between, pair.convolution) && finishes(pair.epilogue, pair.pool);
  return is_pair ? std::optional(pair) : std::nullopt;
}

/// Smallest and largest value of a linear form.
struct Range {
  int64_t min = 0, max = 0;
};
Range RangeOf(const tensor::LinearForm& form, const std::vector<tensor::Iter>& iters) {
  Range range = {form.constant, form.constant};
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t reach = form.coefficients[i] * (iters[i].extent - 1);
    (reach < 0 ? range.min : range.max) += reach;
  }
  return range;
}

std::optional<RowsOutside> FindRowsOutside(const tensor::Program& program, const PairBlocks& pair) {
  const tensor::Block& pool = program.blocks[pair.pool];
  const int iters = static_cast<int>(pool.iters.size());
  const Range read =
      RangeOf(*tensor::ToLinear(OnlyLoad(pool.value)->operands[kRow], iters), pool.iters);
  int64_t shift = 0;
  if (pair.pool_padding >= 0) {
    const tensor::Block& padding = program.blocks[pair.pool_padding];
    const auto rows = FindRowsRead(padding.value, static_cast<int>(padding.iters.size()));
    if (!rows || rows->dimension != kRow) return std::nullopt;
    shift = rows->shift;
  }
  const tensor::BufferId image = program.blocks[LastOfConvolution(pair)].output;
  const int64_t last = program.buffers[image].shape[kRow] - 1;
  return RowsOutside{std::max<int64_t>(0, -(read.min + shift)),
                     std::max<int64_t>(0, read.max + shift - last)};
}

}  // namespace

tensor::Expr OnlyLoad(const tensor::Expr& value) {
  tensor::Expr load;
  int loads = 0;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    load = e;
    ++loads;
  });
  return loads == 1 ? load : tensor::Expr();
}

std::optional<RowsRead> FindRowsRead(const tensor::Expr& value, int iters) {
  const tensor::Expr load = OnlyLoad(value);
  if (!load.defined()) return std::nullopt;
  std::optional<RowsRead> found;
  for (int d = 0; d < static_cast<int>(load->operands.size()); ++d) {
    if (!Mentions(load->operands[d], kRow)) continue;
    const std::optional<tensor::LinearForm> form = tensor::ToLinear(load->operands[d], iters);
    if (!form || found) return std::nullopt;
    for (int i = 0; i < iters; ++i) {
      if (form->coefficients[i] != (i == kRow ? 1 : 0)) return std::nullopt;
    }
    found = {d, form->constant};
  }
  return found;
}

std::optional<FoldedPair> FindFoldedPair(const tensor::Workload& workload) {
  if (workload.stages.size() < 2 || tensor::IsCall(workload)) return std::nullopt;
  tensor::Schedule folded = FoldElementwise(workload);
  const std::optional<PairBlocks> pair = FindPairBlocks(folded.program());
  if (!pair) return std::nullopt;
  const std::optional<RowsOutside> outside = FindRowsOutside(folded.program(), *pair);
  if (!outside) return std::nullopt;
  return FoldedPair{std::move(folded), *pair, *outside};
}

}  // namespace bayloom::sketch
