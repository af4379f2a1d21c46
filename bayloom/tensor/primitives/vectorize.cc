// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

bool HasOtherThanVectorizedBelow(const Program& program, LoopId loop) {
  for (NodeRef child : program.loops[loop].body) {
    if (!child.is_loop()) continue;
    if (program.loops[child.id].kind != LoopKind::kVectorized) return true;
    if (HasOtherThanVectorizedBelow(program, child.id)) return true;
  }
  return false;
}

}  // namespace

Status Vectorize(Program& program, LoopId loop) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  if (HasOtherThanVectorizedBelow(program, loop)) {
    return Error{
        fmt::format("cannot vectorize loop {}: it contains a loop that is not vectorized", loop)};
  }
  for (BlockId block : program.BlocksBelow(NodeRef::Loop(loop))) {
    if (program.blocks[block].guarded) {
      return Error{
          fmt::format("cannot vectorize loop {}: {} is guarded", loop, program.blocks[block].name)};
    }
  }
  if (Status s = CheckParallel(program, loop); !s) return s;
  program.loops[loop].kind = LoopKind::kVectorized;
  return Ok();
}

}  // namespace bayloom::tensor
