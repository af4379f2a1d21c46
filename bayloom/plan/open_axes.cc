// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/open_axes.h"

#include <algorithm>
#include <optional>

namespace bayloom::plan {
namespace {

/// The axis that the digit moves the block along, if it is open; the digit alone may take the block
/// beyond the bound.
std::optional<OpenAxis> AxisOf(const tensor::Block& block, tensor::DigitId digit) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const tensor::Bound& bound = block.iters[i].bound;
    if (!bound.is_open() || block.bindings[i].CoefficientOf(digit) == 0) continue;
    tensor::Affine index;
    index.Add(block.bindings[i], bound.step);
    index.constant -= bound.beyond;
    const bool counts_up = std::ranges::all_of(
        index.terms, [](const tensor::Affine::Term& term) { return term.coefficient > 0; });
    if (counts_up) return OpenAxis{index, bound.size};
  }
  return std::nullopt;
}

std::vector<OpenAxis> AxesOf(const tensor::Program& program, tensor::LoopId loop,
                             tensor::DigitId digit) {
  std::vector<OpenAxis> axes;
  for (tensor::BlockId id : program.BlocksBelow(tensor::NodeRef::Loop(loop))) {
    const std::optional<OpenAxis> axis = AxisOf(program.blocks[id], digit);
    if (!axis) return {};
    if (std::ranges::count(axes, *axis) == 0) axes.push_back(*axis);
  }
  return axes;
}

}  // namespace

tensor::Affine OpenAxis::Slack() const {
  tensor::Affine slack{-1, {{size, 1}}};  // a size has the number of its digit
  slack.Add(index, -1);
  return slack;
}

OpenDigits PlanOpenDigits(const tensor::Program& program) {
  OpenDigits open;
  if (program.SizeCount() == 0) return open;
  for (size_t loop = 0; loop < program.loops.size(); ++loop) {
    if (!program.loops[loop].alive) continue;
    for (tensor::DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] == 1) continue;
      std::vector<OpenAxis> axes = AxesOf(program, static_cast<tensor::LoopId>(loop), digit);
      if (!axes.empty()) open.emplace(digit, std::move(axes));
    }
  }
  return open;
}

}  // namespace bayloom::plan
