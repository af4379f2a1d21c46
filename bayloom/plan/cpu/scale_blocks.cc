// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/scale_blocks.h"

#include <algorithm>
#include <ranges>

namespace bayloom::plan {

std::optional<tensor::LoopId> LoopOfOneScale(const tensor::Program& program, const DotPlan& dot,
                                             const AccumulatorTile& tile) {
  const tensor::Block& block = program.blocks[tile.block];
  const auto has_one_scale = [&](tensor::DigitId digit) {
    return std::ranges::none_of(dot.scaled_iters, [&](int iter) {
      return program.digit_extents[digit] > 1 && block.bindings[iter].CoefficientOf(digit) != 0;
    });
  };
  std::optional<tensor::LoopId> found;
  for (tensor::LoopId loop : std::views::reverse(tile.reduction)) {
    if (!std::ranges::all_of(program.loops[loop].digits, has_one_scale)) break;
    if (program.ExtentOf(loop) > 1 && loop != dot.loop) found = loop;
  }
  return found;
}

}  // namespace bayloom::plan
