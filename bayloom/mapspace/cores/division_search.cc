// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/division_search.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace bayloom::mapspace {
namespace {

/// Tiles of a core along the outer axis that are looked at, at the most.
constexpr int kMaxTilesOfCore = 4;

void Add(const DividedCost& cost, DividedCost& sum) {
  sum.total.energy_pj += cost.total.energy_pj;
  sum.total.cycles += cost.total.cycles;
  sum.total.operations += cost.total.operations;
  sum.total.outside_reads += cost.total.outside_reads;
  sum.total.outside_writes += cost.total.outside_writes;
  sum.total.peak_words = std::max(sum.total.peak_words, cost.total.peak_words);
  sum.cores = std::max(sum.cores, cost.cores);
  sum.network_energy_pj += cost.network_energy_pj;
  sum.network_delivered += cost.network_delivered;
  sum.core_words += cost.core_words;
  sum.network_word_hops += cost.network_word_hops;
}

/// The group's own tiles, and others of which every core has one, two or four along the outer axis.
void AddBands(const FusedNetwork& network, const FusedGroup& group, const NetworkOnChip& chip,
              std::vector<DividedGroup>& ways) {
  const auto add = [&](const DepthFirstTiling& tiling) {
    FusedGroup tiled = group;
    tiled.tiling = tiling;
    ways.push_back({.group = tiled, .division = GroupDivision::kRecompute});
    if (tiling.axes[0].is_cached) {
      ways.push_back({.group = tiled, .division = GroupDivision::kFetch});
    }
    if (group.OperatorCount() > 1) {
      ways.push_back({.group = tiled, .division = GroupDivision::kPipeline});
    }
  };
  if (!group.tiling.axes.empty()) add(group.tiling);
  const std::vector<int64_t>& shape =
      network.tensors[network.operators[group.end - 1].output].shape;
  for (const std::vector<TiledAxis>& axes : TiledAxesOf(network, group.end - 1)) {
    const int64_t extent = shape[axes.front().axis];
    const int64_t parts = std::min<int64_t>(extent, chip.CoreCount());
    for (int multiple = 1; multiple <= kMaxTilesOfCore; multiple *= 2) {
      const int64_t size =
          std::max<int64_t>(1, (extent + parts * multiple - 1) / (parts * multiple));
      if (size == extent) continue;
      DepthFirstTiling tiling{.axes = {{axes.front().axis, size, true}}};
      if (axes.size() > 1)
        tiling.axes.push_back({axes.back().axis, axes.back().sizes.front(), true});
      add(tiling);
      if (axes.size() > 1 && axes.back().sizes.size() > 1) {
        tiling.axes.back().size = axes.back().sizes[1];
        add(tiling);
      }
    }
  }
}

/// All results along the same axis counted from the last, or each along its longest.
void AddSpreads(const FusedNetwork& network, FusedGroup group, std::vector<DividedGroup>& ways) {
  group.tiling = {};
  constexpr int kFromLast = 3;
  for (int back = 1; back <= kFromLast; ++back) {
    DividedGroup spread{.group = group, .division = GroupDivision::kSpread};
    for (int k = group.begin; k < group.end; ++k) {
      const auto rank = static_cast<int>(network.tensors[network.operators[k].output].shape.size());
      spread.axes.push_back(std::max(0, rank - back));
    }
    ways.push_back(std::move(spread));
  }
  DividedGroup longest{.group = group, .division = GroupDivision::kSpread};
  for (int k = group.begin; k < group.end; ++k) {
    const std::vector<int64_t>& shape = network.tensors[network.operators[k].output].shape;
    const auto longest_axis = std::ranges::max_element(shape);
    longest.axes.push_back(static_cast<int>(longest_axis - shape.begin()));
  }
  ways.push_back(std::move(longest));
}

class DivisionSearch {
 public:
  DivisionSearch(const FusedNetwork& network, const Architecture& architecture,
                 const NetworkOnChip& chip, const GroupPlan& plan, const TileCoster& estimate,
                 const TileCoster& exact, const DivisionSearchOptions& options)
      : network_(network),
        architecture_(architecture),
        chip_(chip),
        estimate_(estimate),
        exact_(exact),
        options_(options) {
    for (const PlannedGroup& planned : plan.groups) {
      Add(CostOnFirstCore(planned.cost, chip_), single_);
    }
  }

  PlannedDivision Divide(const PlannedGroup& planned) const {
    const DividedCost single = CostOnFirstCore(planned.cost, chip_);
    PlannedDivision best{.divided = {.group = planned.group}, .cost = single, .single = single};
    if (chip_.CoreCount() < 2 || options_.stop()) return best;
    for (const Way& way : MostPromising(planned.group)) {
      if (options_.stop()) break;
      const std::optional<DividedCost> cost = CostOf(way.divided, exact_);
      if (!cost || cost->total.cycles > single.total.cycles) continue;
      if (ValueOf(*cost) >= ValueOf(best.cost)) continue;
      best.divided = way.divided;
      best.cost = *cost;
    }
    return best;
  }

  struct Way {
    DividedGroup divided;
    DividedCost cost;  ///< by estimate, or known
  };
  /// How cores share a group that one cannot hold; nullopt if they cannot either, or the search was
  /// stopped.
  std::optional<Way> Share(const FusedGroup& group, bool is_exact) const {
    const std::vector<Way> ways = MostPromising(group);
    if (ways.empty() || !is_exact) return ways.empty() ? std::nullopt : std::optional(ways.front());
    std::optional<Way> best;
    for (const Way& way : ways) {
      const std::optional<DividedCost> cost = CostOf(way.divided, exact_);
      if (!cost || (best && ValueOf(*cost) >= ValueOf(best->cost))) continue;
      best = Way{.divided = way.divided, .cost = *cost};
    }
    return options_.stop() ? std::nullopt : best;
  }

  /// Of what the plan costs on one core.
  std::pair<double, double> ValueOf(const DividedCost& cost) const {
    const double energy = cost.total.energy_pj / single_.total.energy_pj;
    const double cycles = static_cast<double>(cost.total.cycles) /
                          static_cast<double>(std::max<int64_t>(1, single_.total.cycles));
    switch (options_.objective) {
      case MapObjective::kEnergy:
        return {energy, cycles};
      case MapObjective::kDelay:
        return {cycles, energy};
      case MapObjective::kEnergyDelay:
        break;
    }
    return {energy + cycles, energy};
  }
  const DividedCost& single() const { return single_; }

 private:
  std::optional<DividedCost> CostOf(const DividedGroup& way, const TileCoster& coster) const {
    Result<DividedCost> cost = CostOfDividedGroup(network_, architecture_, chip_, way, coster);
    if (!cost) return std::nullopt;
    return *std::move(cost);
  }

  std::vector<Way> MostPromising(const FusedGroup& group) const {
    std::vector<DividedGroup> ways;
    std::vector<RetentionLevel> homes = {};
    if (group.home) {
      homes.push_back(*group.home);
    } else {
      homes = RetentionLevelsOf(architecture_, options_.constraints);
    }
    for (const RetentionLevel home : homes) {
      FusedGroup at_home = group;
      at_home.home = home;
      AddBands(network_, at_home, chip_, ways);
      AddSpreads(network_, at_home, ways);
    }
    std::vector<Way> rated;
    for (const DividedGroup& way : ways) {
      const std::optional<DividedCost> cost = CostOf(way, estimate_);
      if (cost) rated.push_back({.divided = way, .cost = *cost});
    }
    std::ranges::stable_sort(rated, {}, [&](const Way& way) { return ValueOf(way.cost); });
    std::vector<Way> best;
    for (Way& way : rated) {
      if (std::ssize(best) == options_.max_mapped) break;
      // One that is the same but for its name.
      if (!best.empty() && ValueOf(way.cost) == ValueOf(best.back().cost)) continue;
      best.push_back(std::move(way));
    }
    return best;
  }

  const FusedNetwork& network_;
  const Architecture& architecture_;
  const NetworkOnChip& chip_;
  const TileCoster& estimate_;
  const TileCoster& exact_;
  const DivisionSearchOptions& options_;
  DividedCost single_;  ///< of the plan
};

}  // namespace

DividedCost DivisionPlan::Total() const {
  DividedCost sum;
  for (const PlannedDivision& planned : groups) Add(planned.cost, sum);
  return sum;
}

DivisionPlan DividePlan(const FusedNetwork& network, const Architecture& architecture,
                        const NetworkOnChip& chip, const GroupPlan& plan,
                        const TileCoster& estimate, const TileCoster& exact,
                        const DivisionSearchOptions& options) {
  const DivisionSearch search(network, architecture, chip, plan, estimate, exact, options);
  DivisionPlan divided{.groups = {}, .single = search.single()};
  for (const PlannedGroup& planned : plan.groups) {
    divided.groups.push_back(search.Divide(planned));
  }
  return divided;
}

namespace {

/// The least energy or cycles, or product of both.
double ValueOf(const DividedCost& cost, MapObjective objective) {
  GroupPlan plan;
  plan.energy_pj = cost.total.energy_pj;
  plan.cycles = cost.total.cycles;
  return ValueOf(plan, objective);
}

/// Of a plan with groups that several cores share; nullopt if the search was stopped.
std::optional<DivisionPlan> DivideShared(const DivisionSearch& search, const GroupPlan& plan,
                                         const NetworkOnChip& chip,
                                         std::span<const GroupCost> layers) {
  DivisionPlan divided{.groups = {}, .single = search.single()};
  for (const PlannedGroup& planned : plan.groups) {
    if (!planned.is_shared) {
      divided.groups.push_back(search.Divide(planned));
      continue;
    }
    const auto shared = search.Share(planned.group, /*is_exact=*/true);
    if (!shared) return std::nullopt;
    DividedCost one_by_one;
    for (int k = planned.group.begin; k < planned.group.end; ++k) {
      Add(CostOnFirstCore(layers[k], chip), one_by_one);
    }
    divided.groups.push_back({.divided = shared->divided,
                              .cost = shared->cost,
                              .single = one_by_one,
                              .fits_one_core = false});
  }
  return divided;
}

}  // namespace

DivisionPlan DivideNetwork(const FusedNetwork& network, const Architecture& architecture,
                           const NetworkOnChip& chip, const GroupPlan& plan,
                           std::span<const GroupCost> layers, const TileCoster& estimate,
                           const TileCoster& exact, const DivisionSearchOptions& options) {
  DivisionPlan best = DividePlan(network, architecture, chip, plan, estimate, exact, options);
  if (chip.CoreCount() < 2 || options.stop()) return best;
  const DivisionSearch search(network, architecture, chip, plan, estimate, exact, options);
  const double gained = static_cast<double>(best.single.total.cycles) /
                        static_cast<double>(std::max<int64_t>(1, best.Total().total.cycles));
  GroupSearchOptions groups{.objective = options.objective,
                            .constraints = options.constraints,
                            .max_operators = options.max_operators,
                            .stop = options.stop};
  groups.shared = [&](const FusedGroup& group, bool is_exact) -> std::optional<GroupCost> {
    const auto shared = search.Share(group, is_exact);
    if (!shared) return std::nullopt;
    GroupCost cost = shared->cost.total;
    cost.cycles = static_cast<int64_t>(static_cast<double>(cost.cycles) * gained);
    return cost;
  };
  GroupSearch with_shared(network, architecture, {layers.begin(), layers.end()}, estimate, exact,
                          groups);
  with_shared.Run();
  if (std::ranges::none_of(with_shared.plan().groups, &PlannedGroup::is_shared)) return best;
  std::optional<DivisionPlan> other = DivideShared(search, with_shared.plan(), chip, layers);
  const auto value = [&](const DivisionPlan& of) { return ValueOf(of.Total(), options.objective); };
  if (other && value(*other) < value(best)) best = *std::move(other);
  return best;
}

}  // namespace bayloom::mapspace
