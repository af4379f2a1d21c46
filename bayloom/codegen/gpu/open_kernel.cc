// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/codegen/gpu/kernel_emitter.h"
#include "bayloom/codegen/ir/open_loop.h"

// Where open axes end. Loops that all threads of a block go through together, barriers inside of
// them, end at a bound that is the same for all of these threads. Others end where the thread's own
// work does. What is computed beyond a bound for the sake of whole tiles stays in registers and in
// shared memory.

namespace bayloom::codegen {

void KernelEmitter::DefineSizes() {
  for (tensor::BufferId size = 0; size < program_.SizeCount(); ++size) {
    llvm::Value* pointer = machine_.Pointer(builder_, size);
    machine_.BeforeAccess(builder_, size, pointer, sizeof(int64_t), nullptr, false);
    llvm::Value* value = builder_.CreateLoad(builder_.getInt64Ty(), pointer);
    digits_[size] = DigitValue::Running(value, program_.digit_extents[size]);
    addresses_.DefineAtEntry(value);
  }
}

llvm::Value* KernelEmitter::TripsOf(tensor::DigitId digit, bool together) {
  const auto open = plan_.open.find(digit);
  if (open == plan_.open.end()) return nullptr;
  return TripsWithin(state_, open->second, digit, program_.digit_extents[digit], 1,
                     [&](tensor::DigitId other) {
                       return digits_[other].bound && !(together && thread_digits_.contains(other));
                     });
}

std::map<tensor::DigitId, llvm::Value*> KernelEmitter::GridTrips(llvm::Type* type) {
  std::map<tensor::DigitId, llvm::Value*> all;
  for (tensor::DigitId digit : kernel_.GridDigits(program_)) {
    llvm::Value* trips = TripsOf(digit, true);
    if (trips) all[digit] = builder_.CreateZExtOrTrunc(trips, type);
  }
  return all;
}

llvm::Value* KernelEmitter::GridIterations(const std::map<tensor::DigitId, llvm::Value*>& trips,
                                           llvm::Value* position) {
  int64_t others = 1;
  llvm::Value* product = nullptr;
  for (tensor::DigitId digit : kernel_.GridDigits(program_)) {
    const auto own = trips.find(digit);
    if (own == trips.end()) {
      others *= program_.digit_extents[digit];
    } else {
      product = product ? builder_.CreateMul(product, own->second) : own->second;
    }
  }
  llvm::Value* fixed = llvm::ConstantInt::get(position->getType(), static_cast<uint64_t>(others));
  return product ? builder_.CreateMul(product, fixed) : fixed;
}

llvm::Value* KernelEmitter::IterationsWithin(const std::vector<tensor::DigitId>& digits) {
  const auto slowest = std::ranges::find_if(
      digits, [&](tensor::DigitId digit) { return program_.digit_extents[digit] > 1; });
  llvm::Value* trips = slowest != digits.end() ? TripsOf(*slowest, true) : nullptr;
  if (!trips) return nullptr;
  int64_t faster = 1;
  for (auto digit = slowest + 1; digit != digits.end(); ++digit) {
    faster *= program_.digit_extents[*digit];
  }
  return builder_.CreateMul(trips, builder_.getInt64(static_cast<uint64_t>(faster)));
}

/// Products of matrices take all threads of a warp.
llvm::Value* KernelEmitter::ThreadsWithin(const plan::ThreadNest& nest,
                                          const std::vector<tensor::DigitId>& digits) {
  if (!plan_.warp_products.empty() || !plan_.group_products.empty()) return nullptr;
  llvm::Value* iterations = IterationsWithin(digits);
  if (!iterations) return nullptr;
  const int64_t group = nest.group;
  llvm::Value* threads =
      builder_.CreateMul(iterations, builder_.getInt64(static_cast<uint64_t>(group)));
  return builder_.CreateICmpULT(builder_.CreateZExt(thread_, builder_.getInt64Ty()), threads);
}

llvm::Value* KernelEmitter::WithinBounds(const tensor::Block& block) {
  llvm::Value* within = nullptr;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const tensor::Bound& bound = block.iters[i].bound;
    if (!bound.is_open() || block.iters[i].kind != tensor::IterKind::kSpatial) continue;
    tensor::Affine place;
    place.Add(block.bindings[i], bound.step);
    place.constant -= bound.beyond;
    within = Both(within, builder_.CreateICmpSLT(addresses_.Scalar(digits_.Evaluate(place)),
                                                 digits_[bound.size].base));
  }
  return within;
}

tensor::BlockId KernelEmitter::BoundedHere(tensor::NodeRef node) const {
  if (program_.SizeCount() == 0) return -1;
  const std::vector<tensor::BlockId> below = program_.BlocksBelow(node);
  if (below.size() != 1 || within_.contains(below[0]) || below[0] == shared_block_) return -1;
  const tensor::Block& block = program_.blocks[below[0]];
  if (!plan_.EndsAtBounds(block)) return -1;
  bool is_open = false;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!block.iters[i].bound.is_open() || block.iters[i].kind != tensor::IterKind::kSpatial) {
      continue;
    }
    is_open = true;
    for (const tensor::Affine::Term& term : block.bindings[i].terms) {
      if (!digits_[term.digit].bound) return -1;
    }
  }
  return is_open ? below[0] : -1;
}

llvm::Value* KernelEmitter::Both(llvm::Value* a, llvm::Value* b) {
  if (a && b) return builder_.CreateAnd(a, b);
  return a ? a : b;
}

}  // namespace bayloom::codegen
