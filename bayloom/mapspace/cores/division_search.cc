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
    for (const DividedGroup& way : MostPromising(planned.group)) {
      if (options_.stop()) break;
      const std::optional<DividedCost> cost = CostOf(way, exact_);
      if (!cost || cost->total.cycles > single.total.cycles) continue;
      if (ValueOf(*cost) >= ValueOf(best.cost)) continue;
      best.divided = way;
      best.cost = *cost;
    }
    return best;
  }

 private:
  std::optional<DividedCost> CostOf(const DividedGroup& way, const TileCoster& coster) const {
    Result<DividedCost> cost = CostOfDividedGroup(network_, architecture_, chip_, way, coster);
    if (!cost) return std::nullopt;
    return *std::move(cost);
  }

  /// Energy or cycles, then the other; or both as parts of the plan's.
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

  std::vector<DividedGroup> MostPromising(const FusedGroup& group) const {
    std::vector<DividedGroup> ways;
    std::vector<HomeLevel> homes = {};
    if (group.home) {
      homes.push_back(*group.home);
    } else {
      homes = HomeLevelsOf(architecture_, options_.constraints);
    }
    for (const HomeLevel home : homes) {
      FusedGroup at_home = group;
      at_home.home = home;
      AddBands(network_, at_home, chip_, ways);
      AddSpreads(network_, at_home, ways);
    }
    std::vector<std::pair<std::pair<double, double>, size_t>> rated;
    for (size_t w = 0; w < ways.size(); ++w) {
      const std::optional<DividedCost> cost = CostOf(ways[w], estimate_);
      if (cost) rated.emplace_back(ValueOf(*cost), w);
    }
    std::ranges::sort(rated);
    std::vector<DividedGroup> best;
    std::pair<double, double> last = {0, 0};
    for (const auto& [value, way] : rated) {
      if (std::ssize(best) == options_.max_mapped) break;
      if (value == last) continue;  // the same but for its name
      last = value;
      best.push_back(ways[way]);
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

DividedCost DivisionPlan::Single() const {
  DividedCost sum;
  for (const PlannedDivision& planned : groups) Add(planned.single, sum);
  return sum;
}

DivisionPlan DividePlan(const FusedNetwork& network, const Architecture& architecture,
                        const NetworkOnChip& chip, const GroupPlan& plan,
                        const TileCoster& estimate, const TileCoster& exact,
                        const DivisionSearchOptions& options) {
  const DivisionSearch search(network, architecture, chip, plan, estimate, exact, options);
  DivisionPlan divided;
  for (const PlannedGroup& planned : plan.groups) {
    divided.groups.push_back(search.Divide(planned));
  }
  return divided;
}

}  // namespace bayloom::mapspace
