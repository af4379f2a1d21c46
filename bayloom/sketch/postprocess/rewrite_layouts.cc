// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {

void RewriteLayouts(tensor::Program& program) {
  for (tensor::BlockId id : program.BlocksInOrder()) {
    const tensor::Block& block = program.blocks[id];
    if (block.annotations.contains(kPacked)) (void)tensor::RewriteLayout(program, block.output);
  }
  // Only tiled reductions read a weight often enough for its order to matter; a refusal leaves
  // the weight as it is.
  for (tensor::BufferId buffer = 0; buffer < static_cast<int>(program.buffers.size()); ++buffer) {
    if (program.buffers[buffer].role != tensor::BufferRole::kConstant) continue;
    const std::vector<tensor::BlockId> readers = program.ReadersOf(buffer);
    if (readers.size() == 1 && program.blocks[readers[0]].annotations.contains(kTiled)) {
      (void)tensor::RewriteLayout(program, buffer);
    }
  }
}

}  // namespace bayloom::sketch
