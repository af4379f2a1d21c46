// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "bayloom/plan/vector_plan.h"

namespace bayloom::plan {

/// A loop directly around a vectorized one whose steps are neighbours in memory where the lanes lie
/// far apart, as in transpositions. The two change places, and as many steps as there are lanes are
/// loaded at once and transposed in registers:
///
///     for (registers of the vectorized loop)
///       for (blocks of steps of `digit`)
///         for each lane: load the block's elements
///         transpose
///         for each step: compute and store a register
struct AcrossLoop {
  tensor::LoopId loop = -1;
  tensor::DigitId digit = -1;  ///< its fastest
  tensor::LoopId vector = -1;  ///< the vectorized loop inside

  /// Steps emitted one after the other for registers of so many lanes.
  static int64_t StepsAtOnce(int64_t extent, int width) { return extent < width ? extent : width; }
};

/// More registers of a vectorized loop become a loop.
inline constexpr int64_t kMaxAcrossChunks = 2;

/// By AcrossLoop::loop.
std::map<tensor::LoopId, AcrossLoop> PlanAcrossLoops(
    const tensor::Program& program, const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops);

}  // namespace bayloom::plan
