#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom {

void RewriteLayouts(Program& program) {
  for (BlockId id : program.BlocksInOrder()) {
    const Block& block = program.blocks[id];
    if (block.annotations.contains(kPacked)) (void)RewriteLayout(program, block.output);
  }
  // Only tiled reductions read a weight often enough for its order to matter; a refusal leaves
  // the weight as it is.
  for (BufferId buffer = 0; buffer < static_cast<int>(program.buffers.size()); ++buffer) {
    if (program.buffers[buffer].role != BufferRole::kConstant) continue;
    const std::vector<BlockId> readers = program.ReadersOf(buffer);
    if (readers.size() == 1 && program.blocks[readers[0]].annotations.contains(kTiled)) {
      (void)RewriteLayout(program, buffer);
    }
  }
}

}  // namespace bayloom
