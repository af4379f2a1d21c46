// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace bayloom::tensor {
namespace {

void SetParent(Program& program, NodeRef node, NodeRef parent) {
  if (node.is_loop()) program.loops[node.id].parent = parent;
  if (node.is_block()) program.blocks[node.id].parent = parent;
}

template <typename Items>
std::string FreshName(const Items& items, const std::string& base) {
  auto taken = [&](const std::string& name) {
    return std::any_of(items.begin(), items.end(), [&](const auto& i) { return i.name == name; });
  };
  std::string name = base;
  for (int suffix = 1; taken(name); ++suffix) name = fmt::format("{}_{}", base, suffix);
  return name;
}

}  // namespace

Status CheckLoop(const Program& program, LoopId loop) {
  if (loop < 0 || loop >= static_cast<int>(program.loops.size())) {
    return Error{fmt::format("there is no loop {}", loop)};
  }
  if (!program.loops[loop].alive) {
    return Error{fmt::format("loop {} was replaced by an earlier step", loop)};
  }
  return Ok();
}

Status CheckBlock(const Program& program, BlockId block) {
  if (block < 0 || block >= static_cast<int>(program.blocks.size())) {
    return Error{fmt::format("there is no block {}", block)};
  }
  if (!program.blocks[block].alive) {
    return Error{
        fmt::format("block {} was removed by an earlier step", program.blocks[block].name)};
  }
  if (program.blocks[block].kind == BlockKind::kCall) {
    return Error{fmt::format("block {} calls the library and cannot be transformed",
                             program.blocks[block].name)};
  }
  return Ok();
}

Status CheckSerialLoop(const Program& program, LoopId loop) {
  if (Status s = CheckLoop(program, loop); !s) return s;
  if (program.loops[loop].kind != LoopKind::kSerial) {
    return Error{
        fmt::format("loop {} of extent {} is no longer serial", loop, program.ExtentOf(loop))};
  }
  return Ok();
}

DigitId NewDigit(Program& program, int64_t extent) {
  program.digit_extents.push_back(extent);
  return static_cast<DigitId>(program.digit_extents.size()) - 1;
}

LoopId NewLoop(Program& program, std::vector<DigitId> digits, LoopKind kind) {
  Loop& loop = program.loops.emplace_back();
  loop.digits = std::move(digits);
  loop.kind = kind;
  return static_cast<LoopId>(program.loops.size()) - 1;
}

std::string FreshBlockName(const Program& program, const std::string& base) {
  return FreshName(program.blocks, base);
}

std::string FreshBufferName(const Program& program, const std::string& base) {
  return FreshName(program.buffers, base);
}

void ReplaceNode(Program& program, NodeRef node, NodeRef replacement) {
  const NodeRef parent = program.ParentOf(node);
  program.BodyOf(parent)[IndexInParent(program, node)] = replacement;
  SetParent(program, replacement, parent);
}

void InsertChild(Program& program, NodeRef parent, int index, NodeRef child) {
  std::vector<NodeRef>& body = program.BodyOf(parent);
  body.insert(body.begin() + index, child);
  SetParent(program, child, parent);
}

void SetBody(Program& program, LoopId loop, std::vector<NodeRef> body) {
  for (NodeRef child : body) SetParent(program, child, NodeRef::Loop(loop));
  program.loops[loop].body = std::move(body);
}

void Detach(Program& program, NodeRef node) {
  for (;;) {
    const NodeRef parent = program.ParentOf(node);
    std::vector<NodeRef>& body = program.BodyOf(parent);
    body.erase(body.begin() + IndexInParent(program, node));
    if (!body.empty() || !parent.is_loop()) return;
    program.loops[parent.id].alive = false;
    node = parent;
  }
}

NodeRef Nest(Program& program, const std::vector<LoopId>& loops, NodeRef innermost) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    SetBody(program, *loop, {innermost});
    innermost = NodeRef::Loop(*loop);
  }
  return innermost;
}

bool ReducesOver(const Program& program, const Block& block, const std::vector<DigitId>& digits) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != IterKind::kReduction) continue;
    for (const Affine::Term& term : block.bindings[i].terms) {
      if (program.digit_extents[term.digit] > 1 &&
          std::find(digits.begin(), digits.end(), term.digit) != digits.end()) {
        return true;
      }
    }
  }
  return false;
}

bool IsReductionLoop(const Program& program, LoopId loop) {
  bool reduces = false;
  ForEachBlockBelow(program, NodeRef::Loop(loop), [&](BlockId block) {
    reduces = reduces || ReducesOver(program, program.blocks[block], program.loops[loop].digits);
  });
  return reduces;
}

}  // namespace bayloom::tensor
