// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::plan {

/// An open axis as loops go through it: what is done at `index` is needed where that is below the
/// size. No coefficient is negative.
struct OpenAxis {
  tensor::Affine index;
  tensor::BufferId size = -1;
  bool operator==(const OpenAxis&) const = default;

  /// size - 1 - index: not negative within the bound.
  tensor::Affine Slack() const;
};

/// Digits whose loops may end before they have taken all their steps: after those at which every
/// block below is beyond the bound of an axis. For each the axes, of which the one that reaches
/// furthest decides. The loops inside of the first bound are not left out: what they compute beyond
/// is in memory that the program has for the largest size.
using OpenDigits = std::map<tensor::DigitId, std::vector<OpenAxis>>;
OpenDigits PlanOpenDigits(const tensor::Program& program);

}  // namespace bayloom::plan
