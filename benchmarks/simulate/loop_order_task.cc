// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/simulate/loop_order_task.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bayloom {
namespace {

constexpr int kDimensions = 3;  // i, j, k
constexpr int kLoops = 2 * kDimensions;
constexpr double kLineElements = 16;

/// The dimensions of A[i][k], B[k][j] and C[i][j]; the second one is contiguous.
constexpr std::array<std::array<int, 2>, 3> kArrays = {{{0, 2}, {2, 1}, {0, 1}}};

struct Level {
  double lines;
  double cycles_per_line;
};
constexpr std::array<Level, 2> kLevels = {{{512, 4}, {8192, 20}}};

struct Nest {
  double extent;
  std::array<double, kDimensions> tile;
  std::array<int, kLoops> order;  ///< outermost first; d is the loop over tiles, 3 + d within one
  double unroll;

  int Dimension(int depth) const { return order[depth] % kDimensions; }
  double Trips(int depth) const {
    const double tile_size = tile[Dimension(depth)];
    return order[depth] < kDimensions ? extent / tile_size : tile_size;
  }

  /// Lines of an array that the loops from `depth` inwards touch.
  double Footprint(const std::array<int, 2>& array, int depth) const {
    std::array<double, kDimensions> touched = {1, 1, 1};
    for (int d = depth; d < kLoops; ++d) touched[Dimension(d)] *= Trips(d);
    return touched[array[0]] * std::ceil(touched[array[1]] / kLineElements);
  }

  double Footprints(int depth) const {
    double sum = 0;
    for (const auto& array : kArrays) sum += Footprint(array, depth);
    return sum;
  }

  /// Lines that move into a cache: what fits is loaded once for each step of the loops around it,
  /// but for the loops right around it that do not move the array.
  double Misses(const Level& level) const {
    int depth = 0;
    while (depth < kLoops && Footprints(depth) > level.lines) ++depth;
    double misses = 0;
    for (const auto& array : kArrays) {
      int outer = depth;
      while (outer > 0 && Dimension(outer - 1) != array[0] && Dimension(outer - 1) != array[1]) {
        --outer;
      }
      double loads = Footprint(array, depth);
      for (int d = 0; d < outer; ++d) loads *= Trips(d);
      misses += loads;
    }
    return misses;
  }

  double Instructions() const {
    const double trips = Trips(kLoops - 1);
    // Elements a vector instruction computes: along j all, along k sums to add up, along i none.
    constexpr std::array<double, kDimensions> kLanes = {1, 8, 3};
    const double lanes = std::min(trips, kLanes[Dimension(kLoops - 1)]);
    const double overhead = 1 + 2 / std::min(trips, unroll) + 6 / trips;
    return std::pow(extent, kDimensions) / lanes * overhead;
  }

  double Cycles() const {
    double cycles = Instructions();
    for (const Level& level : kLevels) cycles += level.cycles_per_line * Misses(level);
    return cycles;
  }
};

Nest NestOf(const space::Space& space, const space::Configuration& configuration, double extent) {
  Nest nest;
  nest.extent = extent;
  for (int d = 0; d < kDimensions; ++d) {
    nest.tile[d] = space.parameter(d).NumberAt(configuration.coordinates[d]);
  }
  std::array<int64_t, kLoops> items;
  space.parameter(3).ElementsAt(configuration.coordinates[3], items);
  std::copy(items.begin(), items.end(), nest.order.begin());
  nest.unroll = space.parameter(4).NumberAt(configuration.coordinates[4]);
  return nest;
}

trial::Outcome Evaluate(const Nest& nest) {
  constexpr double kRegisters = 128;
  if (nest.unroll * nest.Trips(kLoops - 1) > 4 * kRegisters) {
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, "out of registers");
  }
  trial::Outcome outcome;
  outcome.value = nest.Cycles();
  return outcome;
}

}  // namespace

RecordedTask MakeLoopOrderTask(space::PermutationMetric metric, int extent) {
  space::Space::Builder builder;
  for (const char* name : {"tile_i", "tile_j", "tile_k"}) {
    builder.Add(space::MakeOrdinal(name, {4, 8, 16, 32, 64, 128}, space::Scale::kLog));
  }
  builder.Add(space::MakePermutation("order", kLoops, metric));
  builder.Add(space::MakeOrdinal("unroll", {1, 2, 4, 8}, space::Scale::kLog));
  for (const char* inside : {"order_i0 < order_i3", "order_i1 < order_i4", "order_i2 < order_i5"}) {
    const Status added = builder.AddConstraint(inside);
    if (!added) throw InputError(added.error().message);
  }
  RecordedTask task;
  task.name = "loop-order";
  task.space = *builder.Build();
  task.optimum = std::numeric_limits<double>::infinity();
  task.space->ForEach([&](const space::Configuration& c) {
    const trial::Outcome outcome = Evaluate(NestOf(*task.space, c, extent));
    if (outcome.ok()) task.optimum = std::min(task.optimum, outcome.value);
    task.outcomes.emplace(c, outcome);
    return true;
  });
  return task;
}

}  // namespace bayloom
