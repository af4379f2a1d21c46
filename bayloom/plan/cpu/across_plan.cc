// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/across_plan.h"

#include <algorithm>

namespace bayloom::plan {
namespace {

/// The loop's fastest digit; -1 if it has but one iteration.
tensor::DigitId FastestDigit(const tensor::Program& program, tensor::LoopId loop) {
  const std::vector<tensor::DigitId>& digits = program.loops[loop].digits;
  const auto found = std::find_if(digits.rbegin(), digits.rend(), [&](tensor::DigitId digit) {
    return program.digit_extents[digit] > 1;
  });
  return found == digits.rend() ? -1 : *found;
}

}  // namespace

std::map<tensor::LoopId, AcrossLoop> PlanAcrossLoops(
    const tensor::Program& program, const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  std::map<tensor::LoopId, AcrossLoop> planned;
  for (const auto& [id, vector] : vector_loops) {
    const tensor::NodeRef parent = program.loops[id].parent;
    const std::vector<tensor::NodeRef>& inside = program.loops[vector.loops.back()].body;
    if (!parent.is_loop() || inside.size() != 1 || !inside[0].is_block()) continue;
    const tensor::Loop& around = program.loops[parent.id];
    if (!tensor::RunsInOrder(around.kind) || around.body.size() != 1) continue;
    if (program.blocks[inside[0].id].kind != tensor::BlockKind::kPlain) continue;
    const tensor::DigitId digit = FastestDigit(program, parent.id);
    const auto& loads = accesses.at(inside[0].id).loads;
    const bool across = std::ranges::any_of(loads, [&](const auto& entry) {
      const PlacedAccess& load = entry.second;
      return digit >= 0 && load.dynamic.empty() && load.affine.CoefficientOf(digit) == 1 &&
             load.affine.CoefficientOf(vector.lanes.back()) > 1;
    });
    if (across) planned.emplace(parent.id, AcrossLoop{parent.id, digit, id});
  }
  return planned;
}

}  // namespace bayloom::plan
