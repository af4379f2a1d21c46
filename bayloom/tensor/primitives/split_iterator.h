// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/result.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Replaces a spatial iterator i of a block by two, i = j * factor + k with k in [0, factor), so
/// that quotients and remainders of i by the factor become j and k. j takes the place of i, k comes
/// last. The loop over i is split if that is needed. Refuses factors that do not divide i's extent,
/// and iterators whose loops have been split at other places.
Status SplitIterator(Program& program, BlockId block, int iter, int64_t factor);

}  // namespace bayloom::tensor
