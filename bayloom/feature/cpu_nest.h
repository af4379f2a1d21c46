// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::feature {

/// What something changes with: the lanes of the vectorized loop, the reduction loops, and from
/// `kFirstStep` on a bit for each digit of CpuNest::steps.
using LoopMask = uint64_t;
constexpr LoopMask kVector = 1;
constexpr LoopMask kReductionMask = 2;
constexpr int kFirstStep = 2;

/// How the loops around a block run on a processor, by the plan of its program's code, which must
/// outlive this.
struct CpuNest {
  /// A digit whose steps are straight code: of a tile of sums, or unrolled.
  struct Steps {
    tensor::DigitId digit;
    int64_t count;
  };

  std::vector<tensor::LoopId> loops;  ///< around the block, outermost first
  bool is_reduction = false;
  const plan::AccumulatorTile* tile = nullptr;  ///< of sums in registers; null: there is none
  const plan::VectorLoop* vector = nullptr;     ///< null: scalar code
  /// The lanes are of the innermost reduction loop, and are combined at the end.
  bool folds = false;
  int64_t chunks = 1;  ///< registers for all of its lanes
  /// Of these, that are straight code in a tile; of a fold, that take turns for one result.
  int64_t registers = 1;
  std::vector<Steps> steps;  ///< slowest first
  /// Loops of more than one iteration that run on the tile's registers, outermost first.
  std::vector<tensor::LoopId> reduction;
  const plan::DotPlan* dot = nullptr;  ///< of products that an instruction sums up
  /// The fastest digit of the loop that changes places with the vectorized one; -1: there is none.
  tensor::DigitId across = -1;
  /// Loop steps for each execution of the straight code that they run, of the innermost loop.
  double loop_steps = 0;
  bool unrolls_reduction = false;  ///< the innermost reduction loop is straight code
  std::vector<LoopMask> masks;     ///< by digit

  double lanes() const { return vector ? static_cast<double>(vector->lane_count) : 1; }
  double width() const { return vector ? vector->width : 1; }
  int64_t at_once() const { return dot ? dot->depth : 1; }
  /// Registers of values that change with these loops, in one step of the reduction; the tile's
  /// registers of sums are those of what changes with all of them.
  int64_t ValuesOf(LoopMask mask) const;
  int64_t Sums() const { return ValuesOf(~LoopMask{0}); }
  LoopMask MaskOf(const tensor::Affine& affine) const;
};

CpuNest CpuNestOf(const tensor::Program& program, const plan::CpuPlan& plan, tensor::BlockId block);

/// Of the block that takes the tile's results from its registers.
CpuNest EpilogueNestOf(const tensor::Program& program, const CpuNest& reduction);

}  // namespace bayloom::feature
