// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/program_of_run.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bayloom::feature {
namespace {

/// Per digit, how many steps are straight code: all or none of them are taken.
std::map<tensor::DigitId, int64_t> StraightSteps(const tensor::Program& program,
                                                 const plan::CpuPlan& plan) {
  std::map<tensor::DigitId, int64_t> straight;
  const auto note = [&](tensor::DigitId digit, int64_t steps) {
    int64_t& known = straight.try_emplace(digit, 1).first->second;
    known = std::max(known, steps);
  };
  for (const auto& [root, tile] : plan.tiles) {
    for (tensor::LoopId loop : tile.spatial) {
      for (tensor::DigitId digit : program.loops[loop].digits) {
        note(digit, tile.StepsOf(program, digit));
      }
    }
  }
  for (tensor::LoopId loop : plan.unrolled) {
    for (tensor::DigitId digit : program.loops[loop].digits) {
      note(digit, program.digit_extents[digit]);
    }
  }
  for (const auto& [loop, vector] : plan.vector_loops) {
    if (vector.lanes.size() == 1) note(vector.lanes[0], vector.width);
    for (size_t i = 0; vector.lanes.size() > 1 && i < vector.lanes.size(); ++i) {
      note(vector.lanes[i], program.digit_extents[vector.lanes[i]]);
    }
  }
  return straight;
}

/// Steps of the digit that reach the axis' bound, where slower digits of it take as many as they
/// do.
int64_t StepsWithin(const plan::OpenAxis& axis, tensor::DigitId digit, int64_t size,
                    const tensor::Program& program,
                    const std::map<tensor::DigitId, int64_t>& straight) {
  std::vector<tensor::Affine::Term> terms = axis.index.terms;
  std::ranges::sort(terms, std::ranges::greater(), &tensor::Affine::Term::coefficient);
  double left = static_cast<double>(size - axis.index.constant);
  for (const tensor::Affine::Term& term : terms) {
    const int64_t extent = program.digit_extents[term.digit];
    const auto at_once = straight.find(term.digit);
    const int64_t block = at_once == straight.end() ? 1 : at_once->second;
    const double apart = static_cast<double>(term.coefficient * block);
    const auto blocks = static_cast<int64_t>(std::ceil(std::max(left, 1.0) / apart));
    const int64_t steps = std::min(extent, blocks * block);
    if (term.digit == digit) return steps;
    left = std::min(left / static_cast<double>(std::max<int64_t>(steps / block, 1)), apart);
  }
  return program.digit_extents[digit];
}

}  // namespace

tensor::Program ProgramOfRun(const tensor::Program& program, const plan::CpuPlan& plan,
                             std::span<const int64_t> sizes) {
  tensor::Program run = program;
  const std::map<tensor::DigitId, int64_t> straight = StraightSteps(program, plan);
  for (const auto& [digit, axes] : plan.open) {
    int64_t most = 1;
    for (const plan::OpenAxis& axis : axes) {
      most = std::max(most, StepsWithin(axis, digit, sizes[axis.size], program, straight));
    }
    run.digit_extents[digit] = most;
  }
  return run;
}

}  // namespace bayloom::feature
