// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bayloom/mapspace/cores/divided_group.h"
#include "bayloom/mapspace/fused/group_search.h"

namespace bayloom::mapspace {

struct DivisionSearchOptions {
  MapObjective objective = MapObjective::kEnergy;
  /// Which levels can be home: see RetentionLevelsOf.
  std::vector<Directive> constraints = {};
  /// Ways to divide a group, the best by estimate, whose tiles are mapped.
  int max_mapped = 4;
  /// Operators at the most of a group that only several cores can hold.
  int max_operators = 12;
  /// Asked between groups; once true, the others stay on one core.
  std::function<bool()> stop = [] { return false; };
};

/// A group of a plan, how cores share it, and what it costs so and on the first core alone.
struct PlannedDivision {
  DividedGroup divided;  ///< kNone without a home: a layer by itself
  DividedCost cost;
  /// Of a group that one core cannot hold: its operators one by one.
  DividedCost single;
  bool fits_one_core = true;
};

/// A plan whose groups several cores share, one group after the other.
struct DivisionPlan {
  std::vector<PlannedDivision> groups;
  DividedCost single;  ///< of the plan for one core, which runs every group

  /// Over all groups; peak words are the most.
  DividedCost Total() const;
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

/// The same, or, if that is better, of a plan that has groups which fit only where several cores
/// share them: GroupSearch looks for it, with the cycles of these groups multiplied by what the
/// cores gained for the first plan, as all other groups there are on one core. `layers`: of every
/// operator, what it costs by itself.
DivisionPlan DivideNetwork(const FusedNetwork& network, const Architecture& architecture,
                           const NetworkOnChip& chip, const GroupPlan& plan,
                           std::span<const GroupCost> layers, const TileCoster& estimate,
                           const TileCoster& exact, const DivisionSearchOptions& options);

}  // namespace bayloom::mapspace
