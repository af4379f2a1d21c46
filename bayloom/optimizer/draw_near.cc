// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/draw_near.h"

#include <utility>

namespace bayloom::optimizer {
namespace {

/// Among many parameters a constraint is broken by a few that are redrawn, rarely by all draws.
constexpr int kMaxDraws = 32;

}  // namespace

std::optional<space::Configuration> DrawNear(const space::Space& space,
                                             const space::Configuration& centre, double share,
                                             base::RandomStream& random) {
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    std::optional<space::Configuration> near = space.Sample(random);
    if (!near) break;
    for (int i = 0; i < space.size(); ++i) {
      if (random.Uniform() >= share) near->coordinates[i] = centre.coordinates[i];
    }
    near = space.Settled(*std::move(near));
    if (space.Contains(*near)) return near;
  }
  return std::nullopt;
}

}  // namespace bayloom::optimizer
