// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

Status Unroll(Program& program, LoopId loop) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  program.loops[loop].kind = LoopKind::kUnrolled;
  return Ok();
}

Status AnnotateUnroll(Program& program, LoopId loop, int64_t max_step) {
  if (Status s = CheckLoop(program, loop); !s) return s;
  if (max_step < 0) return Error{fmt::format("cannot unroll within {} steps", max_step)};
  program.loops[loop].unroll_max_step = max_step;
  return Ok();
}

}  // namespace bayloom::tensor
