// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "bayloom/codegen/cpu/tile_sums.h"

namespace bayloom::codegen {

/// Sums of many rows in a tile register (plan/cpu/tile_product.h), known by its first row.
class TileRegisterSums final : public TileSums {
 public:
  TileRegisterSums(NestContext& nest, const plan::AccumulatorTile& tile,
                   const plan::TileProduct& product)
      : nest_(nest), tile_(tile), product_(product) {}

  void Begin(int64_t offset, llvm::Value* start) override;
  void Add(ExpressionEmitter& values) override;
  llvm::Value* Result(int64_t offset) override;

 private:
  /// The row of its register in which the position is.
  int64_t RowHere() const;
  /// The offset of the first row of the register in which the position is.
  int64_t FirstRowOf(int64_t offset) const;

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  const plan::TileProduct& product_;
  std::map<int64_t, llvm::AllocaInst*> registers_;
  std::map<int64_t, llvm::Value*> stored_;  ///< where registers were stored
};

}  // namespace bayloom::codegen
