// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/mapping.h"
#include "bayloom/space/parameter.h"

namespace bayloom::mapspace {

/// All mappings of a problem on an architecture under constraints: how each dimension's bound is
/// split over the levels in time and space, the loop orders, and which level keeps which tensor
/// (Kannan 2023, sec. II-A). Whether tiles fit is the model's to say.
class Mapspace {
 public:
  /// The architecture's own constraints hold besides. Throws InputError for constraints that name
  /// what is not there, contradict or leave no mapping.
  Mapspace(Problem problem, Architecture architecture, std::span<const Directive> constraints = {});

  const Problem& problem() const { return problem_; }
  const Architecture& architecture() const { return architecture_; }
  const MapspaceConstraints& constraints() const { return constraints_; }
  /// The constraints as they were given, without the architecture's own.
  std::span<const Directive> directives() const { return directives_; }

  /// A place that a part of a dimension's bound can go to.
  struct Slot {
    int level;
    bool spatial;
  };
  /// Of a dimension, innermost first; those that a constraint fixes are not among them.
  const std::vector<Slot>& FreeSlots(int dimension) const { return dimensions_[dimension].slots; }
  /// What is left of its bound for the free slots.
  int64_t FreeExtent(int dimension) const { return dimensions_[dimension].extent; }
  /// The ways to split that over the free slots, outermost first.
  const space::Parameter& Splits(int dimension) const { return *dimensions_[dimension].splits; }
  /// Dimensions whose loop may be anywhere between those that constraints hold in place.
  const std::vector<int>& FreeOrder(int level) const { return free_order_[level]; }
  /// Tensors that the level may keep or not, one bit each.
  uint32_t FreeKeep(int level) const;

  /// The factors that constraints fix, and 1; orders and keeps as constraints say, everything free
  /// kept.
  Mapping Skeleton() const { return skeleton_; }
  /// Gives a dimension the split with this rank.
  void SetSplit(int dimension, double rank, Mapping& mapping) const;
  /// Orders a level's free loops like this (innermost first).
  void SetOrder(int level, std::span<const int> free_dimensions, Mapping& mapping) const;
  /// Brings the orders of free loops to a form that mappings which differ only in loops that run
  /// once have in common: those are outermost, in the order of the dimensions.
  void StandardizeOrders(Mapping& mapping) const;
  /// Places spatial loops along x and y and tells whether they have room there and all upper bounds
  /// on factors hold. Needed after factors changed. Of a memory of several parts, gives each tensor
  /// one place: the outermost of those it has, or of all where it has none but must.
  bool Repair(Mapping& mapping) const;

  /// Tilings times orders of the loops times bypasses, a lower bound on how many look different.
  double Size() const;

  /// Each dimension's split uniform, as Timeloop's mapper draws; keeps free tensors at random.
  /// False if it cannot be repaired.
  bool SampleTiling(base::RandomStream& random, Mapping& mapping) const;
  void ShuffleOrders(base::RandomStream& random, Mapping& mapping) const;

  /// One small change: a prime factor moves to another slot, two loops of a level trade places, or
  /// a tensor is kept or bypassed. False, leaving the mapping undefined, if it cannot be repaired.
  bool Step(base::RandomStream& random, Mapping& mapping) const;

  /// Ways to split all dimensions over the levels, those that cannot be repaired included.
  int64_t TilingCount() const;
  /// Every mapping of a tiling (0 to TilingCount() - 1) that can be repaired, loops of count 1 and
  /// the innermost level's order left alone (they decide nothing), until `visit` says false;
  /// whether it never did.
  bool ForEachOfTiling(int64_t tiling, const std::function<bool(const Mapping&)>& visit) const;

 private:
  struct Dimension {
    std::vector<Slot> slots;
    int64_t extent = 1;
    std::unique_ptr<space::Parameter> splits;
  };

  /// Whether each tensor has one place at most in a memory of several parts, and one if it must.
  bool HasOnePlaceEach(const Mapping& mapping) const;
  void GiveOnePlaceEach(Mapping& mapping) const;
  bool PlaceSpatialLoops(int level, MappingLevel& mapping) const;
  bool MovePrime(base::RandomStream& random, Mapping& mapping) const;
  bool SwapFactors(base::RandomStream& random, Mapping& mapping) const;
  bool FlipKeep(base::RandomStream& random, Mapping& mapping) const;
  bool ForEachOrder(int level, Mapping& mapping,
                    const std::function<bool(const Mapping&)>& visit) const;
  bool ForEachKeep(int level, Mapping& mapping,
                   const std::function<bool(const Mapping&)>& visit) const;

  Problem problem_;
  Architecture architecture_;
  std::vector<Directive> directives_;
  MapspaceConstraints constraints_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<int>> free_order_;
  std::vector<Fanout> fanouts_;
  Mapping skeleton_;
};

/// A factor of a mapping in a slot.
inline int64_t& FactorAt(Mapping& mapping, const Mapspace::Slot& slot, int dimension) {
  MappingLevel& level = mapping.levels[slot.level];
  return (slot.spatial ? level.spatial : level.temporal)[dimension];
}

inline int64_t FactorAt(const Mapping& mapping, const Mapspace::Slot& slot, int dimension) {
  const MappingLevel& level = mapping.levels[slot.level];
  return (slot.spatial ? level.spatial : level.temporal)[dimension];
}

}  // namespace bayloom::mapspace
