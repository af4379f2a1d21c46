// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/program_of_run.h"

#include <algorithm>
#include <cmath>

namespace bayloom::feature {
namespace {

/// Steps that are straight code.
StepsTogether StraightSteps(const tensor::Program& program, const plan::CpuPlan& plan) {
  StepsTogether straight;
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
                    const tensor::Program& program, const StepsTogether& together) {
  std::vector<tensor::Affine::Term> terms = axis.index.terms;
  std::ranges::sort(terms, std::ranges::greater(), &tensor::Affine::Term::coefficient);
  double left = static_cast<double>(size - axis.index.constant);
  for (const tensor::Affine::Term& term : terms) {
    const int64_t extent = program.digit_extents[term.digit];
    const auto at_once = together.find(term.digit);
    const int64_t block = at_once == together.end() ? 1 : at_once->second;
    const double apart = static_cast<double>(term.coefficient * block);
    const auto blocks = static_cast<int64_t>(std::ceil(std::max(left, 1.0) / apart));
    const int64_t steps = std::min(extent, blocks * block);
    if (term.digit == digit) return steps;
    left = std::min(left / static_cast<double>(std::max<int64_t>(steps / block, 1)), apart);
  }
  return program.digit_extents[digit];
}

}  // namespace

tensor::Program ProgramOfRun(const tensor::Program& program, const plan::OpenDigits& open,
                             const StepsTogether& together, std::span<const int64_t> sizes) {
  tensor::Program run = program;
  for (const auto& [digit, axes] : open) {
    int64_t most = 1;
    for (const plan::OpenAxis& axis : axes) {
      most = std::max(most, StepsWithin(axis, digit, sizes[axis.size], program, together));
    }
    run.digit_extents[digit] = most;
  }
  return run;
}

tensor::Program ProgramOfRun(const tensor::Program& program, const plan::CpuPlan& plan,
                             std::span<const int64_t> sizes) {
  return ProgramOfRun(program, plan.open, StraightSteps(program, plan), sizes);
}

}  // namespace bayloom::feature
