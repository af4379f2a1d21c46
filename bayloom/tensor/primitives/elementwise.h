// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// For a block that reads a buffer at its own iterators (in any order) and nowhere else: the
/// iterator that is the index of each dimension, or -1 where the dimension has extent 1 and a
/// constant index 0. Refuses other accesses.
Result<std::vector<int>> ElementwiseIters(const Program& program, const Block& block,
                                          BufferId buffer);

}  // namespace bayloom::tensor
