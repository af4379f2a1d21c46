// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

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
