// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// Random feasible configurations that a history does not know yet: draws, and draws again when the
/// configuration is known. When that keeps failing, the few that are left are listed and
/// distributed in random order, so that small spaces are exhausted exactly.
class FreshSampler {
 public:
  explicit FreshSampler(space::SamplingMethod method = space::SamplingMethod::kUniformLeaves)
      : method_(method) {}

  /// None when the space has no more (or, for spaces too large to list, seems to).
  std::optional<space::Configuration> Draw(const History& history, base::RandomStream& random);
  /// Whether the last Draw found none although there may be more: the space is too large to list.
  bool gave_up() const { return gave_up_; }

 private:
  space::SamplingMethod method_;
  bool listed_ = false;
  bool gave_up_ = false;
  std::vector<space::Configuration> left_;  ///< shuffled; some may be known by now
};

}  // namespace bayloom::optimizer
