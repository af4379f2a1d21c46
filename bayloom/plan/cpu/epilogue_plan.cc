// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/epilogue_plan.h"

#include <algorithm>

#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/primitives/region.h"

namespace bayloom::plan {
namespace {

/// The node right after one among its parent's children; kRoot if that is the last.
tensor::NodeRef NextSibling(const tensor::Program& program, tensor::NodeRef node) {
  const std::vector<tensor::NodeRef>& siblings = program.BodyOf(program.ParentOf(node));
  const auto next = std::next(std::ranges::find(siblings, node));
  return next == siblings.end() ? tensor::NodeRef::Root() : *next;
}

/// Whether the block is computed in a parallel loop at or below `nest`.
bool IsParallelBelow(const tensor::Program& program, tensor::BlockId block, tensor::NodeRef nest) {
  return std::ranges::any_of(program.LoopsAround(tensor::NodeRef::Block(block)),
                             [&](tensor::LoopId loop) {
                               return program.loops[loop].kind == tensor::LoopKind::kParallel &&
                                      tensor::IsBelow(program, tensor::NodeRef::Loop(loop), nest);
                             });
}

/// For each dimension of the buffer the iterator of `reader` that indexes it, -1 for a constant 0,
/// where it is read element by element and always at the same place.
std::optional<std::vector<int>> ElementwiseIndex(const tensor::Block& reader,
                                                 tensor::BufferId buffer) {
  std::optional<std::vector<int>> result;
  bool same = true;
  tensor::ForEachLoadOf(reader.value, buffer, [&](const tensor::ExprNode& load) {
    std::vector<int> iters;
    for (const tensor::Expr& index : load.operands) {
      const bool is_iter = index->op == tensor::ExprOp::kIter;
      const bool twice = is_iter && std::ranges::count(iters, index->index) > 0;
      same = same && !twice && (is_iter || tensor::IsIntLiteral(index, 0));
      iters.push_back(is_iter ? index->index : -1);
    }
    same = same && (!result || *result == iters);
    result = std::move(iters);
  });
  if (!same || !result) return std::nullopt;
  for (size_t i = 0; i < reader.iters.size(); ++i) {
    const bool used = std::ranges::count(*result, static_cast<int>(i)) > 0;
    if (!used && reader.iters[i].extent > 1) return std::nullopt;
  }
  return result;
}

bool SameSpan(const tensor::Span& a, const tensor::Span& b) {
  return a.outer == b.outer && a.min == b.min && a.max == b.max;
}

/// Whether the consumer reads nothing else that is written below `node`.
bool ReadsOnlyFromOutside(const tensor::Program& program, const tensor::Block& consumer,
                          tensor::BufferId result, tensor::NodeRef node) {
  return std::ranges::none_of(program.BlocksBelow(node), [&](tensor::BlockId id) {
    const tensor::BufferId written = program.blocks[id].output;
    return written != result && tensor::Loads(consumer.value, written);
  });
}

/// Whether the consumer writes where something that is touched below `node` is kept: a later tile
/// would read what the consumer of an earlier one has written.
bool OverwritesInput(const tensor::Program& program, const MemoryPlan& memory,
                     const tensor::Block& consumer, tensor::NodeRef node) {
  const auto is_kept = [&](const BufferPlace& place) { return place.kept_in == consumer.output; };
  if (std::ranges::none_of(memory.buffers, is_kept)) return false;
  return std::ranges::any_of(program.BlocksBelow(node), [&](tensor::BlockId id) {
    return std::ranges::any_of(tensor::AccessesOf(program, id), [&](const tensor::Access& access) {
      return memory.buffers[access.buffer].kept_in == consumer.output;
    });
  });
}

}  // namespace

std::optional<TileEpilogue> PlanEpilogue(const tensor::Program& program, const MemoryPlan& memory,
                                         const AccumulatorTile& tile) {
  const tensor::Block& block = program.blocks[tile.block];
  const tensor::BufferId result = block.output;
  const tensor::NodeRef root = tensor::NodeRef::Loop(tile.root);
  const std::vector<tensor::BlockId> readers = program.ReadersOf(result);
  if (program.buffers[result].role != tensor::BufferRole::kIntermediate || readers.size() != 1 ||
      !tile.starts_neutral) {
    return std::nullopt;
  }
  TileEpilogue epilogue{readers[0], NextSibling(program, root), program.blocks[readers[0]], {}};
  if (!epilogue.nest.is_loop() || epilogue.block.kind != tensor::BlockKind::kPlain ||
      program.BlocksBelow(epilogue.nest) != std::vector{epilogue.id} ||
      IsParallelBelow(program, epilogue.id, epilogue.nest) ||
      !ReadsOnlyFromOutside(program, epilogue.block, result, root) ||
      OverwritesInput(program, memory, epilogue.block, root)) {
    return std::nullopt;
  }
  const auto iters = ElementwiseIndex(epilogue.block, result);
  const tensor::DigitMask outer = tensor::DigitsAround(program, program.ParentOf(root));
  const std::optional<tensor::Region> computed = tensor::WrittenRegion(program, block, outer);
  if (!iters || !computed || !tensor::WrittenRegion(program, epilogue.block, outer))
    return std::nullopt;
  for (size_t d = 0; d < iters->size(); ++d) {
    const int iter = (*iters)[d];
    if (iter < 0) {
      if (!SameSpan({}, (*computed)[d])) return std::nullopt;
      continue;
    }
    tensor::Affine& binding = epilogue.block.bindings[iter];
    if (!SameSpan(tensor::SpanOf(program, binding, outer), (*computed)[d])) return std::nullopt;
    binding = *tensor::ComposeIndex(block.output_index[d], block.bindings);
  }
  Result<BlockAccesses> accesses = PlaceLoadsAndStore(program, memory, epilogue.block);
  if (!accesses) return std::nullopt;
  epilogue.accesses = *std::move(accesses);
  return epilogue;
}

}  // namespace bayloom::plan
