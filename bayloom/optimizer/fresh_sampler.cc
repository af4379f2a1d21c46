// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/fresh_sampler.h"

namespace bayloom::optimizer {
namespace {

/// Fails once in 1e14 where nine of ten configurations are still unknown, and rarely enough up to
/// where nine of ten are known.
constexpr int kDrawsAtOnce = 32;
/// The same where what is left cannot be listed.
constexpr int kUnlistedDraws = 256;
/// Listing is worth its memory up to here; no search tries so many that a larger space runs low.
constexpr double kMaxListed = 1 << 22;

}  // namespace

std::optional<space::Configuration> FreshSampler::Draw(const History& history,
                                                       base::RandomStream& random) {
  gave_up_ = false;
  if (!listed_) {
    const bool can_be_listed = history.space().CountFeasible() <= kMaxListed;
    for (int draw = 0; draw < (can_be_listed ? kDrawsAtOnce : kUnlistedDraws); ++draw) {
      std::optional<space::Configuration> drawn = history.space().Sample(random, method_);
      if (!drawn) break;
      if (!history.Knows(*drawn)) return drawn;
    }
    if (!can_be_listed) {
      gave_up_ = true;
      return std::nullopt;
    }
    history.space().ForEach([&](const space::Configuration& c) {
      if (!history.Knows(c)) left_.push_back(c);
      return true;
    });
    random.Shuffle(left_);
    listed_ = true;
  }
  while (!left_.empty() && history.Knows(left_.back())) left_.pop_back();
  if (left_.empty()) return std::nullopt;
  return left_.back();
}

}  // namespace bayloom::optimizer
