// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/address.h"

#include <algorithm>

namespace bayloom::codegen {

void AddressBuilder::SetEntry(llvm::Instruction* anchor) { places_ = {{0, anchor}}; }

void AddressBuilder::Define(const std::vector<llvm::Value*>& values, llvm::Instruction* anchor,
                            int depth) {
  for (llvm::Value* value : values) place_of_[value] = static_cast<int>(places_.size());
  places_.push_back({depth, anchor});
}

void AddressBuilder::MoveAfter(llvm::Instruction* anchor) {
  llvm::BasicBlock* block = anchor->getParent();
  auto next = llvm::isa<llvm::PHINode>(anchor) ? block->getFirstNonPHIIt()
                                               : std::next(anchor->getIterator());
  builder_.SetInsertPoint(block, next);
}

llvm::Instruction* AddressBuilder::Previous() {
  llvm::BasicBlock* block = builder_.GetInsertBlock();
  auto at = builder_.GetInsertPoint();
  return at == block->begin() ? nullptr : &*std::prev(at);
}

std::vector<IndexValue::Term> AddressBuilder::Ordered(const IndexValue& index) const {
  std::vector<IndexValue::Term> terms = index.terms;
  std::ranges::stable_sort(terms, {}, [&](const IndexValue::Term& term) {
    return places_[place_of_.at(term.value)].depth;
  });
  return terms;
}

llvm::Value* AddressBuilder::Scalar(const IndexValue& index) {
  llvm::Value* sum = nullptr;
  for (const IndexValue::Term& term : Ordered(index)) {
    llvm::Value*& next = sums_[{sum, term.value, term.coefficient}];
    if (!next) {
      next = Insert(place_of_.at(term.value), [&] {
        llvm::Value* part =
            term.coefficient == 1
                ? term.value
                : builder_.CreateNSWMul(term.value, builder_.getInt64(term.coefficient));
        return sum ? builder_.CreateNSWAdd(sum, part) : part;
      });
    }
    sum = next;
  }
  llvm::Value* constant = builder_.getInt64(static_cast<uint64_t>(index.constant));
  if (!sum) return constant;
  return index.constant == 0 ? sum : builder_.CreateNSWAdd(sum, constant);
}

llvm::Value* AddressBuilder::AllLanes(const IndexValue& index) {
  llvm::Value* scalar = Scalar(index);
  if (index.lanes.empty()) return scalar;
  std::vector<uint64_t> lanes(index.lanes.begin(), index.lanes.end());
  llvm::Constant* steps = llvm::ConstantDataVector::get(builder_.getContext(), lanes);
  return builder_.CreateAdd(Splat(builder_, scalar, static_cast<int>(lanes.size())), steps);
}

llvm::Value* AddressBuilder::RunningPointer(llvm::Value* base, const IndexValue& index,
                                            int64_t element_bytes) {
  llvm::Value* pointer = base;
  for (const IndexValue::Term& term : Ordered(index)) {
    const int64_t bytes = term.coefficient * element_bytes;
    llvm::Value*& next = sums_[{pointer, term.value, bytes}];
    if (!next) {
      next = Insert(place_of_.at(term.value), [&] {
        llvm::Value* offset = builder_.CreateNSWMul(term.value, builder_.getInt64(bytes));
        return builder_.CreatePtrAdd(pointer, offset);
      });
    }
    pointer = next;
  }
  return pointer;
}

llvm::Value* AddressBuilder::OffsetPointer(llvm::Value* pointer, int64_t bytes) {
  return bytes == 0 ? pointer : builder_.CreatePtrAdd(pointer, builder_.getInt64(bytes));
}

}  // namespace bayloom::codegen
