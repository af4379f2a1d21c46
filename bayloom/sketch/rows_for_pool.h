// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/tensor/workload.h"

namespace bayloom::sketch {

/// The same computation as FindPooledConvolution wants it: where windows reach over the first or
/// the last row, the convolution computes the rows outside as well, from zeros, and nothing uses
/// them. So the rows that a tile of windows needs are as many for each tile.
///
/// nullopt where that cannot be done: what is not a pool behind a convolution, or one that reads
/// rows outside of the image without padding or adds another tensor. Also where it cannot pay:
/// Winograd's algorithm computes the convolution with less.
std::optional<tensor::Workload> WithRowsForPool(const tensor::Workload& workload);

}  // namespace bayloom::sketch
