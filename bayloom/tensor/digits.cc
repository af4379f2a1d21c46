// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/digits.h"

namespace bayloom::tensor {

std::vector<DigitId> MovingDigits(const Program& program, std::span<const LoopId> loops) {
  std::vector<DigitId> moving;
  for (const LoopId loop : loops) {
    for (const DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] > 1) moving.push_back(digit);
    }
  }
  return moving;
}

DigitId OnlyDigit(const Program& program, LoopId loop) {
  const std::vector<DigitId> moving = MovingDigits(program, std::span(&loop, 1));
  return moving.size() == 1 ? moving[0] : -1;
}

}  // namespace bayloom::tensor
