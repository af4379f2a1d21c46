// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/codegen/ir/expression.h"
#include "bayloom/plan/open_axes.h"

namespace bayloom::codegen {

/// How many of `steps` steps a digit takes in a loop that starts here, `scale` apart: fewer where
/// what follows is beyond the bounds of all of the axes; an i64, at least 1. Digits of which
/// `counts` is false are taken to be 0.
llvm::Value* TripsWithin(EmitState& state, const std::vector<plan::OpenAxis>& axes,
                         tensor::DigitId digit, int64_t steps, int64_t scale,
                         const std::function<bool(tensor::DigitId)>& counts);

}  // namespace bayloom::codegen
