// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/program.h"

#include <algorithm>

namespace bayloom::tensor {
namespace {

void AppendBlocks(const Program& program, NodeRef node, std::vector<BlockId>& blocks) {
  if (node.is_block()) {
    blocks.push_back(node.id);
    return;
  }
  for (NodeRef child : program.BodyOf(node)) AppendBlocks(program, child, blocks);
}

bool HasRole(const Buffer& buffer, bool output) {
  return buffer.role != BufferRole::kIntermediate && (buffer.role == BufferRole::kOutput) == output;
}

/// A call of the library has no iterators: it writes the whole output.
Block CallBlock(const Stage& stage, const Buffer& output) {
  Block block;
  block.name = stage.name;
  block.kind = BlockKind::kCall;
  block.output = stage.output;
  block.output_index.assign(output.shape.size(), Expr(0));
  block.value = stage.value;
  return block;
}

Block NaiveBlock(const Stage& stage) {
  Block block;
  block.name = stage.name;
  block.kind = stage.reduction == Reduction::kNone ? BlockKind::kPlain : BlockKind::kReduce;
  block.iters = stage.iters;
  block.output = stage.output;
  for (size_t i = 0; i < stage.iters.size(); ++i) {
    if (stage.iters[i].kind == IterKind::kSpatial) {
      block.output_index.push_back(IterVar(static_cast<int>(i)));
    }
  }
  block.value = stage.value;
  block.reduction = stage.reduction;
  return block;
}

}  // namespace

int64_t Affine::CoefficientOf(DigitId digit) const {
  for (const Term& term : terms) {
    if (term.digit == digit) return term.coefficient;
  }
  return 0;
}

void Affine::Add(DigitId digit, int64_t coefficient) {
  if (coefficient == 0) return;
  auto at = std::find_if(terms.begin(), terms.end(),
                         [&](const Term& term) { return term.digit >= digit; });
  if (at == terms.end() || at->digit != digit) {
    terms.insert(at, {digit, coefficient});
  } else if ((at->coefficient += coefficient) == 0) {
    terms.erase(at);
  }
}

void Affine::Add(const Affine& other, int64_t scale) {
  constant += scale * other.constant;
  for (const Term& term : other.terms) Add(term.digit, scale * term.coefficient);
}

const std::vector<NodeRef>& Program::BodyOf(NodeRef node) const {
  return node.is_loop() ? loops[node.id].body : roots;
}

std::vector<NodeRef>& Program::BodyOf(NodeRef node) {
  return node.is_loop() ? loops[node.id].body : roots;
}

NodeRef Program::ParentOf(NodeRef node) const {
  if (node.is_loop()) return loops[node.id].parent;
  if (node.is_block()) return blocks[node.id].parent;
  return NodeRef::Root();
}

int64_t Program::ExtentOf(LoopId loop) const {
  int64_t extent = 1;
  for (DigitId digit : loops[loop].digits) extent *= digit_extents[digit];
  return extent;
}

std::vector<LoopId> Program::LoopsAround(NodeRef node) const {
  size_t depth = 0;
  for (NodeRef at = ParentOf(node); at.is_loop(); at = ParentOf(at)) ++depth;
  std::vector<LoopId> around(depth);
  for (NodeRef at = ParentOf(node); at.is_loop(); at = ParentOf(at)) around[--depth] = at.id;
  return around;
}

std::vector<BlockId> Program::BlocksBelow(NodeRef node) const {
  std::vector<BlockId> below;
  below.reserve(blocks.size());
  AppendBlocks(*this, node, below);
  return below;
}

int Program::SizeCount() const {
  const auto is_other = [](const Buffer& buffer) { return buffer.role != BufferRole::kSize; };
  return static_cast<int>(std::ranges::find_if(buffers, is_other) - buffers.begin());
}

BlockId Program::FindBlock(const std::string& block_name) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].alive && blocks[i].name == block_name) return static_cast<BlockId>(i);
  }
  return -1;
}

BlockId Program::WriterOf(BufferId buffer) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    if (block.alive && block.output == buffer && block.kind != BlockKind::kInit) {
      return static_cast<BlockId>(i);
    }
  }
  return -1;
}

std::vector<BlockId> Program::ReadersOf(BufferId buffer) const {
  std::vector<BlockId> readers = BlocksInOrder();
  std::erase_if(readers, [&](BlockId id) {
    return blocks[id].kind == BlockKind::kInit || !Loads(blocks[id].value, buffer);
  });
  return readers;
}

std::vector<BufferId> Program::Parameters() const {
  std::vector<BufferId> parameters;
  for (const bool output : {false, true}) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (HasRole(buffers[i], output)) parameters.push_back(static_cast<BufferId>(i));
    }
  }
  return parameters;
}

Program Lower(const Workload& workload) {
  Program program;
  program.name = workload.name;
  program.buffers = workload.buffers;
  program.points = workload.points;
  program.has_cold_constants = workload.has_cold_constants;
  for (int size = 0; size < workload.SizeCount(); ++size) {
    program.digit_extents.push_back(workload.buffers[size].range.largest + 1);
  }
  for (const Stage& stage : workload.stages) {
    const bool calls = stage.value->op == ExprOp::kCall;
    Block block = calls ? CallBlock(stage, program.buffers[stage.output]) : NaiveBlock(stage);
    for (const Iter& iter : block.iters) {
      const auto digit = static_cast<DigitId>(program.digit_extents.size());
      const auto loop = static_cast<LoopId>(program.loops.size());
      program.digit_extents.push_back(iter.extent);
      Loop node;
      node.digits = {digit};
      node.parent = block.parent;
      program.BodyOf(block.parent).push_back(NodeRef::Loop(loop));
      program.loops.push_back(std::move(node));
      block.parent = NodeRef::Loop(loop);
      block.bindings.push_back({0, {{digit, 1}}});
    }
    program.BodyOf(block.parent)
        .push_back(NodeRef::Block(static_cast<BlockId>(program.blocks.size())));
    program.blocks.push_back(std::move(block));
  }
  return program;
}

}  // namespace bayloom::tensor
