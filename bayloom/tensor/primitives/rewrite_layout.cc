// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// A piece of one dimension that one digit of the reader's loops walks through; without a digit the
/// whole dimension, in which data says where to read.
struct Piece {
  LayoutAxis axis;
  DigitId digit;
  bool IsWhole() const { return digit < 0; }
};

/// The only block that reads the buffer, and the index at which it always does; nullopt where that
/// is not linear.
struct Reading {
  BlockId block;
  std::vector<std::optional<Affine>> index;
};

Result<Reading> FindReading(const Program& program, BufferId id) {
  const std::string& name = program.buffers[id].name;
  const std::vector<BlockId> readers = program.ReadersOf(id);
  if (readers.size() != 1) {
    return Error{fmt::format("{} blocks read {}: only one may", readers.size(), name)};
  }
  Reading reading{readers[0], {}};
  int accesses = 0;
  for (const Access& access : AccessesOf(program, readers[0])) {
    if (access.buffer != id || access.is_write) continue;
    ++accesses;
    reading.index = access.indices;
  }
  if (accesses != 1) return Error{fmt::format("{} is read at several places at once", name)};
  return reading;
}

/// Cuts every dimension at the digits of the reader's loops.
Result<std::vector<Piece>> CutDimensions(const Program& program, const Buffer& buffer,
                                         const Reading& reading) {
  std::vector<Piece> pieces;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    if (!reading.index[d]) {
      pieces.push_back({{static_cast<int>(d), 1, buffer.shape[d]}, -1});
      continue;
    }
    const Affine& index = *reading.index[d];
    int64_t count = 1;
    for (const Affine::Term& term : index.terms) {
      const int64_t extent = program.digit_extents[term.digit];
      if (extent == 1) continue;
      count *= extent;
      const bool seen = std::any_of(pieces.begin(), pieces.end(),
                                    [&](const Piece& piece) { return piece.digit == term.digit; });
      pieces.push_back({{static_cast<int>(d), term.coefficient, extent}, term.digit});
      if (seen) count = 0;
    }
    if (index.constant != 0 || count != buffer.shape[d] || !IsMixedRadix(program, index.terms)) {
      return Error{fmt::format("{} does not walk through dimension {} of {} digit by digit",
                               program.blocks[reading.block].name, d, buffer.name)};
    }
  }
  return pieces;
}

/// By loop depth, but what is contiguous in memory now stays so, and what one instruction sums up
/// is next to each other.
void SortByDepth(const Program& program, const Buffer& buffer, BlockId reader,
                 std::vector<Piece>& pieces) {
  std::vector<DigitId> order, summed_at_once;
  for (LoopId loop : program.LoopsAround(NodeRef::Block(reader))) {
    const std::vector<DigitId>& digits = program.loops[loop].digits;
    order.insert(order.end(), digits.begin(), digits.end());
    if (program.loops[loop].kind == LoopKind::kTensorized) summed_at_once = digits;
  }
  int innermost = static_cast<int>(buffer.shape.size()) - 1;
  while (innermost > 0 && buffer.shape[innermost] == 1) --innermost;
  auto depth = [&](const Piece& piece) {
    if (piece.IsWhole()) return size_t{0};
    const auto at_once = std::find(summed_at_once.begin(), summed_at_once.end(), piece.digit);
    if (at_once != summed_at_once.end()) return order.size() + 2;
    if (piece.axis.dimension == innermost && piece.axis.stride == 1) return order.size() + 1;
    const auto place = std::find(order.begin(), order.end(), piece.digit) - order.begin();
    return static_cast<size_t>(place) + 1;
  };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const Piece& a, const Piece& b) { return depth(a) < depth(b); });
}

/// Appends an axis, merged with the one before where they are neighbours in their dimension.
void AppendAxis(const LayoutAxis& axis, std::vector<LayoutAxis>& axes) {
  if (!axes.empty() && axes.back().dimension == axis.dimension &&
      axes.back().stride == axis.stride * axis.extent) {
    axes.back() = {axis.dimension, axis.stride, axes.back().extent * axis.extent};
  } else {
    axes.push_back(axis);
  }
}

bool IsRowMajor(const std::vector<LayoutAxis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].stride != 1 || (i > 0 && axes[i].dimension < axes[i - 1].dimension)) return false;
  }
  return true;
}

/// The block that fills a cache, if the buffer is one: a plain copy alone in its nest.
Result<BlockId> FindCopy(const Program& program, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  const BlockId writer = program.WriterOf(id);
  if (buffer.role == BufferRole::kConstant) return writer;
  if (buffer.role == BufferRole::kIntermediate && writer >= 0) {
    const Block& block = program.blocks[writer];
    const Expr& value = block.value;
    bool copies = block.kind == BlockKind::kPlain && value->op == ExprOp::kLoad &&
                  value->operands.size() == block.output_index.size();
    for (size_t d = 0; copies && d < block.output_index.size(); ++d) {
      copies = block.output_index[d]->op == ExprOp::kIter &&
               block.output_index[d]->index == static_cast<int>(d) &&
               StructurallyEqual(value->operands[d], block.output_index[d]);
    }
    if (copies) return writer;
  }
  return Error{
      fmt::format("the layout of {} cannot be rewritten: it is neither a constant nor a "
                  "cache of something",
                  buffer.name)};
}

/// The top of the nest in which the copy is alone.
NodeRef TopOfNest(const Program& program, BlockId copy) {
  NodeRef top = NodeRef::Block(copy);
  while (program.ParentOf(top).is_loop() && program.BodyOf(program.ParentOf(top)).size() == 1) {
    top = program.ParentOf(top);
  }
  return top;
}

/// The loops that the copy shares with other blocks must be loops of the reader.
Status CheckRebuildable(const Program& program, BlockId copy, const std::vector<Piece>& pieces) {
  const DigitMask outer = DigitsAround(program, program.ParentOf(TopOfNest(program, copy)));
  for (const Affine& binding : program.blocks[copy].bindings) {
    for (const Affine::Term& term : binding.terms) {
      if (!outer[term.digit] || program.digit_extents[term.digit] == 1) continue;
      if (std::none_of(pieces.begin(), pieces.end(),
                       [&](const Piece& piece) { return piece.digit == term.digit; })) {
        return Error{
            fmt::format("the nest of {} cannot be rebuilt: other blocks are computed in "
                        "it",
                        program.blocks[copy].name)};
      }
    }
  }
  return Ok();
}

/// Makes the copy walk the pieces in memory order, those of loops around it excepted.
void RebuildCopyNest(Program& program, BlockId copy, const std::vector<Piece>& pieces) {
  const NodeRef top = TopOfNest(program, copy);
  const NodeRef parent = program.ParentOf(top);
  const DigitMask outer = DigitsAround(program, parent);
  std::vector<Affine> bindings(program.blocks[copy].iters.size());
  std::vector<LayoutAxis> inner;
  bool neighbours = false;  // in the layout, not only in the nest: loops around lie between others
  for (const Piece& piece : pieces) {
    if (outer[piece.digit]) {
      bindings[piece.axis.dimension].Add(piece.digit, piece.axis.stride);
    } else if (neighbours) {
      AppendAxis(piece.axis, inner);
    } else {
      inner.push_back(piece.axis);
    }
    neighbours = !outer[piece.digit];
  }
  std::vector<LoopId> loops;
  for (const LayoutAxis& axis : inner) {
    const DigitId digit = NewDigit(program, axis.extent);
    bindings[axis.dimension].Add(digit, axis.stride);
    loops.push_back(NewLoop(program, {digit}));
  }
  for (NodeRef old = program.ParentOf(NodeRef::Block(copy)); old != parent;
       old = program.ParentOf(old)) {
    program.loops[old.id].alive = false;
  }
  program.blocks[copy].bindings = std::move(bindings);
  const int index = IndexInParent(program, top);
  program.BodyOf(parent).erase(program.BodyOf(parent).begin() + index);
  InsertChild(program, parent, index, Nest(program, loops, NodeRef::Block(copy)));
}

}  // namespace

Status RewriteLayout(Program& program, BufferId id) {
  if (id < 0 || id >= static_cast<int>(program.buffers.size())) {
    return Error{fmt::format("there is no buffer {}", id)};
  }
  if (!program.buffers[id].layout.empty()) {
    return Error{fmt::format("the layout of {} is rewritten already", program.buffers[id].name)};
  }
  const Result<BlockId> copy = FindCopy(program, id);
  if (!copy) return copy.error();
  const Result<Reading> reading = FindReading(program, id);
  if (!reading) return reading.error();
  if (program.blocks[reading->block].guarded) {
    return Error{fmt::format("the layout of {} cannot be rewritten: {} is guarded",
                             program.buffers[id].name, program.blocks[reading->block].name)};
  }
  Result<std::vector<Piece>> pieces = CutDimensions(program, program.buffers[id], *reading);
  if (!pieces) return pieces.error();
  if (*copy >= 0 && std::ranges::any_of(*pieces, &Piece::IsWhole)) {
    return Error{
        fmt::format("{} is read at an index that is not linear", program.buffers[id].name)};
  }
  SortByDepth(program, program.buffers[id], reading->block, *pieces);
  std::vector<LayoutAxis> layout;
  for (const Piece& piece : *pieces) AppendAxis(piece.axis, layout);
  if (IsRowMajor(layout)) return Ok();
  if (*copy >= 0) {
    if (Status s = CheckRebuildable(program, *copy, *pieces); !s) return s;
  }
  program.buffers[id].layout = std::move(layout);
  if (*copy >= 0) RebuildCopyNest(program, *copy, *pieces);
  return Ok();
}

}  // namespace bayloom::tensor
