// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/annotated_choice.h"

#include <algorithm>

namespace bayloom::strategy {

bool Annotates(const tensor::Trace& trace, int step, const std::string& key) {
  const int value = trace.instructions()[step].outputs[0];
  return std::any_of(trace.instructions().begin() + step + 1, trace.instructions().end(),
                     [&](const tensor::Instruction& user) {
                       return user.kind == tensor::InstructionKind::kAnnotate && user.text == key &&
                              std::find(user.inputs.begin(), user.inputs.end(), value) !=
                                  user.inputs.end();
                     });
}

}  // namespace bayloom::strategy
