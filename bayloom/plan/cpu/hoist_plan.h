// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "bayloom/plan/memory_plan.h"

namespace bayloom::plan {

/// A part of a block's value that does not change in some of the loops around the block, such as
/// the reciprocal of a row's sum.
struct HoistedValue {
  tensor::BlockId block = -1;
  tensor::Expr value;
};

/// What is computed in front of each loop instead of in each of its iterations: arithmetic on
/// floats in blocks that store what they compute. (Of sums, which store nothing, LLVM finds it.)
std::map<tensor::LoopId, std::vector<HoistedValue>> PlanHoisting(const tensor::Program& program);

}  // namespace bayloom::plan
