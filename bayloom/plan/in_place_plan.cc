// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/in_place_plan.h"

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/primitives/region.h"

namespace bayloom::plan {
namespace {

/// How often the block is computed in each iteration of `scope`.
int64_t IterationsBelow(const tensor::Program& program, tensor::BlockId block,
                        tensor::NodeRef scope) {
  int64_t iterations = 1;
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    const tensor::NodeRef node = tensor::NodeRef::Loop(loop);
    if (node != scope && tensor::IsBelow(program, node, scope))
      iterations *= program.ExtentOf(loop);
  }
  return iterations;
}

bool SameMemory(const tensor::Buffer& a, const tensor::Buffer& b) {
  const auto plain = [](const tensor::Buffer& buffer) {
    return buffer.layout.empty() && buffer.slice_of.empty();
  };
  return a.dtype == b.dtype && a.shape == b.shape && plain(a) && plain(b);
}

/// Whether the block reads the buffer only at the element that it writes.
bool ReadsWhereItWrites(const tensor::Program& program, tensor::BlockId id,
                        tensor::BufferId buffer) {
  const tensor::Block& block = program.blocks[id];
  bool same = true;
  tensor::ForEachLoadOf(block.value, buffer, [&](const tensor::ExprNode& load) {
    for (size_t d = 0; d < load.operands.size(); ++d) {
      same = same && tensor::StructurallyEqual(load.operands[d], block.output_index[d]);
    }
  });
  return same;
}

/// Whether the block's part of the scope comes after all others that touch the buffer.
bool TouchesLast(const tensor::Program& program, tensor::BlockId last, tensor::BufferId buffer,
                 tensor::NodeRef scope) {
  bool found = false;
  for (tensor::NodeRef child : program.BodyOf(scope)) {
    for (tensor::BlockId id : program.BlocksBelow(child)) {
      const std::vector<tensor::Access> accesses = tensor::AccessesOf(program, id);
      const bool touches = std::ranges::any_of(
          accesses, [&](const tensor::Access& access) { return access.buffer == buffer; });
      if (touches && (found || (id != last &&
                                tensor::IsBelow(program, tensor::NodeRef::Block(last), child)))) {
        return false;
      }
      found = found || id == last;
    }
  }
  return found;
}

}  // namespace

tensor::BufferId OutputThatKeeps(const tensor::Program& program, tensor::BufferId buffer) {
  const tensor::BlockId writer = program.WriterOf(buffer);
  const std::vector<tensor::BlockId> readers = program.ReadersOf(buffer);
  if (writer < 0 || program.blocks[writer].kind != tensor::BlockKind::kPlain ||
      readers.size() < 2) {
    return -1;
  }
  const tensor::Allocation held = tensor::AllocationOf(program, buffer);
  int64_t elements = 1;
  for (int64_t extent : held.shape) elements *= extent;
  for (tensor::BlockId id : readers) {
    const tensor::Block& block = program.blocks[id];
    const tensor::Buffer& output = program.buffers[block.output];
    if (block.kind != tensor::BlockKind::kPlain || output.role != tensor::BufferRole::kOutput ||
        !program.ReadersOf(block.output).empty() || !SameMemory(output, program.buffers[buffer]) ||
        !ReadsWhereItWrites(program, id, buffer)) {
      continue;
    }
    // Each element is written once, and those of an iteration of the scope are those held in it:
    // none is touched in two iterations.
    const bool once =
        IterationsBelow(program, id, tensor::NodeRef::Root()) == output.ElementCount() &&
        IterationsBelow(program, id, held.scope) == elements;
    if (once && TouchesLast(program, id, buffer, held.scope)) return block.output;
  }
  return -1;
}

}  // namespace bayloom::plan
