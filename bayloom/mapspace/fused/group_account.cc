// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bayloom::mapspace {

GroupAccount::GroupAccount(const Architecture& architecture, RetentionLevel home)
    : home_(architecture.levels[home.level]), outermost_(architecture.levels.back()) {}

void GroupAccount::Add(const TileCost& tile, int64_t count) {
  cost_.energy_pj += static_cast<double>(count) * tile.energy_pj;
  cost_.operations += static_cast<double>(count) * tile.operations;
  cost_.outside_reads += count * tile.outside_reads;
  cost_.outside_writes += count * tile.outside_writes;
  home_reads_ += count * tile.home_reads;
  home_writes_ += count * tile.home_writes;
  operator_cycles_ += count * tile.cycles;
}

void GroupAccount::BringIn(int64_t words, int64_t count, const TensorForms& forms) {
  cost_.energy_pj += static_cast<double>(count) *
                     (forms.outside.EnergyPj(words, outermost_, outermost_.access_energy_pj) +
                      forms.home.EnergyPj(words, home_, home_.WriteEnergyPj()));
  cost_.outside_reads += count * forms.outside.MovedWords(words, outermost_);
  home_writes_ += count * forms.home.MovedWords(words, home_);
}

void GroupAccount::TakeOut(int64_t words, const TensorForms& forms) {
  cost_.energy_pj += forms.outside.EnergyPj(words, outermost_, outermost_.WriteEnergyPj()) +
                     forms.home.EnergyPj(words, home_, home_.access_energy_pj);
  cost_.outside_writes += forms.outside.MovedWords(words, outermost_);
  home_reads_ += forms.home.MovedWords(words, home_);
}

void GroupAccount::Send(int64_t words, int64_t count, const TensorForms& forms) {
  cost_.energy_pj +=
      static_cast<double>(count) * forms.home.EnergyPj(words, home_, home_.access_energy_pj);
  home_reads_ += count * forms.home.MovedWords(words, home_);
}

void GroupAccount::Receive(int64_t words, int64_t count, const TensorForms& forms) {
  cost_.energy_pj +=
      static_cast<double>(count) * forms.home.EnergyPj(words, home_, home_.WriteEnergyPj());
  home_writes_ += count * forms.home.MovedWords(words, home_);
}

int64_t GroupAccount::home_cycles() const {
  return TransferCycles(home_reads_, home_writes_, home_);
}

GroupCost GroupAccount::Total() const {
  GroupCost total = cost_;
  total.cycles = std::max({operator_cycles_, home_cycles(),
                           TransferCycles(cost_.outside_reads, cost_.outside_writes, outermost_)});
  return total;
}

int64_t WordsRead(std::span<const FusedOperand> operands, const Box& output) {
  std::map<int, Box> read;
  for (const FusedOperand& operand : operands) {
    const Box box = ReadBox(operand, output);
    const auto [known, is_new] = read.try_emplace(operand.tensor, box);
    if (!is_new) known->second = Hull(known->second, box);
  }
  int64_t words = 0;
  for (const auto& [tensor, box] : read) words += WordsOf(box);
  return words;
}

int64_t WeightsOfTile(const FusedOperator& op, const Problem& tile) {
  const int weights = tile.TensorNamed("Weights");
  if (op.product->weights_operand >= 0 || weights < 0) return 0;
  return tile.tensors[weights].BoxWords(tile.Whole());
}

Result<TileCost> CostOfBox(const FusedNetwork& network, int op, const Box& box,
                           const Architecture& architecture, RetentionLevel home,
                           const TileCoster& coster) {
  const FusedOperator& of = network.operators[op];
  if (!of.product) {
    const int64_t words = WordsOf(box);
    return StreamCost(WordsRead(of.operands, box), words,
                      of.operations_per_word * static_cast<double>(words), architecture,
                      home.level);
  }
  const std::optional<TileCost> cost = coster(op, TileProblem(of, box), home);
  if (!cost) return Error{fmt::format("no mapping of a tile of '{}' fits", of.name)};
  return *cost;
}

Result<TiledGroup> TiledGroup::Make(const FusedNetwork& network, const Architecture& architecture,
                                    const FusedGroup& group, const TileCoster& coster,
                                    std::vector<int64_t> starts) {
  Result<DepthFirstTiles> tiles = DepthFirstTiles::Make(
      network, group.begin, group.end, group.tiling, !group.home->keeps_weights, std::move(starts));
  if (!tiles) return tiles.error();
  Result<GroupForms> forms = GroupForms::Make(*tiles, architecture, *group.home, coster);
  if (!forms) return forms.error();
  return TiledGroup{*std::move(tiles), *std::move(forms)};
}

Status AddOperators(const TiledGroup& group, const DepthFirstTiles::Kind& kind, int begin, int end,
                    const Architecture& architecture, RetentionLevel home,
                    const std::vector<bool>& is_resident, const TileCoster& coster,
                    GroupAccount& account) {
  const DepthFirstTiles& tiles = group.tiles;
  const FusedNetwork& network = tiles.network();
  for (int k = begin; k < end; ++k) {
    const FusedOperator& op = network.operators[k];
    const std::optional<Box> box = tiles.NewBox(op.output, kind.position);
    if (!box) continue;
    const Result<TileCost> cost = CostOfBox(network, k, *box, architecture, home, coster);
    if (!cost) return cost.error();
    account.Add(*cost, kind.count);
    if (op.product && home.keeps_weights && !is_resident[k - tiles.begin()]) {
      account.BringIn(WeightsOfTile(op, TileProblem(op, *box)), kind.count, group.forms.Weights(k));
    }
  }
  return Ok();
}

Status AddTiles(const TiledGroup& group, std::span<const DepthFirstTiles::Kind> kinds,
                const Architecture& architecture, RetentionLevel home,
                const std::vector<bool>& is_resident, const TileCoster& coster,
                GroupAccount& account) {
  const DepthFirstTiles& tiles = group.tiles;
  const std::vector<int> inputs = InputsOf(tiles.network(), tiles.begin(), tiles.end());
  for (const DepthFirstTiles::Kind& kind : kinds) {
    const Status added = AddOperators(group, kind, tiles.begin(), tiles.end(), architecture, home,
                                      is_resident, coster, account);
    if (!added) return added.error();
    for (const int input : inputs) {
      if (!tiles.Keeps(input)) continue;
      account.BringIn(tiles.NewWords(input, kind.position), kind.count, group.forms.Read(input));
    }
  }
  return Ok();
}

}  // namespace bayloom::mapspace
