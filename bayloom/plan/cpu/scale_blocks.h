// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/plan/cpu/accumulator_plan.h"

namespace bayloom::plan {

/// The outermost of the tile's reduction loops in which all products have one scale
/// (DotPlan::block_scale):
///
///     total[s] = 0
///     for (scales)
///       register[s] = 0
///       for (this loop, and those inside of it)
///         register[s] += products of integers
///       total[s] += float32(register[s]) * scale
///
/// nullopt: there is none, and each instruction's products are scaled.
std::optional<tensor::LoopId> LoopOfOneScale(const tensor::Program& program, const DotPlan& dot,
                                             const AccumulatorTile& tile);

}  // namespace bayloom::plan
