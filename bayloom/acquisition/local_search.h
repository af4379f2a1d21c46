// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <limits>
#include <span>

#include "bayloom/base/random.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::acquisition {

/// A configuration and its utility; -infinity means that it must not be suggested.
struct Suggestion {
  space::Configuration configuration;
  double utility = -std::numeric_limits<double>::infinity();

  bool exists() const { return utility > -std::numeric_limits<double>::infinity(); }
};

/// Writes the utility of each configuration. Called with many at once, so that a surrogate
/// predicts them together.
using UtilityFunction = std::function<void(std::span<const space::Configuration> configurations,
                                           std::span<double> utilities)>;

/// Climbs from every start, step by step to the best of the feasible neighbours, until no
/// neighbour is better: the local search of Hellsten et al. 2023, sec. 3.3. Gives the best
/// configuration met that is not `excluded`; climbs may start at and pass through those that are.
/// Of neighbours that mean the same only the one that stands for them is looked at.
///
/// All climbs step together, and no neighbour is scored twice. In spaces of more than 32 parameters
/// a step looks at neighbours by 32 of them, in turns; what no parameter lets rise has ended.
Suggestion ClimbToBest(const space::Space& space, const UtilityFunction& utility,
                       std::span<const space::Configuration> starts,
                       const std::function<bool(const space::Configuration&)>& excluded,
                       int max_steps, base::RandomStream& random,
                       const space::CanonicalForm& canonical = {});

}  // namespace bayloom::acquisition
