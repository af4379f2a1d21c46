// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <tuple>

#include "bayloom/codegen/ir/index.h"
#include "bayloom/codegen/ir/types.h"

namespace bayloom::codegen {

/// Computes indices and addresses, each part in the outermost loop where it is known: an address
///
///     base + c0 * i + c1 * j + constant
///
/// in a loop over j inside a loop over i becomes base + c0 * i at the head of the loop over i,
/// plus c1 * j at the head of the loop over j; the constant is left to the addressing mode.
class AddressBuilder {
 public:
  explicit AddressBuilder(IrBuilder& builder) : builder_(builder) {}

  /// Where values that only depend on the function's arguments are computed.
  void SetEntry(llvm::Instruction* anchor);
  /// Values that are known at the entry.
  void DefineAtEntry(llvm::Value* value) { place_of_[value] = 0; }
  /// Running values of a loop at this depth (1 is outermost); what depends on them, and on
  /// values of less depth, is computed right after `anchor`.
  void Define(const std::vector<llvm::Value*>& values, llvm::Instruction* anchor, int depth);
  /// Runs `emit` with the builder placed at the entry.
  template <typename Emit>
  llvm::Value* AtEntry(const Emit& emit) {
    return Insert(0, emit);
  }

  /// The index in lane 0, an i64.
  llvm::Value* Scalar(const IndexValue& index);
  /// The index in all lanes: a vector of i64, or a scalar when it is the same everywhere.
  llvm::Value* AllLanes(const IndexValue& index);
  /// The address of the element that lane 0 means, without the index's constant; `base` is known
  /// at the entry. Equal for accesses that are a constant distance apart.
  llvm::Value* RunningPointer(llvm::Value* base, const IndexValue& index, int64_t element_bytes);
  /// What `emit` makes of the index in lane 0 (an i64), computed where that is known.
  template <typename Emit>
  llvm::Value* FunctionOf(IndexValue index, const Emit& emit) {
    llvm::Value* constant = builder_.getInt64(static_cast<uint64_t>(index.constant));
    if (index.terms.empty()) return emit(constant);
    index.constant = 0;
    llvm::Value* running = Scalar(index);
    return Insert(place_of_.at(Ordered(index).back().value),
                  [&] { return emit(builder_.CreateAdd(running, constant)); });
  }
  /// pointer + bytes.
  llvm::Value* OffsetPointer(llvm::Value* pointer, int64_t bytes);

 private:
  struct Place {
    int depth;
    llvm::Instruction* anchor;  ///< code goes after it, and becomes the next anchor
  };

  template <typename Emit>
  llvm::Value* Insert(int place, const Emit& emit) {
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    llvm::Instruction*& anchor = places_[place].anchor;
    MoveAfter(anchor);
    llvm::Value* value = emit();
    if (auto* before = Previous()) anchor = before;
    return value;
  }
  void MoveAfter(llvm::Instruction* anchor);
  llvm::Instruction* Previous();
  /// Terms ordered from the outermost to the innermost value.
  std::vector<IndexValue::Term> Ordered(const IndexValue& index) const;

  IrBuilder& builder_;
  std::vector<Place> places_;
  std::map<llvm::Value*, int> place_of_;
  /// (what is added to or null, running value, coefficient) -> sum
  std::map<std::tuple<llvm::Value*, llvm::Value*, int64_t>, llvm::Value*> sums_;
};

}  // namespace bayloom::codegen
