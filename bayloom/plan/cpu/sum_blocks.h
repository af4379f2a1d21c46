// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::plan {

/// How a long sum is cut into blocks, each summed up from zero and then added to the total. The
/// error of a sum of n terms grows with the length of the chain of additions: n one after the
/// other, but b + n / b with blocks of b terms (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2002, sec. 4.2).
///
///     for (blocks of `steps` steps of `digit`, the last one perhaps shorter)
///       for (the steps of the block, and the faster reduction digits)
///         register[s] += value
///       total[s] += register[s], register[s] = 0
struct SumBlocks {
  tensor::LoopId loop = -1;  ///< the tile's reduction loop that is cut
  tensor::DigitId digit = -1;
  int64_t steps = 1;
};

/// Whether the tile adds up floats whose rounding errors are worth a few more additions: float32
/// (float64 has digits to spare, and narrower floats are rounded after every addition).
bool SumsFloats(const tensor::Program& program, const AccumulatorTile& tile);

/// Additions to one register between the tile's start and its end.
int64_t ChainLength(const tensor::Program& program, const AccumulatorTile& tile);

/// nullopt if the tile's sums are short, or none.
std::optional<SumBlocks> PlanSumBlocks(const tensor::Program& program, const CpuPlan& plan,
                                       const AccumulatorTile& tile);

}  // namespace bayloom::plan
