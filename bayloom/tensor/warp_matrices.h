// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Whether a buffer is read below a tensorized loop. In the shared memory of a GPU the rows of such
/// a buffer are padded (target::PaddedRowBytes).
inline bool HoldsMatrices(const Program& program, BufferId buffer) {
  return std::ranges::any_of(program.ReadersOf(buffer), [&](BlockId reader) {
    const std::vector<LoopId> around = program.LoopsAround(NodeRef::Block(reader));
    return std::ranges::any_of(
        around, [&](LoopId loop) { return program.loops[loop].kind == LoopKind::kTensorized; });
  });
}

}  // namespace bayloom::tensor
