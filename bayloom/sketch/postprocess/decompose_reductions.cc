#include <algorithm>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom {
namespace {

bool Reduces(const Program& program, const Block& block, LoopId loop) {
  const std::vector<DigitId>& digits = program.loops[loop].digits;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != IterKind::kReduction) continue;
    for (const Affine::Term& term : block.bindings[i].terms) {
      if (std::find(digits.begin(), digits.end(), term.digit) != digits.end()) return true;
    }
  }
  return false;
}

}  // namespace

void DecomposeReductions(Program& program) {
  for (BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind != BlockKind::kReduce) continue;
    for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
      if (!Reduces(program, program.blocks[id], loop)) continue;
      (void)DecomposeReduction(program, id, loop);
      break;
    }
  }
}

}  // namespace bayloom
