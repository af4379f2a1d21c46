// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/mapspace/cores/divided_group.h"
#include "bayloom/mapspace/fused/group_search.h"

namespace bayloom::mapspace {

struct DivisionSearchOptions {
  MapObjective objective = MapObjective::kEnergy;
  /// Which levels can be home: see HomeLevelsOf.
  std::vector<Directive> constraints = {};
  /// Ways to divide a group, the best by estimate, whose tiles are mapped.
  int max_mapped = 4;
  /// Asked between groups; once true, the others stay on one core.
  std::function<bool()> stop = [] { return false; };
};

/// A group of a plan, how cores share it, and what it costs so and on the first core alone.
struct PlannedDivision {
  DividedGroup divided;  ///< kNone without a home: a layer by itself
  DividedCost cost;
  DividedCost single;
};

/// A plan whose groups several cores share, one group after the other.
struct DivisionPlan {
  std::vector<PlannedDivision> groups;

  /// Over all groups; peak words are the most.
  DividedCost Total() const;
  /// The same where one core runs every group.
  DividedCost Single() const;
};

/// Chooses for every group of a plan how the cores of a chip share it: every way of GroupDivision,
/// the first two with several tile sizes, is estimated, the best of those are mapped, and the best
/// of these is taken; one core where nothing is better. Layers by themselves are divided as groups
/// of one operator are.
///
/// Nothing is taken that costs more cycles than one core. For the product of energy and cycles a
/// group's value is the sum of both as parts of the plan's: no choice makes the product of the
/// plan's sums worse.
DivisionPlan DividePlan(const FusedNetwork& network, const Architecture& architecture,
                        const NetworkOnChip& chip, const GroupPlan& plan,
                        const TileCoster& estimate, const TileCoster& exact,
                        const DivisionSearchOptions& options);

}  // namespace bayloom::mapspace
