// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A workload of which everything is computed row by row.
struct RowChain {
  tensor::Schedule schedule;
  std::vector<std::string> blocks;  ///< in order
  size_t row_loops = 0;             ///< of the last block, around all of them
};

/// Computes all blocks of reductions of rows, and of an output of whose rows each needs the results
/// of its own only, in the loops over these rows: the innermost in which none is computed more
/// often than before. `inlined`: after the rules for inlining. nullopt for other workloads.
std::optional<RowChain> ComputeInRows(const tensor::Schedule& inlined);

/// The design space in which everything is computed row by row, for workloads such as softmax and
/// normalizations: reductions of rows, and an output of whose rows each needs the results of its
/// own only. A row's intermediates follow each other in the nearest caches, where nests for the
/// whole tensor would write and read memory.
///
/// nullopt for other workloads: those without a reduction, with products (ProductChain and tiling
/// are for them), and those that would compute something more than once.
std::optional<tensor::Schedule> RowChainSpace(const tensor::Workload& workload,
                                              const target::Target& target);

}  // namespace bayloom::sketch
