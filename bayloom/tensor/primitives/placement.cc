// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/placement.h"

#include <fmt/format.h>

#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

Placement::NewIter IterOver(const Span& span) {
  Placement::NewIter iter{span.outer, {{span.extent(), 1}}};
  iter.base.constant = span.min;
  return iter;
}

std::vector<Span> SpansOf(const Placement& placement) {
  std::vector<Span> spans;
  spans.reserve(placement.iters.size());
  for (const Placement::NewIter& iter : placement.iters) {
    Span span{{}, iter.base.constant, iter.base.constant};
    span.outer.terms = iter.base.terms;
    for (const Placement::NewIter::Digit& digit : iter.digits) {
      span.max += digit.stride * (digit.extent - 1);
    }
    spans.push_back(std::move(span));
  }
  return spans;
}

void PlaceBlock(Program& program, BlockId block, const Placement& placement) {
  std::vector<LoopId> loops;
  std::vector<Affine> bindings;
  for (const Placement::NewIter& iter : placement.iters) {
    std::vector<DigitId> digits;
    Affine binding = iter.base;
    for (const Placement::NewIter::Digit& digit : iter.digits) {
      digits.push_back(NewDigit(program, digit.extent));
      if (digit.extent > 1) binding.Add(digits.back(), digit.stride);
    }
    if (digits.empty()) digits.push_back(NewDigit(program, 1));
    loops.push_back(NewLoop(program, std::move(digits)));
    bindings.push_back(std::move(binding));
  }
  program.blocks[block].bindings = std::move(bindings);
  program.blocks[block].guarded = false;
  const NodeRef nest = Nest(program, loops, NodeRef::Block(block));
  InsertChild(program, placement.place.parent, placement.place.index, nest);
}

void MoveBlock(Program& program, BlockId block, const Placement& placement) {
  Placement adjusted = placement;
  const NodeRef node = NodeRef::Block(block);
  Place& place = adjusted.place;
  if (IsBelow(program, node, place.parent)) {
    const int old_index = IndexInParent(program, ChildTowards(program, place.parent, node));
    const size_t old_size = program.BodyOf(place.parent).size();
    Detach(program, node);
    if (program.BodyOf(place.parent).size() < old_size && old_index < place.index) --place.index;
  } else {
    Detach(program, node);
  }
  PlaceBlock(program, block, adjusted);
}

Status CheckMayContainLoops(const Program& program, NodeRef place) {
  for (; place.is_loop(); place = program.ParentOf(place)) {
    const LoopKind kind = program.loops[place.id].kind;
    if (kind == LoopKind::kVectorized || kind == LoopKind::kTensorized) {
      return Error{fmt::format("loop {} is {}: nothing can be placed inside", place.id,
                               kind == LoopKind::kVectorized ? "vectorized" : "tensorized")};
    }
  }
  return Ok();
}

}  // namespace bayloom::tensor
