// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/launch.h"

#include <algorithm>

namespace bayloom::codegen {

int64_t BlocksAt(const GpuLaunch& launch, std::span<const int64_t> sizes) {
  if (launch.reaches.empty()) return launch.blocks;
  int64_t iterations = launch.fixed_iterations, furthest = 1;
  for (const GridReach& reach : launch.reaches) {
    const int64_t left = sizes[static_cast<size_t>(reach.size)] - reach.before;
    const int64_t steps = (std::max<int64_t>(left, 1) + reach.step - 1) / reach.step;
    furthest = std::max(furthest, std::min(steps, reach.most));
    if (reach.or_next) continue;
    iterations *= furthest;
    furthest = 1;
  }
  return (iterations + launch.block_share - 1) / launch.block_share;
}

}  // namespace bayloom::codegen
