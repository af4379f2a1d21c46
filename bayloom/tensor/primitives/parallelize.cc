// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

bool HasParallelLoopBelow(const Program& program, LoopId loop) {
  for (NodeRef child : program.loops[loop].body) {
    if (!child.is_loop()) continue;
    if (program.loops[child.id].kind == LoopKind::kParallel) return true;
    if (HasParallelLoopBelow(program, child.id)) return true;
  }
  return false;
}

}  // namespace

Status Parallelize(Program& program, LoopId loop) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    const LoopKind kind = program.loops[outer].kind;
    if (kind == LoopKind::kParallel || kind == LoopKind::kVectorized) {
      return Error{fmt::format("cannot run loop {} in parallel: a loop around it is {} already",
                               loop, kind == LoopKind::kParallel ? "parallel" : "vectorized")};
    }
  }
  if (HasParallelLoopBelow(program, loop)) {
    return Error{fmt::format("cannot run loop {} in parallel: a loop inside it is already", loop)};
  }
  if (Status s = CheckParallel(program, loop, ParallelStores::kMayRepeat); !s) return s;
  program.loops[loop].kind = LoopKind::kParallel;
  return Ok();
}

}  // namespace bayloom::tensor
