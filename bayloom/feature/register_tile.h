// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/feature/operation_list.h"
#include "bayloom/feature/register_nest.h"

namespace bayloom::feature {

/// Arithmetic and loads that are carried out at the same time.
double Together(double arithmetic, double loads);

/// Outputs of a reduction that are in registers, and what an iteration takes for each of them.
struct RegisterTile {
  double seconds;
  double chunks;               ///< registers of the vectorized loops
  std::vector<int64_t> taken;  ///< steps of the nest's tile loops
};

/// What the code of a reduction is made of, beside its loads and operations.
struct ReductionCode {
  double combine;    ///< seconds for a register of sums
  double step;       ///< seconds of a loop's step
  double registers;  ///< that hold values
  int64_t unrolled;  ///< steps of the innermost reduction loop
  int64_t max_step;  ///< of those and of the tile that are unrolled
};

/// The tile for which an iteration of the nest's reduction takes least.
RegisterTile BestRegisterTile(const RegisterNest& nest, const std::vector<Operation>& operations,
                              const Costs& costs, const ReductionCode& code);

}  // namespace bayloom::feature
