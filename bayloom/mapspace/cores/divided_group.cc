// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/divided_group.h"

#include <algorithm>
#include <array>

#include "bayloom/mapspace/core_accounts.h"

namespace bayloom::mapspace {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"one core", "recompute", "fetch", "pipeline",
                                                    "spread"};

/// Adds the network to what cores and memory cost.
DividedCost WithNetwork(GroupCost total, const NetworkTraffic& traffic, int cores) {
  total.energy_pj += traffic.EnergyPj();
  total.cycles = std::max(total.cycles, traffic.Cycles());
  return {.total = std::move(total),
          .cores = cores,
          .network_energy_pj = traffic.EnergyPj(),
          .network_delivered = traffic.delivered(),
          .core_words = traffic.between_cores(),
          .network_word_hops = traffic.word_hops()};
}

}  // namespace

std::string_view ToString(GroupDivision division) { return kNames[static_cast<size_t>(division)]; }

Result<DividedCost> CostOfDividedGroup(const FusedNetwork& network,
                                       const Architecture& architecture, const NetworkOnChip& chip,
                                       const DividedGroup& group, const TileCoster& coster) {
  switch (group.division) {
    case GroupDivision::kNone:
      break;
    case GroupDivision::kRecompute:
    case GroupDivision::kFetch:
      return CostOfBands(network, architecture, chip, group, coster);
    case GroupDivision::kPipeline:
      return CostOfOperatorStages(network, architecture, chip, group, coster);
    case GroupDivision::kSpread:
      return CostOfSpreadLayers(network, architecture, chip, group, coster);
  }
  const Result<GroupCost> cost = CostOfFusedGroup(network, architecture, group.group, coster);
  if (!cost) return cost.error();
  return CostOnFirstCore(*cost, chip);
}

DividedCost CostOnFirstCore(const GroupCost& cost, const NetworkOnChip& chip) {
  NetworkTraffic traffic(chip);
  traffic.FromMemory(std::array{0}, static_cast<double>(cost.outside_reads));
  traffic.ToMemory(0, static_cast<double>(cost.outside_writes));
  return WithNetwork(cost, traffic, 1);
}

CoreAccounts::CoreAccounts(const Architecture& architecture, RetentionLevel home,
                           const NetworkOnChip& chip, int cores)
    : memory_(architecture.levels.back()),
      home_(architecture.levels[home.level]),
      chip_(chip),
      accounts_(static_cast<size_t>(cores), GroupAccount(architecture, home)),
      shared_(static_cast<size_t>(cores), 0),
      traffic_(chip) {}

std::vector<int> CoreAccounts::CoresAt(std::span<const int> places) const {
  std::vector<int> cores;
  for (const int place : places) cores.push_back(chip_.CoreAlong(place));
  return cores;
}

void CoreAccounts::BringIn(std::span<const int> places, int64_t words, int64_t count,
                           const TensorForms& forms) {
  if (places.empty() || words == 0) return;
  accounts_[places.front()].BringIn(words, count, forms);
  const int64_t moved = count * forms.outside.MovedWords(words, memory_);
  shared_[places.front()] += moved;
  for (const int place : places.subspan(1)) accounts_[place].Receive(words, count, forms);
  traffic_.FromMemory(CoresAt(places), static_cast<double>(moved));
}

void CoreAccounts::Move(int from, std::span<const int> to, int64_t words, int64_t count,
                        const TensorForms& forms) {
  if (to.empty() || words == 0) return;
  accounts_[from].Send(words, count, forms);
  for (const int place : to) accounts_[place].Receive(words, count, forms);
  const int64_t moved = count * forms.home.MovedWords(words, home_);
  traffic_.Between(chip_.CoreAlong(from), CoresAt(to), static_cast<double>(moved));
}

DividedCost CoreAccounts::Total(int64_t core_cycles, int64_t peak_words) const {
  NetworkTraffic traffic = traffic_;
  GroupCost total;
  for (size_t place = 0; place < accounts_.size(); ++place) {
    const GroupCost own = accounts_[place].Total();
    const int core = chip_.CoreAlong(static_cast<int>(place));
    traffic.FromMemory(std::array{core}, static_cast<double>(own.outside_reads - shared_[place]));
    traffic.ToMemory(core, static_cast<double>(own.outside_writes));
    total.energy_pj += own.energy_pj;
    total.operations += own.operations;
    total.outside_reads += own.outside_reads;
    total.outside_writes += own.outside_writes;
  }
  total.peak_words = peak_words;
  total.cycles =
      std::max(core_cycles, TransferCycles(total.outside_reads, total.outside_writes, memory_));
  return WithNetwork(std::move(total), traffic, count());
}

}  // namespace bayloom::mapspace
