// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/feature/touched_memory.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// The innermost loops of a block as generated code runs them: a loop that is vectorized takes one
/// step for each register, and outputs of a reduction stay in registers where that is possible
/// (plan/cpu/accumulator_plan.h decides; this follows its rules, not its details).
struct RegisterNest {
  /// A loop whose iterations, or part of them, are carried out side by side.
  struct TileLoop {
    tensor::LoopId loop;
    int64_t steps;  ///< of which `taken` are in the tile
    int64_t taken = 1;
    bool optional = false;  ///< around the reduction loops
  };

  double lanes = 1;   ///< elements of the vectorized loops
  double width = 1;   ///< of which a register holds so many
  double chunks = 1;  ///< registers that they take
  std::vector<tensor::LoopId> vectorized;
  /// The fastest digit of the loop directly around those, whose steps may be loaded together.
  tensor::DigitId across = -1;
  int64_t at_once = 1;                 ///< products that an instruction sums up
  tensor::DigitId at_once_digit = -1;  ///< that counts them
  bool is_reduction = false;
  /// The innermost reduction loop is in the lanes, which are combined at the end: it is among the
  /// vectorized ones, and its registers are steps, not outputs.
  bool folds = false;
  bool in_registers = false;              ///< a reduction's outputs are
  std::vector<TileLoop> tile;             ///< spatial loops of a reduction, outermost first
  std::vector<tensor::LoopId> reduction;  ///< run on one set of registers
};

/// `loops` are those around the block, outermost first; registers are the machine's.
RegisterNest RegisterNestOf(const tensor::Program& program, tensor::BlockId block,
                            const std::vector<tensor::LoopId>& loops, const BufferPlaces& places,
                            const target::MachineModel& machine);

}  // namespace bayloom::feature
