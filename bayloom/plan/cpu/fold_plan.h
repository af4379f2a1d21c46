// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "bayloom/plan/cpu/accumulator_plan.h"

namespace bayloom::plan {

/// A reduction loop that runs along memory is carried out in the lanes of registers, each with a
/// partial result; these are combined when the tile is done:
///
///     register[s] = neutral, in all lanes
///     for (registers of the loop)
///       register[s] = combine(register[s], values)         what is behind the end is neutral
///     output[s] = combine over lanes of register[s]
///
/// Where there are few s, each has several registers that take turns (FoldRegisters): an addition
/// waits for the one before.
///
/// By the tile's block, with the loop as if it were vectorized. Only for types whose operations are
/// not rounded further: of narrow floats the order of additions is kept.
std::map<tensor::BlockId, VectorLoop> PlanFolds(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops,
    const std::map<tensor::BlockId, DotPlan>& dots,
    const std::map<tensor::LoopId, AccumulatorTile>& tiles);

/// Registers that take turns for each of so many results.
int64_t FoldRegisters(const VectorLoop& fold, int64_t results);

}  // namespace bayloom::plan
