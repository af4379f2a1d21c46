// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>

#include "bayloom/tensor/expr.h"

namespace bayloom::codegen {

/// Bounds on what an expression gives, where it gives a number.
struct FloatRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  bool FitsInt32() const;
};

/// What follows from clipping, rounding and the types of integers; all numbers where nothing does.
FloatRange FloatRangeOf(const tensor::Expr& e);

}  // namespace bayloom::codegen
