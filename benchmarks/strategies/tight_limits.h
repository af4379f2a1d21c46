// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/tensor/program.h"

namespace bayloom {

/// Limits as an accelerator has them, of which nearly every random schedule breaks one: the
/// innermost loops of a reduction are full vectors of 8 to 32 lanes, the three innermost ones make
/// 64 to 512 iterations, and the whole is divided into 4 to 64 jobs, if at all.
inline Status CheckTightLimits(const tensor::Program& program) {
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const tensor::BlockKind kind = program.blocks[block].kind;
    if (kind != tensor::BlockKind::kReduce && kind != tensor::BlockKind::kUpdate) continue;
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    int64_t jobs = 1, lanes = 1, inner = 1;
    bool is_parallel = false;
    for (size_t i = 0; i < loops.size(); ++i) {
      const int64_t extent = program.ExtentOf(loops[i]);
      if (program.loops[loops[i]].kind == tensor::LoopKind::kParallel) {
        jobs *= extent;
        is_parallel = true;
      }
      if (program.loops[loops[i]].kind == tensor::LoopKind::kVectorized) lanes *= extent;
      if (i + 3 >= loops.size()) inner *= extent;
    }
    if (lanes % 8 != 0 || lanes > 32) return Error{"vectors are not full, or too long"};
    if (inner < 64 || inner > 512) return Error{"too little or too much work within"};
    if (is_parallel && (jobs < 4 || jobs > 64)) return Error{"too few or too many jobs"};
  }
  return Ok();
}

}  // namespace bayloom
