// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/primitives.h"

namespace bayloom::tensor {

Status SetScope(Program& program, BufferId buffer, StorageScope scope) {
  if (buffer < 0 || buffer >= static_cast<int>(program.buffers.size())) {
    return Error{fmt::format("there is no buffer {}", buffer)};
  }
  Buffer& changed = program.buffers[buffer];
  if (changed.role != BufferRole::kIntermediate && scope != StorageScope::kGlobal) {
    return Error{
        fmt::format("buffer {} belongs to the caller: it stays in global memory", changed.name)};
  }
  changed.scope = scope;
  return Ok();
}

}  // namespace bayloom::tensor
