// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// What a convolution of images with a pool behind it is recognized by.

// Dimensions of images.
inline constexpr int kRow = 1, kColumn = 2, kChannel = 3, kRank = 4;

/// The blocks of a pair; -1 for those that are missing.
struct PairBlocks {
  tensor::BlockId padding = -1, convolution = -1, between = -1, pool_padding = -1, pool = -1,
                  epilogue = -1;
};

/// Rows that windows read before the first and behind the last of what the convolution computes.
struct RowsOutside {
  int64_t before = 0, behind = 0;
  bool any() const { return before > 0 || behind > 0; }
};

/// A workload that is such a pair, its elementwise stages folded (FoldElementwise).
struct FoldedPair {
  tensor::Schedule schedule;
  PairBlocks blocks;
  RowsOutside outside;
};
/// nullopt for other workloads, and where a padding of the pool reads other rows than its own.
std::optional<FoldedPair> FindFoldedPair(const tensor::Workload& workload);

/// The only load of a value that reads a single tensor once; undefined for others.
tensor::Expr OnlyLoad(const tensor::Expr& value);

/// Where a padding reads its rows: a dimension of what it reads, and what to add to its own row.
struct RowsRead {
  int dimension;
  int64_t shift;
};
/// nullopt if it reads anything but one row for each of its own.
std::optional<RowsRead> FindRowsRead(const tensor::Expr& value, int iters);

}  // namespace bayloom::sketch
