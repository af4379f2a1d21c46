// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::sketch {

/// Sizes of tiles to cover an extent that has no divisors worth tiling by (a prime factor of more
/// than 16, such as the 197 tokens of a vision transformer): tiles that overlap, of sizes that do
/// have such divisors, with at most an eighth computed twice; least waste first, at most eight.
/// With them 1 and the extent itself, which do not overlap. Empty for extents that tile well.
std::vector<int64_t> OverlappingTileSizes(int64_t extent);

/// The block's spatial iterators, but the innermost, along which tiles are to overlap.
std::vector<size_t> OverlappingIters(const tensor::Block& block);

}  // namespace bayloom::sketch
