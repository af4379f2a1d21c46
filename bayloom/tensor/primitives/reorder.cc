// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// The single-child chain from the outermost to the innermost of the given loops.
Result<std::vector<LoopId>> ChainAround(const Program& program, std::span<const LoopId> order) {
  if (order.empty()) return Error{"reorder needs at least one loop"};
  auto named = [&](LoopId loop) {
    return std::find(order.begin(), order.end(), loop) != order.end();
  };
  for (size_t i = 0; i < order.size(); ++i) {
    if (Status s = CheckLoop(program, order[i]); !s) return s.error();
    if (std::find(order.begin(), order.begin() + i, order[i]) != order.begin() + i) {
      return Error{fmt::format("cannot reorder: loop {} is named twice", order[i])};
    }
  }
  // Upwards from the first named loop to the outermost one of the chain.
  LoopId top = order[0];
  for (LoopId loop = top;;) {
    const NodeRef parent = program.loops[loop].parent;
    if (!parent.is_loop() || program.loops[parent.id].body.size() != 1) break;
    loop = parent.id;
    if (named(loop)) top = loop;
  }
  std::vector<LoopId> chain;
  size_t found = 0;
  for (LoopId loop = top;;) {
    chain.push_back(loop);
    if (named(loop) && ++found == order.size()) return chain;
    const std::vector<NodeRef>& body = program.loops[loop].body;
    if (body.size() != 1 || !body[0].is_loop()) {
      return Error{
          "cannot reorder: the loops are not one chain in which each loop contains just "
          "the next"};
    }
    loop = body[0].id;
  }
}

Status CheckVectorizedStayInnermost(const Program& program, const std::vector<LoopId>& chain) {
  bool inside_vectorized = false;
  for (LoopId loop : chain) {
    const bool vectorized = program.loops[loop].kind == LoopKind::kVectorized;
    if (inside_vectorized && !vectorized) {
      return Error{"cannot reorder: a vectorized loop would no longer be innermost"};
    }
    inside_vectorized = vectorized;
  }
  return Ok();
}

/// Loops that run in parallel and were moved still may.
Status CheckMarks(const Program& program, const std::vector<LoopId>& chain) {
  for (LoopId loop : chain) {
    if (Status s = CheckKindOfLoop(program, loop); !s) {
      return Error{fmt::format("cannot reorder: loop {} could no longer run in parallel: {}", loop,
                               s.error().message)};
    }
  }
  return Ok();
}

/// A block that initializes at the first point of its reduction, and one that only adds up, must
/// meet every element once per reduction point: below its outermost reduction loop, no two
/// iterations of the other loops may be at the same element.
Status CheckReductions(const Program& program, const std::vector<LoopId>& old_chain,
                       const std::vector<LoopId>& chain) {
  const NodeRef bottom = NodeRef::Loop(old_chain.back());
  const std::vector<LoopId> outside = program.LoopsAround(NodeRef::Loop(old_chain.front()));
  std::string offender;
  ForEachBlockBelow(program, bottom, [&](BlockId id) {
    const Block& block = program.blocks[id];
    if (block.kind != BlockKind::kReduce && block.kind != BlockKind::kUpdate) return;
    std::vector<LoopId> around = program.LoopsAround(NodeRef::Block(id));
    std::copy(chain.begin(), chain.end(), around.begin() + outside.size());
    auto outermost = std::find_if(around.begin(), around.end(), [&](LoopId loop) {
      return ReducesOver(program, block, program.loops[loop].digits);
    });
    if (!VisitsElementsOnce(program, block, {outermost, around.end()})) offender = block.name;
  });
  if (!offender.empty()) {
    return Error{
        fmt::format("cannot reorder: a reduction loop of {} would go outside a loop that "
                    "computes elements of it again",
                    offender)};
  }
  return Ok();
}

/// Puts the loops of a chain into another order.
void Rearrange(Program& program, const std::vector<LoopId>& from, std::vector<LoopId> to) {
  std::vector<NodeRef> body = std::move(program.loops[from.back()].body);
  const NodeRef old_top = NodeRef::Loop(from.front());
  const NodeRef parent = program.ParentOf(old_top);
  const int index = IndexInParent(program, old_top);
  SetBody(program, to.back(), std::move(body));
  const NodeRef bottom = NodeRef::Loop(to.back());
  to.pop_back();
  const NodeRef top = Nest(program, to, bottom);
  program.BodyOf(parent)[index] = top;
  program.loops[top.id].parent = parent;
}

}  // namespace

Status Reorder(Program& program, std::span<const LoopId> order) {
  Result<std::vector<LoopId>> old_chain = ChainAround(program, order);
  if (!old_chain) return old_chain.error();
  std::vector<LoopId> chain = *old_chain;
  auto next = order.begin();
  for (LoopId& loop : chain) {
    if (std::find(order.begin(), order.end(), loop) != order.end()) loop = *next++;
  }
  if (chain == *old_chain) return Ok();
  if (Status s = CheckVectorizedStayInnermost(program, chain); !s) return s;
  if (Status s = CheckReductions(program, *old_chain, chain); !s) return s;

  Rearrange(program, *old_chain, chain);
  Status marks = CheckMarks(program, chain);
  if (!marks) Rearrange(program, chain, *old_chain);
  return marks;
}

}  // namespace bayloom::tensor
