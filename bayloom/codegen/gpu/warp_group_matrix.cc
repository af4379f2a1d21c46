// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "bayloom/codegen/gpu/kernel_emitter.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {

void KernelEmitter::EmitGroupProduct(const plan::WarpGroupProduct& product) {
  const tensor::Block& block = program_.blocks[product.block];
  const plan::PlacedAccess& store = plan_.accesses.at(product.block).store;
  const Digits before = digits_;
  for (const tensor::DigitId digit : product.inside) digits_[digit] = DigitValue::Constant(0);
  const Machine::PanelPart rows = PanelPartOf(product.rows);
  const Machine::PanelPart columns = PanelPartOf(product.columns);
  std::vector<IndexValue> places;
  std::vector<llvm::Value*> sums;
  IterateDigits(product.matrices, 0, /*unroll=*/true, /*together=*/true, [&] {
    loops_.Repeat(product.row_part, target::MmaInstruction::kRowParts, [&] {
      loops_.Repeat(product.column_part, target::MmaInstruction::kColumnParts, [&] {
        places.push_back(digits_.Evaluate(store.affine));
        sums.push_back(OldValue(state_, block, store));
      });
    });
  });
  digits_ = before;
  if (pending_.empty()) machine_.BeginGroup(builder_);
  sums = machine_.MultiplyInGroup(builder_, *product.instruction, rows, columns, sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    memory_.Store(block.output, places[i], state_.chunk, sums[i]);
    const bool known = std::ranges::any_of(pending_, [&](const PendingSum& sum) {
      return sum.buffer == block.output && sum.place.constant == places[i].constant;
    });
    if (!known) pending_.push_back({block.output, places[i]});
  }
}

Machine::PanelPart KernelEmitter::PanelPartOf(const plan::WarpGroupProduct::Factor& factor) {
  return {{factor.buffer, memory_.AddressOf(factor.buffer, digits_.Evaluate(factor.index))},
          plan_.places[factor.buffer].panels.bytes(),
          factor.along_depth};
}

void KernelEmitter::FinishGroupProducts() {
  if (pending_.empty()) return;
  const std::vector<PendingSum> pending = std::exchange(pending_, {});
  std::vector<llvm::Value*> sums;
  for (const PendingSum& sum : pending) {
    sums.push_back(memory_.Load(sum.buffer, sum.place, nullptr, state_.chunk, nullptr));
  }
  sums = machine_.WaitForGroup(builder_, sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    memory_.Store(pending[i].buffer, pending[i].place, state_.chunk, sums[i]);
  }
}

}  // namespace bayloom::codegen
