// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "bayloom/tensor/trace.h"

namespace bayloom::tensor {

/// The form of an instruction, shared by checking, printing and reading traces.
struct InstructionForm {
  InstructionKind kind;
  std::string_view name;
  /// Kinds of the operands: 'b' block, 'l' loop, 'v' value; a '*' repeats the one before it any
  /// number of times.
  std::string_view inputs;
  std::string_view outputs;
  /// How many literal arguments; -1 where CheckForm knows.
  int attributes;
};

const InstructionForm& FormOf(InstructionKind kind);
/// nullptr for an unknown name.
const InstructionForm* FindForm(std::string_view name);

/// Checks what an instruction is given: its operands and literal arguments. `variables` gives the
/// kinds of the variables defined so far.
Status CheckForm(const Instruction& instruction, const std::vector<char>& variables);
/// Checks the number of outputs where the instruction says how many there are.
Status CheckOutputs(const Instruction& instruction);
/// Checks that a decision could be one of this instruction.
Status CheckDecision(const Instruction& instruction, const Decision& decision);

}  // namespace bayloom::tensor
