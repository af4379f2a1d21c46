// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::sketch {

/// Properties of blocks that the rules ask about.

/// Product of the extents of the block's iterators of a kind.
int64_t SpatialExtent(const tensor::Block& block);
int64_t ReductionExtent(const tensor::Block& block);

/// How often the block is computed.
int64_t Iterations(const tensor::Program& program, tensor::BlockId block);

/// The last of the block's spatial iterators; -1 if there is none.
int LastSpatialIter(const tensor::Block& block);

/// Every iterator is bound to one loop of its own, in whole.
bool IsUntransformed(const tensor::Program& program, tensor::BlockId block);

/// Whether tiling the block creates data reuse (MetaSchedule's NeedsMultiLevelTiling): an
/// untransformed reduction over one output, with constant read extents, no input read twice, and
/// some input that does not move with some non-unit spatial iterator.
bool HasDataReuse(const tensor::Program& program, tensor::BlockId block);

/// The only reader of the block's output, when it is a kPlain block that reads it exactly once
/// per element at a permutation of its iterators; else -1.
tensor::BlockId ElementwiseConsumer(const tensor::Program& program, tensor::BlockId block);

/// The reduction whose neighbouring products an instruction of the target sums up.
struct DotAxis {
  int iter;       ///< of the block
  int64_t depth;  ///< products at once; divides the iterator's extent
  int rows = -1;  ///< of an instruction for matrices: the iterator that counts its rows; else -1
};
/// The best such axis of a dot product (tensor/dot_product.h): one along which operands lie next
/// to each other, or can be put so ahead of time; of equals the first, which for a kernel are its
/// rows: elements put together are the same for all its columns. Where the
/// target has an instruction for matrices and the block has rows for it, the depth is that one's.
/// nullopt for other blocks, for targets without an instruction and where no extent is a multiple
/// of its depth.
std::optional<DotAxis> FindDotAxis(const tensor::Program& program, tensor::BlockId block,
                                   const target::Target& target);

/// Evaluating the value costs at least as much as a transcendental function: computing it for
/// every reader again is a loss.
bool IsExpensive(const tensor::Expr& value);
/// Whether a value that is loaded so often for one element may be evaluated as often: it is loaded
/// once, or costs little.
bool MayRepeat(const tensor::Expr& value, int64_t loads);
bool ContainsSelect(const tensor::Expr& value);
bool Mentions(const tensor::Expr& e, int iter);

/// Dimensions of the last spatial iterator: whether every access moves by at most one element of
/// its buffer's innermost dimension with it (contiguous or broadcast).
bool IsContiguousAlong(const tensor::Program& program, tensor::BlockId block, int iter);

}  // namespace bayloom::sketch
