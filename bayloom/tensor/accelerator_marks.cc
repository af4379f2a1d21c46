// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/accelerator_marks.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/names.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

bool DealsIterations(LoopKind kind) {
  return kind == LoopKind::kCooperative || kind == LoopKind::kGridThread ||
         kind == LoopKind::kThreadReduce;
}

/// Only what one thread does: nothing is distributed or vectorized around, nothing distributed
/// below.
Status CheckNesting(const Program& program, LoopId loop, LoopKind mark) {
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    const LoopKind kind = program.loops[outer].kind;
    if (DealsIterations(kind) || kind == LoopKind::kVectorized) {
      return Error{fmt::format("a {} loop cannot be in a {} loop", NameOf(mark), NameOf(kind))};
    }
  }
  std::vector<NodeRef> below = program.loops[loop].body;
  while (!below.empty()) {
    const NodeRef node = below.back();
    below.pop_back();
    if (!node.is_loop()) continue;
    const Loop& inner = program.loops[node.id];
    if (DealsIterations(inner.kind) || IsBlockIndex(inner.kind) || IsThreadIndex(inner.kind) ||
        inner.kind == LoopKind::kParallel) {
      return Error{
          fmt::format("a {} loop cannot be in a {} loop", NameOf(inner.kind), NameOf(mark))};
    }
    below.insert(below.end(), inner.body.begin(), inner.body.end());
  }
  return Ok();
}

/// The outermost loop over threads around the loop, or -1.
LoopId ThreadLoopAround(const Program& program, LoopId loop) {
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    if (IsThreadIndex(program.loops[outer].kind)) return outer;
  }
  return -1;
}

/// Threads read together what no thread keeps to itself.
Status CheckReadsAreCommon(const Program& program, const Block& block, LoopId threads) {
  for (BufferId id : BuffersReadBy(block)) {
    const Buffer& buffer = program.buffers[id];
    const BlockId writer = program.WriterOf(id);
    if (buffer.scope == StorageScope::kShared || writer < 0) continue;
    if (IsBelow(program, NodeRef::Block(writer), NodeRef::Loop(threads))) {
      return Error{fmt::format("{} reads {}, which each thread computes for itself", block.name,
                               buffer.name)};
    }
  }
  return Ok();
}

bool DependsOnThread(const Program& program, const Block& block) {
  for (NodeRef at = block.parent; at.is_loop(); at = program.ParentOf(at)) {
    if (!IsThreadIndex(program.loops[at.id].kind)) continue;
    for (DigitId digit : program.loops[at.id].digits) {
      if (program.digit_extents[digit] == 1) continue;
      const bool used =
          std::any_of(block.bindings.begin(), block.bindings.end(),
                      [&](const Affine& binding) { return binding.CoefficientOf(digit) != 0; });
      if (used) return true;
    }
  }
  return false;
}

Status CheckCooperative(const Program& program, LoopId loop) {
  const LoopId threads = ThreadLoopAround(program, loop);
  if (threads < 0) return Ok();
  for (BlockId id : program.BlocksBelow(NodeRef::Loop(loop))) {
    const Block& block = program.blocks[id];
    if (block.kind != BlockKind::kPlain ||
        program.buffers[block.output].scope != StorageScope::kShared) {
      return Error{
          fmt::format("{} does not fill shared memory, so each thread needs its own", block.name)};
    }
    if (DependsOnThread(program, block)) {
      return Error{fmt::format("what {} does depends on the thread", block.name)};
    }
    if (Status s = CheckReadsAreCommon(program, block, threads); !s) return s;
  }
  return Ok();
}

Status CheckThreadReduce(const Program& program, LoopId loop) {
  const std::vector<BlockId> blocks = program.BlocksBelow(NodeRef::Loop(loop));
  if (blocks.size() != 1) return Error{"threads can share the iterations of one block only"};
  const Block& block = program.blocks[blocks[0]];
  if (block.kind != BlockKind::kReduce && block.kind != BlockKind::kUpdate) {
    return Error{fmt::format("{} does not reduce", block.name)};
  }
  for (NodeRef at = block.parent; at.is_loop(); at = program.ParentOf(at)) {
    const LoopKind kind = program.loops[at.id].kind;
    for (DigitId digit : program.loops[at.id].digits) {
      if (program.digit_extents[digit] > 1 && !ReducesOver(program, block, {digit})) {
        return Error{
            fmt::format("{} does not reduce over all loops that threads share or that "
                        "are below",
                        block.name)};
      }
    }
    if (at.id == loop) break;
    if (kind != LoopKind::kSerial && kind != LoopKind::kUnrolled) {
      return Error{fmt::format("a {} loop cannot be in a thread_reduce loop", NameOf(kind))};
    }
  }
  const LoopId threads = ThreadLoopAround(program, loop);
  return threads < 0 ? Ok() : CheckReadsAreCommon(program, block, threads);
}

}  // namespace

Status CheckAcceleratorMark(const Program& program, LoopId loop, LoopKind kind) {
  if (!DealsIterations(kind)) return Ok();
  if (Status s = CheckNesting(program, loop, kind); !s) return s;
  if (kind == LoopKind::kCooperative) return CheckCooperative(program, loop);
  if (kind == LoopKind::kThreadReduce) return CheckThreadReduce(program, loop);
  if (!program.LoopsAround(NodeRef::Loop(loop)).empty()) {
    return Error{"only the outermost loop of a nest can be distributed to blocks and threads"};
  }
  return Ok();
}

}  // namespace bayloom::tensor
