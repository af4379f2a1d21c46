// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>

#include "bayloom/plan/cpu/accumulator_plan.h"

namespace bayloom::plan {

/// How a tile's rows of sums go through an instruction that multiplies two rows by two columns.
/// While the reduction runs, the registers of two rows r and r + 1 hold matrices of both:
///
///     of row r:      the sums of r and r + 1 in the first two of four columns
///     of row r + 1:  those in the last two
///
/// Rows left over, and registers of other than four lanes, are summed up one by one.
struct RowPairs {
  tensor::DigitId digit = -1;  ///< counts the rows
  int64_t rows = 0;            ///< of the tile, that have a partner: an even number
  int64_t stride = 0;          ///< from one row to the next, in elements of the output
  bool first_is_rows = true;   ///< DotPlan::a is of the rows and b of the columns, or the reverse
};

/// nullopt where the instruction is missing, operands are not as it takes them, or the tile has no
/// two rows.
std::optional<RowPairs> PlanRowPairs(const tensor::Program& program, const DotPlan& dot,
                                     const BlockAccesses& accesses, const AccumulatorTile& tile,
                                     const std::map<tensor::LoopId, VectorLoop>& vector_loops);

}  // namespace bayloom::plan
