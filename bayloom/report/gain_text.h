// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tuning/gain_in_turns.h"

namespace bayloom::report {

/// "1.13x over the zero-trial programs (6.26 ms instead of 7.08 ms; 1.11x to 1.15x in 40 turns)",
/// or that the noise is too large to tell.
std::string GainText(const tuning::GainInTurns& gain);

}  // namespace bayloom::report
