// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/region.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

void CollectBuffers(const Expr& e, std::vector<BufferId>& buffers) {
  if (e->op == ExprOp::kLoad &&
      std::find(buffers.begin(), buffers.end(), e->index) == buffers.end()) {
    buffers.push_back(e->index);
  }
  for (const Expr& operand : e->operands) CollectBuffers(operand, buffers);
}

Span WholeDimension(int64_t extent) { return {{}, 0, extent - 1}; }

/// Accesses are made inside of the buffer, regardless of a guarded index.
void Clip(int64_t extent, Span& span) {
  if (!span.outer.terms.empty()) return;
  span.min = std::clamp<int64_t>(span.min, 0, extent - 1);
  span.max = std::clamp<int64_t>(span.max, 0, extent - 1);
}

/// Adds scale * index to the span; false when the index is not linear.
bool AddIndex(const Expr& index, const std::vector<Span>& iters, int64_t scale, Span& sum) {
  switch (index->op) {
    case ExprOp::kInt:
      sum.min += scale * index->int_value;
      sum.max += scale * index->int_value;
      return true;
    case ExprOp::kIter: {
      const Span& iter = iters[index->index];
      sum.outer.Add(iter.outer, scale);
      sum.min += scale * (scale < 0 ? iter.max : iter.min);
      sum.max += scale * (scale < 0 ? iter.min : iter.max);
      return true;
    }
    case ExprOp::kAdd:
      return AddIndex(index->operands[0], iters, scale, sum) &&
             AddIndex(index->operands[1], iters, scale, sum);
    case ExprOp::kSub:
      return AddIndex(index->operands[0], iters, scale, sum) &&
             AddIndex(index->operands[1], iters, -scale, sum);
    case ExprOp::kNegate:
      return AddIndex(index->operands[0], iters, -scale, sum);
    case ExprOp::kMul:
      return index->operands[1]->op == ExprOp::kInt &&
             AddIndex(index->operands[0], iters, scale * index->operands[1]->int_value, sum);
    default:
      return false;
  }
}

/// Unites what all loads of the buffer touch; `span_of(index)` gives one dimension's span.
template <typename SpanOfIndex>
Region UniteLoads(const Program& program, const Block& block, BufferId id,
                  const SpanOfIndex& span_of) {
  const Buffer& buffer = program.buffers[id];
  Region region;
  ForEachLoadOf(block.value, id, [&](const ExprNode& load) {
    Region touched(buffer.shape.size());
    for (size_t d = 0; d < touched.size(); ++d) {
      std::optional<Span> span = span_of(load.operands[d]);
      touched[d] = span ? *std::move(span) : WholeDimension(buffer.shape[d]);
      Clip(buffer.shape[d], touched[d]);
    }
    if (region.empty()) {
      region = std::move(touched);
    } else {
      Unite(buffer, touched, region);
    }
  });
  return region;
}

}  // namespace

DigitMask DigitsAround(const Program& program, NodeRef place) {
  DigitMask mask(program.digit_extents.size());
  for (; place.is_loop(); place = program.ParentOf(place)) {
    for (DigitId digit : program.loops[place.id].digits) mask[digit] = true;
  }
  return mask;
}

Span SpanOf(const Program& program, const Affine& index, const DigitMask& outer) {
  Span span;
  span.outer.terms = index.terms;
  span.min = span.max = index.constant;
  Widen(program, outer, span);
  return span;
}

std::optional<Span> SpanOverIters(const Expr& index, const std::vector<Span>& iters) {
  Span span;
  if (!AddIndex(index, iters, 1, span)) return std::nullopt;
  return span;
}

void Widen(const Program& program, const DigitMask& outer, Span& span) {
  std::erase_if(span.outer.terms, [&](const Affine::Term& term) {
    const int64_t reach = term.coefficient * (program.digit_extents[term.digit] - 1);
    if (reach != 0 && outer[term.digit]) return false;
    (reach < 0 ? span.min : span.max) += reach;
    return true;
  });
}

Region ReadRegion(const Program& program, const Block& block, BufferId buffer,
                  const DigitMask& outer) {
  return UniteLoads(program, block, buffer, [&](const Expr& index) -> std::optional<Span> {
    const std::optional<Affine> affine = ComposeIndex(index, block.bindings);
    if (!affine) return std::nullopt;
    return SpanOf(program, *affine, outer);
  });
}

Region ReadRegion(const Program& program, const Block& block, BufferId buffer,
                  const std::vector<Span>& iters) {
  return UniteLoads(program, block, buffer,
                    [&](const Expr& index) { return SpanOverIters(index, iters); });
}

void Unite(const Buffer& buffer, const Region& other, Region& region) {
  for (size_t d = 0; d < region.size(); ++d) {
    if (region[d].outer == other[d].outer) {
      region[d].min = std::min(region[d].min, other[d].min);
      region[d].max = std::max(region[d].max, other[d].max);
    } else {
      region[d] = WholeDimension(buffer.shape[d]);
    }
  }
}

std::optional<Region> WrittenRegion(const Program& program, const Block& block,
                                    const DigitMask& outer) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != IterKind::kReduction) continue;
    for (const Affine::Term& term : block.bindings[i].terms) {
      if (outer[term.digit] && program.digit_extents[term.digit] > 1) return std::nullopt;
    }
  }
  Region region;
  std::vector<DigitId> seen;
  for (const Expr& index : block.output_index) {
    const std::optional<Affine> affine = ComposeIndex(index, block.bindings);
    if (!affine) return std::nullopt;
    std::vector<Affine::Term> inner;
    for (const Affine::Term& term : affine->terms) {
      if (outer[term.digit] || program.digit_extents[term.digit] == 1) continue;
      if (std::find(seen.begin(), seen.end(), term.digit) != seen.end()) return std::nullopt;
      seen.push_back(term.digit);
      inner.push_back(term);
    }
    if (!IsDense(program, std::move(inner))) return std::nullopt;
    region.push_back(SpanOf(program, *affine, outer));
  }
  return region;
}

bool Covers(const Program& program, const Buffer& buffer, const Region& written,
            const Region& needed) {
  for (size_t d = 0; d < needed.size(); ++d) {
    if (written[d].outer.terms.empty() && written[d].min <= 0 &&
        written[d].max >= buffer.shape[d] - 1) {
      continue;  // all there is
    }
    Span gap = needed[d];
    gap.outer.Add(written[d].outer, -1);
    Widen(program, DigitMask(program.digit_extents.size()), gap);
    if (gap.min < written[d].min || gap.max > written[d].max) return false;
  }
  return true;
}

Status CheckBufferComplete(const Program& program, BufferId buffer, Region needed, Place place) {
  const BlockId writer = program.WriterOf(buffer);
  if (writer < 0) return Ok();
  const NodeRef writer_node = NodeRef::Block(writer);
  const NodeRef scope = CommonAncestor(program, writer_node, place.parent);
  const int writer_index = IndexInParent(program, ChildTowards(program, scope, writer_node));
  const int place_index = scope == place.parent
                              ? place.index
                              : IndexInParent(program, ChildTowards(program, scope, place.parent));
  if (writer_index >= place_index) {
    return Error{fmt::format("{} would be read before {} has computed it",
                             program.buffers[buffer].name, program.blocks[writer].name)};
  }
  const DigitMask outer = DigitsAround(program, scope);
  const std::optional<Region> written = WrittenRegion(program, program.blocks[writer], outer);
  for (Span& span : needed) Widen(program, outer, span);
  if (!written || !Covers(program, program.buffers[buffer], *written, needed)) {
    return Error{fmt::format("what is needed of {} would not be complete there",
                             program.buffers[buffer].name)};
  }
  return Ok();
}

Status CheckInputAvailable(const Program& program, BlockId reader, BufferId buffer,
                           const std::vector<Span>& iters, Place place) {
  const BlockId writer = program.WriterOf(buffer);
  if (writer < 0) return Ok();
  const NodeRef shared = CommonAncestor(program, NodeRef::Block(writer), NodeRef::Block(reader));
  if (!IsBelow(program, place.parent, shared)) {
    return Error{fmt::format("{} cannot leave the loop that its producer {} is computed in",
                             program.blocks[reader].name, program.blocks[writer].name)};
  }
  return CheckBufferComplete(program, buffer,
                             ReadRegion(program, program.blocks[reader], buffer, iters), place);
}

Status CheckInputsAvailable(const Program& program, BlockId block, const std::vector<Span>& iters,
                            Place place) {
  for (BufferId buffer : BuffersReadBy(program.blocks[block])) {
    if (Status s = CheckInputAvailable(program, block, buffer, iters, place); !s) return s;
  }
  return Ok();
}

Status CheckNoLayouts(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  std::vector<BufferId> buffers = BuffersReadBy(block);
  buffers.push_back(block.output);
  for (BufferId buffer : buffers) {
    if (program.buffers[buffer].layout.empty()) continue;
    return Error{fmt::format("{} follows the rewritten layout of {}", block.name,
                             program.buffers[buffer].name)};
  }
  return Ok();
}

std::vector<BufferId> BuffersReadBy(const Block& block) {
  std::vector<BufferId> buffers;
  if (block.kind != BlockKind::kInit) CollectBuffers(block.value, buffers);
  return buffers;
}

Result<std::vector<int>> IterOfDimension(const Program& program, const Block& block) {
  const std::vector<int64_t>& shape = program.buffers[block.output].shape;
  std::vector<int> iters;
  for (size_t d = 0; d < block.output_index.size(); ++d) {
    const Expr& index = block.output_index[d];
    const bool is_iter = index->op == ExprOp::kIter;
    if (is_iter && std::find(iters.begin(), iters.end(), index->index) == iters.end()) {
      iters.push_back(index->index);
    } else if (shape[d] == 1 && IsIntLiteral(index, 0)) {
      iters.push_back(-1);
    } else {
      return Error{fmt::format("{} does not write at its own iterators", block.name)};
    }
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == IterKind::kReduction || block.iters[i].extent == 1) continue;
    if (std::find(iters.begin(), iters.end(), static_cast<int>(i)) == iters.end()) {
      return Error{fmt::format("{} does not write at its own iterators", block.name)};
    }
  }
  return iters;
}

}  // namespace bayloom::tensor
