// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "bayloom/codegen/cpu/register_sums.h"

namespace bayloom::codegen {

/// Sums along vectors (plan/cpu/fold_plan.h): lanes hold parts of one sum, which are added up at
/// the end. Several registers take turns, so that additions do not wait for each other.
class FoldedSums final : public RegisterSums {
 public:
  FoldedSums(NestContext& nest, const plan::AccumulatorTile& tile,
             const std::optional<plan::SumBlocks>& blocks, ShiftSums* shift,
             const plan::VectorLoop& fold)
      : RegisterSums(nest, tile, blocks, shift), fold_(fold) {}

  void BeginLoops() override;
  void Add(ExpressionEmitter& values) override;
  llvm::Value* Result(int64_t offset) override { return Folded(RegisterValue(offset)); }
  bool Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) override;

 private:
  std::vector<llvm::AllocaInst*> RegistersOf(int64_t offset) const override;
  size_t turn() const override { return turn_; }
  int lanes() const override { return fold_.width; }

  void IterateFold(bool unroll, const LoopEmitter::Body& body);
  llvm::Value* WithNeutralLanes(llvm::Value* values);
  llvm::Value* Folded(llvm::Value* lanes);

  const plan::VectorLoop& fold_;
  std::map<int64_t, std::vector<llvm::AllocaInst*>> others_;  ///< that take turns with the first
  size_t turn_ = 0;
};

}  // namespace bayloom::codegen
