// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// True if no two iterations of `loops` (some of those around the block) put the block at the
/// same point of its iterators: every digit of them is in a binding, and in each binding the
/// digits make different values. May say false where a finer proof would say true.
bool VisitsElementsOnce(const Program& program, const Block& block, std::span<const LoopId> loops);

/// True if different values of the given digits (terms of one affine expression) make different
/// values of it: sorted by coefficient, each is larger than all that the smaller ones can add up.
bool IsInjective(const Program& program, std::vector<Affine::Term> terms);

/// True if the terms' values are exactly 0, 1, ..., product of the extents - 1, each once: a
/// mixed-radix number.
bool IsMixedRadix(const Program& program, std::vector<Affine::Term> terms);

/// True if the terms' values are all integers between their minimum and their maximum.
bool IsDense(const Program& program, std::vector<Affine::Term> terms);

}  // namespace bayloom::tensor
