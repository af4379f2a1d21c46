// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A convolution of images whose result only a pool reads, channels last. The stages as the
/// workload names them, elementwise ones that follow each other being one, the last; those in
/// brackets may be missing, and are empty then:
///
///     [padding], convolution, [between], [pool padding], pool, [epilogue]
struct PooledConvolution {
  std::string padding;
  std::string convolution;
  std::string between;  ///< element by element: bias and activation of the convolution
  std::string pool_padding;
  std::string pool;
  std::string output;  ///< the last stage
};

/// nullopt if the workload is something else, and where windows reach over the first or the last
/// row of what the convolution computes (rows_for_pool.h).
std::optional<PooledConvolution> FindPooledConvolution(const tensor::Workload& workload);

/// Design spaces of such a pair, computed tile by tile of the pool's rows and channels:
///
///     for each tile of rows, for each tile of channels
///       convolution and what is between, all columns          in tiles of registers
///       the pool and its epilogue
///
/// What lies between is as large as a tile: it stays in the caches of one core. Rows that windows
/// of two tiles share are computed for both. The convolution's padding is folded into it in one
/// space, and copied for each tile of rows in another.
///
/// Empty if a primitive refuses.
std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload,
                                       const PooledConvolution& pair, const target::Target& target);

}  // namespace bayloom::sketch
