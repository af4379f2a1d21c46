// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// The loops around the block from `loop` inwards.
std::vector<LoopId> LoopsFrom(const Program& program, BlockId block, LoopId loop) {
  std::vector<LoopId> around = program.LoopsAround(NodeRef::Block(block));
  around.erase(around.begin(), std::find(around.begin(), around.end(), loop));
  return around;
}

Status CheckDecomposable(const Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckBlock(program, id); !s) return s;
  if (Status s = CheckLoop(program, loop); !s) return s;
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kReduce) {
    return Error{fmt::format("{} is not a reduction that initializes itself", block.name)};
  }
  if (!IsBelow(program, NodeRef::Block(id), NodeRef::Loop(loop))) {
    return Error{fmt::format("loop {} is not around {}", loop, block.name)};
  }
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    if (!ReducesOver(program, block, program.loops[outer].digits)) continue;
    return Error{fmt::format("cannot initialize {} before loop {}: a loop further out reduces",
                             block.name, loop)};
  }
  if (!VisitsElementsOnce(program, block, LoopsFrom(program, id, loop))) {
    return Error{
        fmt::format("cannot initialize {} before loop {}: it computes elements more than "
                    "once below",
                    block.name, loop)};
  }
  return Ok();
}

/// The part of a reduction that stores the neutral element, not yet placed.
Block MakeInit(const Program& program, const Block& reduce) {
  Block init;
  init.name = FreshBlockName(program, reduce.name + "_init");
  init.kind = BlockKind::kInit;
  init.output = reduce.output;
  init.output_index = reduce.output_index;
  init.reduction = reduce.reduction;
  init.value = NeutralElement(reduce.reduction, program.buffers[reduce.output].dtype);
  for (size_t i = 0; i < reduce.iters.size(); ++i) {
    if (reduce.iters[i].kind != IterKind::kSpatial) continue;
    init.iters.push_back(reduce.iters[i]);
    init.bindings.push_back(reduce.bindings[i]);
  }
  return init;
}

/// Copies a loop with fresh digits for those that the bindings mention (digits of extent 1 are
/// left out), and makes the bindings speak of them; -1 if none is left.
LoopId CopyLoop(Program& program, LoopId loop, std::vector<Affine>& bindings) {
  std::vector<DigitId> digits;
  for (DigitId old_digit : std::vector<DigitId>(program.loops[loop].digits)) {
    DigitId fresh = -1;
    for (Affine& binding : bindings) {
      const int64_t coefficient = binding.CoefficientOf(old_digit);
      if (coefficient == 0) continue;
      binding.Add(old_digit, -coefficient);
      if (program.digit_extents[old_digit] == 1) continue;
      if (fresh < 0) fresh = NewDigit(program, program.digit_extents[old_digit]);
      binding.Add(fresh, coefficient);
    }
    if (fresh >= 0) digits.push_back(fresh);
  }
  if (digits.empty()) return -1;
  const LoopId copy = NewLoop(program, std::move(digits), program.loops[loop].kind);
  program.loops[copy].unroll_max_step = program.loops[loop].unroll_max_step;
  return copy;
}

}  // namespace

Result<BlockId> DecomposeReduction(Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckDecomposable(program, id, loop); !s) return s.error();
  program.blocks.push_back(MakeInit(program, program.blocks[id]));
  const BlockId init = static_cast<BlockId>(program.blocks.size()) - 1;
  std::vector<LoopId> nest;
  for (LoopId inner : LoopsFrom(program, id, loop)) {
    const LoopId copy = CopyLoop(program, inner, program.blocks[init].bindings);
    if (copy >= 0) nest.push_back(copy);
  }
  const NodeRef top = Nest(program, nest, NodeRef::Block(init));
  const NodeRef node = NodeRef::Loop(loop);
  InsertChild(program, program.ParentOf(node), IndexInParent(program, node), top);
  program.blocks[id].kind = BlockKind::kUpdate;
  return init;
}

}  // namespace bayloom::tensor
