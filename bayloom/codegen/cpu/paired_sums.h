// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/cpu/dot_product.h"
#include "bayloom/codegen/cpu/register_sums.h"

namespace bayloom::codegen {

/// Rows that an instruction multiplies two at a time (plan/cpu/row_pairs.h): the registers of a
/// pair's rows hold parts of both. Positions without a partner, or of other lanes, are as without.
class PairedSums final : public RegisterSums {
 public:
  PairedSums(NestContext& nest, const plan::AccumulatorTile& tile,
             const std::optional<plan::SumBlocks>& blocks, ShiftSums* shift,
             const plan::RowPairs& pairs)
      : RegisterSums(nest, tile, blocks, shift), pairs_(pairs) {}

  void Add(ExpressionEmitter& values) override;
  llvm::Value* Result(int64_t offset) override;

 private:
  /// Whether the registers at this position hold parts of two rows.
  bool IsPaired() const;

  const plan::RowPairs& pairs_;
};

}  // namespace bayloom::codegen
