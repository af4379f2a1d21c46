// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

bool Reduces(const tensor::Program& program, const tensor::Block& block, tensor::LoopId loop) {
  const std::vector<tensor::DigitId>& digits = program.loops[loop].digits;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    for (const tensor::Affine::Term& term : block.bindings[i].terms) {
      if (std::find(digits.begin(), digits.end(), term.digit) != digits.end()) return true;
    }
  }
  return false;
}

}  // namespace

void DecomposeReductions(tensor::Program& program) {
  for (tensor::BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind != tensor::BlockKind::kReduce) continue;
    for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(id))) {
      if (!Reduces(program, program.blocks[id], loop)) continue;
      // Threads that share a reduction begin with the neutral element anyway.
      if (program.loops[loop].kind == tensor::LoopKind::kThreadReduce) break;
      (void)tensor::DecomposeReduction(program, id, loop);
      break;
    }
  }
}

}  // namespace bayloom::sketch
