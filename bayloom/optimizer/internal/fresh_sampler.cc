// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/fresh_sampler.h"

namespace bayloom::optimizer {
namespace {

/// Fails once in 1e14 where nine of ten configurations are still unknown, and seldom enough up to
/// where nine of ten are known.
constexpr int kDraws = 32;
/// Listing is worth its memory up to here; nobody tries so many that a larger space runs low.
constexpr double kMaxListed = 1 << 22;

}  // namespace

std::optional<space::Configuration> FreshSampler::Draw(const Memory& memory,
                                                       base::RandomStream& random) {
  if (!listed_) {
    for (int draw = 0; draw < kDraws; ++draw) {
      std::optional<space::Configuration> drawn = memory.space().Sample(random, method_);
      if (!drawn) return std::nullopt;
      if (!memory.Knows(*drawn)) return drawn;
    }
    if (!(memory.space().CountFeasible() <= kMaxListed)) return std::nullopt;
    memory.space().ForEach([&](const space::Configuration& c) {
      if (!memory.Knows(c)) left_.push_back(c);
      return true;
    });
    random.Shuffle(left_);
    listed_ = true;
  }
  while (!left_.empty() && memory.Knows(left_.back())) left_.pop_back();
  if (left_.empty()) return std::nullopt;
  return left_.back();
}

}  // namespace bayloom::optimizer
