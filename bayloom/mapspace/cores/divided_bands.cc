// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "bayloom/mapspace/core_accounts.h"

namespace bayloom::mapspace {
namespace {

/// Where each core's tiles begin, and where the last one's end: as equal as can be.
std::vector<int64_t> BandsOf(int64_t positions, int cores) {
  std::vector<int64_t> begin;
  for (int c = 0; c <= cores; ++c) begin.push_back(positions * c / cores);
  return begin;
}

}  // namespace

Result<DividedCost> CostOfBands(const FusedNetwork& network, const Architecture& architecture,
                                const NetworkOnChip& chip, const DividedGroup& divided,
                                const TileCoster& coster) {
  const FusedGroup& group = divided.group;
  const RetentionLevel home = *group.home;
  const bool is_fetched = divided.division == GroupDivision::kFetch;
  if (group.tiling.axes.empty()) return Error{"there are no tiles to divide"};
  const Result<DepthFirstTiles> whole =
      DepthFirstTiles::Make(network, group.begin, group.end, group.tiling, !home.keeps_weights);
  if (!whole) return whole.error();
  const int cores = static_cast<int>(std::min<int64_t>(whole->OuterPositions(), chip.CoreCount()));
  if (cores < 2) return Error{"one tile cannot be divided"};
  if (is_fetched && whole->HasSharedResult()) {
    return Error{"cores would wait for a result that all tiles need"};
  }
  const std::vector<int64_t> bands = BandsOf(whole->OuterPositions(), cores);
  const Result<TiledGroup> tiled = TiledGroup::Make(network, architecture, group, coster,
                                                    is_fetched ? std::vector<int64_t>() : bands);
  if (!tiled) return tiled.error();
  const auto& [tiles, forms] = *tiled;
  const Result<WeightsPlan> weights =
      PlanWeights(*tiled, architecture, home, group.begin, group.end);
  if (!weights) return weights.error();
  CoreAccounts accounts(architecture, home, chip, cores);
  std::vector<std::vector<int64_t>> computed(network.tensors.size());  // [tensor][place]
  for (int c = 0; c < cores; ++c) {
    const std::vector<DepthFirstTiles::Kind> kinds = tiles.KindsBetween(bands[c], bands[c + 1]);
    const Status added =
        AddTiles(*tiled, kinds, architecture, home, weights->is_resident, coster, accounts.at(c));
    if (!added) return added.error();
    for (int t = 0; t < std::ssize(network.tensors); ++t) {
      if (!tiles.Keeps(t)) continue;
      int64_t& words = computed[t].emplace_back(0);
      for (const DepthFirstTiles::Kind& kind : kinds) {
        words += kind.count * tiles.NewWords(t, kind.position);
      }
      if (is_fetched && c > 0) {
        accounts.Move(c - 1, std::array{c}, tiles.CarriedWords(t, bands[c], bands[c + 1]), 1,
                      forms.Read(t));
      }
    }
  }
  std::vector<int> all(static_cast<size_t>(cores));
  std::iota(all.begin(), all.end(), 0);
  for (int k = group.begin; k < group.end; ++k) {
    if (weights->is_resident[k - group.begin]) {
      accounts.BringIn(all, network.WeightWords(k), 1, forms.Weights(k));
    }
    const int output = network.operators[k].output;
    if (!IsNeededAfter(network, output, group.end)) continue;
    // What two cores have computed is written by the first of them.
    int64_t left = network.tensors[output].Words();
    for (int c = 0; c < cores; ++c) {
      const int64_t words = c + 1 == cores ? left : std::min(left, computed[output][c]);
      accounts.at(c).TakeOut(words, forms.Written(output));
      left -= words;
    }
  }
  int64_t cycles = 0;
  for (int c = 0; c < cores; ++c) {
    cycles = std::max({cycles, accounts.at(c).operator_cycles(), accounts.at(c).home_cycles()});
  }
  DividedCost cost = accounts.Total(cycles, weights->peak_words);
  cost.total.tiles = tiles.TileCount();
  cost.total.has_resident_weights = weights->is_resident;
  return cost;
}

}  // namespace bayloom::mapspace
