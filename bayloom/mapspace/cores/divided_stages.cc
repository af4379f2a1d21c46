// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "bayloom/mapspace/core_accounts.h"
#include "bayloom/mapspace/cores/pipeline.h"

namespace bayloom::mapspace {
namespace {

/// Of every operator of the group, the cycles of all of its tiles.
Result<std::vector<int64_t>> CyclesOf(const TiledGroup& group, const Architecture& architecture,
                                      RetentionLevel home, const TileCoster& coster) {
  const DepthFirstTiles& tiles = group.tiles;
  const std::vector<bool> is_resident(static_cast<size_t>(tiles.end() - tiles.begin()), true);
  std::vector<int64_t> cycles;
  for (int k = tiles.begin(); k < tiles.end(); ++k) {
    GroupAccount account(architecture, home);
    for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
      const Status added =
          AddOperators(group, kind, k, k + 1, architecture, home, is_resident, coster, account);
      if (!added) return added.error();
    }
    cycles.push_back(account.operator_cycles());
  }
  return cycles;
}

/// The stages that read a tensor, but for the one that computes it.
std::vector<int> ReadersOf(const FusedTensor& tensor, const std::vector<int>& stage_of, int begin,
                           int producer_stage) {
  std::vector<int> readers;
  for (const int consumer : tensor.consumers) {
    if (consumer < begin || consumer - begin >= std::ssize(stage_of)) continue;
    const int stage = stage_of[consumer - begin];
    const bool is_new = readers.empty() || readers.back() != stage;
    if (stage != producer_stage && is_new) readers.push_back(stage);
  }
  return readers;
}

}  // namespace

Result<DividedCost> CostOfOperatorStages(const FusedNetwork& network,
                                         const Architecture& architecture,
                                         const NetworkOnChip& chip, const DividedGroup& divided,
                                         const TileCoster& coster) {
  const FusedGroup& group = divided.group;
  const RetentionLevel home = *group.home;
  const Result<TiledGroup> tiled = TiledGroup::Make(network, architecture, group, coster);
  if (!tiled) return tiled.error();
  const auto& [tiles, forms] = *tiled;
  const Result<std::vector<int64_t>> operator_cycles = CyclesOf(*tiled, architecture, home, coster);
  if (!operator_cycles) return operator_cycles.error();
  const std::vector<Pipeline::Stage> stages = DivideIntoStages(*operator_cycles, chip.CoreCount());
  const int cores = static_cast<int>(stages.size());
  if (cores < 2) return Error{"one operator takes as long as all on one core"};
  CoreAccounts accounts(architecture, home, chip, cores);
  std::vector<int> stage_of;
  std::vector<bool> resident(operator_cycles->size(), false);
  int64_t peak = 0, slowest = 0, others = 0;
  for (int s = 0; s < cores; ++s) {
    const int begin = group.begin + stages[s].begin, end = group.begin + stages[s].end;
    const Result<WeightsPlan> weights = PlanWeights(*tiled, architecture, home, begin, end);
    if (!weights) return weights.error();
    peak = std::max(peak, weights->peak_words);
    for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
      const Status added = AddOperators(*tiled, kind, begin, end, architecture, home,
                                        weights->is_resident, coster, accounts.at(s));
      if (!added) return added.error();
    }
    for (int k = begin; k < end; ++k) {
      stage_of.push_back(s);
      const int output = network.operators[k].output;
      if (IsNeededAfter(network, output, group.end)) {
        accounts.at(s).TakeOut(network.tensors[output].Words(), forms.Written(output));
      }
      if (!weights->is_resident[k - group.begin]) continue;
      resident[k - group.begin] = true;
      accounts.BringIn(std::array{s}, network.WeightWords(k), 1, forms.Weights(k));
    }
  }
  for (int t = 0; t < std::ssize(network.tensors); ++t) {
    if (!tiles.Keeps(t)) continue;
    const FusedTensor& tensor = network.tensors[t];
    const int from = tensor.producer < group.begin ? -1 : stage_of[tensor.producer - group.begin];
    const std::vector<int> readers = ReadersOf(tensor, stage_of, group.begin, from);
    for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
      const int64_t words = tiles.NewWords(t, kind.position);
      if (from < 0) {
        accounts.BringIn(readers, words, kind.count, forms.Read(t));
      } else {
        accounts.Move(from, readers, words, kind.count, forms.Read(t));
      }
    }
  }
  const int64_t count = tiles.TileCount();
  for (int s = 0; s < cores; ++s) {
    const int64_t own = std::max(accounts.at(s).operator_cycles(), accounts.at(s).home_cycles());
    const int64_t filling = (own + count - 1) / count;
    others += filling;
    slowest = std::max(slowest, own - filling);
  }
  DividedCost cost = accounts.Total(slowest + others, peak);
  cost.total.tiles = count;
  cost.total.has_resident_weights = std::move(resident);
  return cost;
}

}  // namespace bayloom::mapspace
