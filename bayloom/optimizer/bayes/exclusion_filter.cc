// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/exclusion_filter.h"

#include <utility>

namespace bayloom::optimizer {
namespace {

/// Excluded configurations that one question may meet before it is given up.
constexpr int kMaxExcluded = 2000;

}  // namespace

ExclusionFilter::ExclusionFilter(std::unique_ptr<Optimizer> inner, ExclusionTest excludes)
    : inner_(std::move(inner)), excludes_(std::move(excludes)) {}

std::vector<space::Configuration> ExclusionFilter::Ask(int n) {
  std::vector<space::Configuration> kept;
  int excluded = 0;
  while (std::ssize(kept) < n && excluded < kMaxExcluded) {
    std::vector<space::Configuration> asked = inner_->Ask(n - static_cast<int>(kept.size()));
    if (asked.empty()) break;
    for (space::Configuration& configuration : asked) {
      if (excludes_(configuration)) {
        ++excluded;
        inner_->Tell(configuration,
                     trial::Outcome::Infeasible(trial::Verdict::kBuildError, "excluded"));
      } else {
        kept.push_back(std::move(configuration));
      }
    }
  }
  gave_up_ = std::ssize(kept) < n && excluded >= kMaxExcluded;
  return kept;
}

}  // namespace bayloom::optimizer
