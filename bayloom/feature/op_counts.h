// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include "bayloom/feature/feature_columns.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// How many operations of each class one execution of a block performs.
using OpCounts = std::array<double, kOpClasses>;

/// Counts the value's operations, its loads' index arithmetic, and for reductions the combining
/// one. A subexpression that occurs several times as the same node is computed once.
OpCounts CountOps(const tensor::Block& block);

/// Floating-point operations, a multiply-add being two.
double FloatOps(const OpCounts& counts);

}  // namespace bayloom::feature
