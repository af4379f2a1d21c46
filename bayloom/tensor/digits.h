// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// The digits of the loops that have more than one value, slowest first.
std::vector<DigitId> MovingDigits(const Program& program, std::span<const LoopId> loops);

/// The only one of a loop; -1 if there are none or several.
DigitId OnlyDigit(const Program& program, LoopId loop);

}  // namespace bayloom::tensor
