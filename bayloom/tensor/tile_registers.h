// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Places of the factors of a dot product, in elements of their buffers.
struct FactorOffsets {
  const Affine& rows;
  const Affine& columns;
};

/// How the sums of a block fill tile registers, of up to 16 rows of 64 bytes:
///
///     sum[row][lane] += over g < groups, d < depth: rows[row][depth * g + d] * columns[g][lane][d]
///
/// The instruction runs the loop of the groups and that of the depth; both factors lie in memory as
/// it takes them, rows at any distance from each other.
struct TileFill {
  DigitId row_digit = -1;  ///< counts the rows
  int64_t rows = 1;        ///< of a register; the digit has a multiple of them
  LoopId group_loop = -1;  ///< -1: there is one group
  DigitId group_digit = -1;
  int64_t groups = 1;
};

/// nullopt where the block's loops and the order of its operands are not those above. `dot`: the
/// digit of the tensorized loop, with `depth` values; `lane`: the vectorized one.
std::optional<TileFill> FillTileRegisters(const Program& program, BlockId block, DigitId dot,
                                          int64_t depth, DigitId lane,
                                          const FactorOffsets& offsets);

}  // namespace bayloom::tensor
