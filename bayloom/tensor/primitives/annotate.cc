// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

Status Annotate(Program& program, BlockId block, const std::string& key, int64_t value) {
  if (Status s = CheckBlock(program, block); !s) return s;
  program.blocks[block].annotations[key] = value;
  return Ok();
}

}  // namespace bayloom::tensor
