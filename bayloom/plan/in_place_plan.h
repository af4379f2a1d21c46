// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/program.h"

namespace bayloom::plan {

/// The output in whose memory an intermediate can be kept, element by element at the same place;
/// -1 if there is none. The block that writes the output reads the intermediate just there, and is
/// the last to touch it:
///
///     for i:  t[i, :] = ...;  use t[i, :];  y[i, :] = f(t[i, :], ...)
///
/// What the output's lines are fetched for is then done when t is computed, beside arithmetic, and
/// the last pass finds them in a near cache.
tensor::BufferId OutputThatKeeps(const tensor::Program& program, tensor::BufferId buffer);

}  // namespace bayloom::plan
