// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

Status Tensorize(Program& program, LoopId loop) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  if (Result<BlockId> block = BlockToTensorize(program, loop); !block) return block.error();
  program.loops[loop].kind = LoopKind::kTensorized;
  return Ok();
}

}  // namespace bayloom::tensor
