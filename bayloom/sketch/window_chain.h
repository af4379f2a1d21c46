// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A reduction over windows, channel by channel, whose result a pointwise convolution reads: a
/// depthwise convolution or a pool with the 1x1 convolution behind it. The stages as the workload
/// names them, elementwise ones that follow each other being one, the last; those in brackets may
/// be missing, and are empty then:
///
///     [padding], windows, [between], pointwise, [epilogue]
struct WindowChain {
  std::string padding;
  std::string windows;
  std::string between;  ///< element by element: bias and activation of the first
  std::string pointwise;
  std::string output;  ///< the last stage
};

/// nullopt if the workload is something else.
std::optional<WindowChain> FindWindowChain(const tensor::Workload& workload);

/// Design spaces of such a chain, computed tile by tile of the convolution's positions:
///
///     for each tile of positions
///       windows and what is between, all channels, a few places and vectors at a time
///       the pointwise convolution and its epilogue              in tiles of registers
///
/// What lies between is as large as a tile: it stays in the caches of one core, and only the
/// padding is computed more than once. The convolution's tiles are those of MultiLevelTiling.
/// Padding is folded into the windows in one space, and copied for each tile in another.
///
/// Empty if a primitive refuses.
std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload, const WindowChain& chain,
                                       const target::Target& target);

}  // namespace bayloom::sketch
