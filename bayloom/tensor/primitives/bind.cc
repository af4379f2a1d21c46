// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/internal/primitives/tree.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::tensor {

Status Bind(Program& program, LoopId loop, LoopKind kind) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  switch (kind) {
    case LoopKind::kBlockX:
    case LoopKind::kBlockY:
    case LoopKind::kBlockZ:
    case LoopKind::kThreadX:
    case LoopKind::kThreadY:
    case LoopKind::kThreadZ:
    case LoopKind::kVirtualThread:
      break;
    default:
      return Error{"a loop can only be bound to a block index, a thread index or a virtual thread"};
  }
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    if (program.loops[outer].kind == kind && kind != LoopKind::kVirtualThread) {
      return Error{fmt::format("cannot bind loop {}: a loop around it has the same index", loop)};
    }
  }
  if (Status s = CheckParallel(program, loop); !s) return s;
  program.loops[loop].kind = kind;
  return Ok();
}

}  // namespace bayloom::tensor
