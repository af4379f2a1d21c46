// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Analyses that validators, features and code generation share.

/// One access of a block in terms of the digits of the loops around it.
struct Access {
  BufferId buffer;
  bool is_write;
  /// Per logical dimension; nullopt where the index is not affine (gathers, divisions).
  std::vector<std::optional<Affine>> indices;
  /// Only made on one side of a select: the indices may lie outside the buffer otherwise.
  bool guarded = false;
};

/// The block's accesses: loads in the order of the value's traversal, then the store. A
/// reduction's own read of its output is not listed. Equal accesses are listed once.
std::vector<Access> AccessesOf(const Block& block);
std::vector<Access> AccessesOf(const Program& program, BlockId block);

/// A linear form over a block's iterators as an affine function of digits.
Affine Compose(const LinearForm& form, const std::vector<Affine>& bindings);
/// An index over a block's iterators as an affine function of digits, where it is one.
std::optional<Affine> ComposeIndex(const Expr& index, const std::vector<Affine>& bindings);

/// Inclusive bounds of an affine expression while the given digits run over their ranges and all
/// others are held at zero.
struct IndexRange {
  int64_t min, max;
  int64_t extent() const { return max - min + 1; }
};
IndexRange RangeOf(const Program& program, const Affine& index,
                   const std::vector<bool>& free_digits);

/// Where an intermediate buffer has to exist, and how much of it at a time: it is allocated at
/// the innermost loop around all its accesses, and holds only the region touched during one
/// iteration of that loop.
struct Allocation {
  NodeRef scope;               ///< kRoot or a loop: allocated again in each iteration of it
  std::vector<int64_t> shape;  ///< extents of the region per logical dimension
  /// What to subtract from an index to get its place in the region; affine in digits of the
  /// loops at or above `scope`, per logical dimension.
  std::vector<Affine> origin;
};
/// For kIntermediate buffers. A buffer with a rewritten layout is never shrunk. A dimension whose
/// accesses do not agree on the part that the outer loops decide keeps its full extent.
Allocation AllocationOf(const Program& program, BufferId buffer);
/// Only the scope of that; kRoot for a buffer without accesses.
NodeRef AllocationScope(const Program& program, BufferId buffer);

/// The place of an element in the buffer's memory, in elements, as an affine function of digits:
/// row-major over the shape (an Allocation's, or the buffer's in memory where `allocation` is
/// null), or through the buffer's layout. nullopt if an index is not affine or does not fall onto
/// the layout's axes.
std::optional<Affine> LinearOffset(const Program& program, const Access& access,
                                   const Allocation* allocation);

/// What an index of one dimension adds to that, for a buffer with a layout: its place on the axes
/// of the dimension, times the axes' places in memory. nullopt unless each digit moves along one
/// axis only.
std::optional<Affine> LayoutOffset(const Program& program, const Buffer& buffer, int dimension,
                                   const Affine& index);

/// What iterations that run at the same time may store.
enum class ParallelStores : uint8_t {
  kDisjoint,   ///< each its own elements
  kMayRepeat,  ///< also elements of another, if both store the same value (overlapping tiles)
};

/// True if iterations of the loop can run at the same time: no block below reduces over it, and
/// every buffer written below is private to an iteration or written as `stores` says.
Status CheckParallel(const Program& program, LoopId loop,
                     ParallelStores stores = ParallelStores::kDisjoint);
/// Whether the loop may have the kind it has: the same with what loops of that kind may store, and
/// what primitives.h says of marks for accelerators.
Status CheckKindOfLoop(const Program& program, LoopId loop);

/// Whether the iteration of a loop around decides which part of a buffer is allocated there. Loops
/// over threads do not for shared memory, which is one for all threads of a block.
bool SelectsPart(const Loop& loop, const Buffer& buffer);

}  // namespace bayloom::tensor
