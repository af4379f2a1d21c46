// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/divided_group.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/mapspace/cores/division_search.h"
#include "tests/mapspace/fused_cases.h"

namespace bayloom::mapspace {
namespace {

constexpr GroupDivision kWays[] = {GroupDivision::kRecompute, GroupDivision::kFetch,
                                   GroupDivision::kPipeline, GroupDivision::kSpread};

/// Two 3x3 convolutions over eight lines of four words, with so many channels in the end.
FusedNetwork TwoConvolutions(int64_t channels = 1) {
  TinyNetwork tiny;
  tiny.Convolution(tiny.Convolution(tiny.Input(1, 8, 4), 1, 3, 1, 1), channels, 3, 1, 1);
  return tiny.Build();
}

DividedGroup Halves(const FusedNetwork& network, GroupDivision division) {
  DividedGroup divided{.group = Whole(network, Tiles(4, 4, true, true)), .division = division};
  if (division == GroupDivision::kSpread) {
    divided.group.tiling = {};
    divided.axes.assign(static_cast<size_t>(network.OperatorCount()), 2);
  }
  return divided;
}

DividedCost CostOf(const FusedNetwork& network, const DividedGroup& divided,
                   const NetworkOnChip& chip) {
  const Result<DividedCost> cost =
      CostOfDividedGroup(network, OneBuffer(1 << 12), chip, divided, PlainCost);
  EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
  return cost ? *cost : DividedCost{};
}

// By hand: both convolutions take 288 products, 9 a word. Of the memory's 2 words a cycle nothing
// is felt.

TEST(DividedGroup, FetchesTheLinesAtTheBorder) {
  const FusedNetwork network = TwoConvolutions();
  const DividedCost cost = CostOf(network, Halves(network, GroupDivision::kFetch),
                                  ParseNetworkOnChip("mesh:2x1,energy=1"));
  // The first core makes five lines of the first result from six, the second one three from two new
  // ones. It gets two lines of each.
  EXPECT_EQ(cost.core_words, 2 * 4 + 2 * 4);
  EXPECT_EQ(cost.total.operations, 2 * 288);
  EXPECT_EQ(cost.total.cycles, (5 + 4) * 4 * 9);
  EXPECT_EQ(cost.total.outside_reads, 32 + 18);
  EXPECT_EQ(cost.total.outside_writes, 32);
  // Two lines of the input, all weights, half of the output, and what the border takes.
  EXPECT_EQ(cost.network_word_hops, 8 + 18 + 16 + 16);
  EXPECT_EQ(cost.network_energy_pj, cost.network_word_hops);
  const double memory = 200 * (50 + 32), home = 6 * (50 + 18 + 32 + 2 * 16);
  EXPECT_DOUBLE_EQ(cost.total.energy_pj, 576 + memory + home + 58);
}

TEST(DividedGroup, RecomputesTheLinesAtTheBorder) {
  const FusedNetwork network = TwoConvolutions();
  const DividedCost cost = CostOf(network, Halves(network, GroupDivision::kRecompute),
                                  ParseNetworkOnChip("mesh:2x1,energy=1"));
  EXPECT_EQ(cost.core_words, 0);
  EXPECT_EQ(cost.total.operations, 2 * 288 + 2 * 4 * 9) << "two lines of the first result twice";
  EXPECT_EQ(cost.total.cycles, (5 + 4) * 4 * 9);
  EXPECT_EQ(cost.total.outside_reads, 2 * 24 + 18) << "six lines for each";
  EXPECT_EQ(cost.total.outside_writes, 32);
  EXPECT_EQ(cost.network_word_hops, 24 + 18 + 16);
}

TEST(DividedGroup, PipelinesOperators) {
  const FusedNetwork network = TwoConvolutions();
  const DividedCost cost = CostOf(network, Halves(network, GroupDivision::kPipeline),
                                  ParseNetworkOnChip("mesh:2x1,energy=1"));
  EXPECT_EQ(cost.core_words, 32) << "the first result";
  EXPECT_EQ(cost.total.operations, 2 * 288);
  EXPECT_EQ(cost.total.cycles, 288 + 144) << "two tiles, and one through the other core";
  EXPECT_EQ(cost.total.outside_reads, 32 + 18);
  EXPECT_EQ(cost.network_word_hops, 9 + 32 + 32) << "weights, the first result, the second";
}

TEST(DividedGroup, SpreadsEveryResult) {
  const FusedNetwork network = TwoConvolutions();
  const DividedCost cost = CostOf(network, Halves(network, GroupDivision::kSpread),
                                  ParseNetworkOnChip("mesh:2x1,energy=1"));
  EXPECT_EQ(cost.core_words, 4 + 4) << "a line each";
  EXPECT_EQ(cost.total.operations, 2 * 288);
  EXPECT_EQ(cost.total.cycles, 288);
  EXPECT_EQ(cost.total.outside_reads, 2 * 20 + 18) << "five lines of the input each";
  EXPECT_EQ(cost.network_word_hops, 20 + 18 + 8 + 16);
}

TEST(DividedGroup, MovesWhatTheNextLayerReadsDividedDifferently) {
  const FusedNetwork network = TwoConvolutions(/*channels=*/2);
  DividedGroup divided = Halves(network, GroupDivision::kSpread);
  divided.axes = {2, 1};
  const DividedCost cost = CostOf(network, divided, ParseNetworkOnChip("mesh:2x1,energy=1"));
  EXPECT_EQ(cost.core_words, 16 + 16) << "each core needs all lines of the first result";
  EXPECT_EQ(cost.total.outside_reads, 2 * 20 + 9 + 2 * 9) << "each channel has its weights";
  EXPECT_EQ(cost.total.cycles, 144 + 288);
}

TEST(DividedGroup, OfOneCoreIsTheGroup) {
  const FusedNetwork network = TwoConvolutions();
  const FusedGroup group = Whole(network, Tiles(4, 4, true, true));
  const GroupCost single = *CostOfFusedGroup(network, OneBuffer(1 << 12), group, PlainCost);
  for (const char* line : {"mesh:1x1,energy=7", "mesh:2x2,energy=7", "bus:1,energy=7"}) {
    const DividedCost cost = CostOf(network, {.group = group}, ParseNetworkOnChip(line));
    EXPECT_EQ(cost.total.energy_pj, single.energy_pj) << line;
    EXPECT_EQ(cost.total.cycles, single.cycles);
    EXPECT_EQ(cost.total.operations, single.operations);
    EXPECT_EQ(cost.network_word_hops, 0);
  }
  for (const GroupDivision way : kWays) {
    EXPECT_FALSE(CostOfDividedGroup(network, OneBuffer(1 << 12), ParseNetworkOnChip("bus:1"),
                                    Halves(network, way), PlainCost));
  }
}

TEST(DividedGroup, DoesNotFetchAResultThatAllTilesWaitFor) {
  TinyNetwork tiny;
  const int image = tiny.Input(2, 8, 6);
  tiny.Scale(image, tiny.Mean(image));
  const FusedNetwork network = tiny.Build();
  const auto cost = [&](GroupDivision way) {
    const DividedGroup divided = {.group = Whole(network, Tiles(4, 6, true, true)),
                                  .division = way};
    return CostOfDividedGroup(network, OneBuffer(1 << 12), ParseNetworkOnChip("bus:2"), divided,
                              PlainCost);
  };
  EXPECT_FALSE(cost(GroupDivision::kFetch));
  EXPECT_TRUE(cost(GroupDivision::kRecompute)) << "each core computes the mean";
}

/// Work is conserved but for what is computed again; nothing costs less than it has to.
TEST(DividedGroup, ConservesWorkAndKeepsToItsBounds) {
  base::RandomStream random(13);
  int divided_ones[5] = {};
  for (int i = 0; i < 150; ++i) {
    const FusedNetwork network = TinyNetwork::Random(random, /*has_scalar=*/i % 4 == 0).Build();
    const std::vector<int64_t>& out = network.tensors[network.operators.back().output].shape;
    const bool is_cached = random.UniformInt(4) > 0;
    const FusedGroup group =
        Whole(network, Tiles(1 + random.UniformInt(out[2]), 1 + random.UniformInt(out[3]),
                             is_cached, random.UniformInt(2) == 0));
    const int64_t capacity = int64_t{1} << (9 + random.UniformInt(6));
    const Architecture architecture = OneBuffer(capacity);
    const NetworkOnChip chip = ParseNetworkOnChip(i % 3 == 0   ? "bus:3,energy=2"
                                                  : i % 3 == 1 ? "mesh:2x2,energy=2,bandwidth=8"
                                                               : "mesh:3x1");
    const Result<GroupCost> single = CostOfFusedGroup(network, architecture, group, PlainCost);
    const CompulsoryWords compulsory = CompulsoryOf(network, 0, network.OperatorCount());
    for (const GroupDivision way : kWays) {
      DividedGroup divided{.group = group, .division = way};
      if (way == GroupDivision::kSpread) {
        if (std::ranges::any_of(network.operators, [&](const FusedOperator& op) {
              return network.tensors[op.output].shape.empty();
            })) {
          continue;
        }
        divided.group.tiling = {};
        for (const FusedOperator& op : network.operators) {
          const auto rank = static_cast<int64_t>(network.tensors[op.output].shape.size());
          divided.axes.push_back(static_cast<int>(random.UniformInt(rank)));
        }
      }
      const Result<DividedCost> cost =
          CostOfDividedGroup(network, architecture, chip, divided, PlainCost);
      if (!cost) continue;
      ++divided_ones[static_cast<int>(way)];
      EXPECT_GE(cost->cores, 2);
      EXPECT_LE(cost->cores, chip.CoreCount());
      EXPECT_LE(cost->total.peak_words, capacity);
      EXPECT_EQ(cost->total.outside_writes, compulsory.writes);
      EXPECT_GE(cost->total.outside_reads, compulsory.reads);
      EXPECT_GE(cost->network_delivered, cost->core_words);
      EXPECT_EQ(cost->network_energy_pj, chip.hop_energy_pj * cost->network_word_hops);
      double products = 0;
      for (const FusedOperator& op : network.operators) {
        if (op.product) products += static_cast<double>(op.product->problem.Macs());
      }
      if (!single) continue;
      const double work = single->operations;
      EXPECT_GE(cost->total.energy_pj,
                std::min(work, products) + 200.0 * static_cast<double>(compulsory.reads) +
                    200.0 * static_cast<double>(compulsory.writes) + cost->network_energy_pj);
      if (way == GroupDivision::kFetch || way == GroupDivision::kPipeline) {
        EXPECT_EQ(cost->total.operations, work) << ToString(way) << ", case " << i;
      } else if (way == GroupDivision::kRecompute && !is_cached) {
        EXPECT_EQ(cost->total.operations, work) << "borders of all tiles are computed again anyway";
      } else if (way == GroupDivision::kRecompute) {
        EXPECT_GE(cost->total.operations, work);
        EXPECT_EQ(cost->core_words, 0);
      }
    }
  }
  for (const GroupDivision way : kWays) EXPECT_GT(divided_ones[static_cast<int>(way)], 20);
}

GroupPlan PlanOfWhole(const FusedNetwork& network, const Architecture& architecture) {
  GroupPlan plan;
  const FusedGroup group = Whole(network, Tiles(4, 4, true, true));
  const GroupCost cost = *CostOfFusedGroup(network, architecture, group, PlainCost);
  plan.groups.push_back({.group = group, .cost = cost});
  plan.energy_pj = cost.energy_pj;
  plan.cycles = cost.cycles;
  plan.outside_words = cost.OutsideWords();
  return plan;
}

TEST(DividePlan, IsNeverWorseThanOneCore) {
  const FusedNetwork network = TwoConvolutions(4);
  const Architecture architecture = OneBuffer(1 << 12);
  const GroupPlan plan = PlanOfWhole(network, architecture);
  for (const MapObjective objective :
       {MapObjective::kEnergy, MapObjective::kDelay, MapObjective::kEnergyDelay}) {
    const auto divide = [&](const char* line) {
      const NetworkOnChip chip = ParseNetworkOnChip(line);
      return DividePlan(network, architecture, chip, plan, PlainCost, PlainCost,
                        {.objective = objective});
    };
    const DividedCost one = divide("mesh:1x1").Total();
    EXPECT_EQ(one.total.energy_pj, plan.energy_pj);
    EXPECT_EQ(one.total.cycles, plan.cycles);
    const DivisionPlan four = divide("mesh:2x2,energy=0.5,bandwidth=16");
    const DividedCost total = four.Total(), single = four.single;
    EXPECT_EQ(single.total.energy_pj, plan.energy_pj);
    EXPECT_LE(total.total.cycles, single.total.cycles);
    const auto product = [](const DividedCost& cost) {
      return cost.total.energy_pj * static_cast<double>(cost.total.cycles);
    };
    switch (objective) {
      case MapObjective::kEnergy:
        EXPECT_LE(total.total.energy_pj, single.total.energy_pj);
        break;
      case MapObjective::kDelay:
        EXPECT_EQ(total.cores, 4);
        EXPECT_LE(total.total.cycles * 3, single.total.cycles);
        EXPECT_GE(total.total.cycles * 4, single.total.cycles);
        break;
      case MapObjective::kEnergyDelay:
        EXPECT_LT(product(total), product(single));
        break;
    }
    // Where a link costs more than anything else, energy is least on the core at the memory.
    if (objective == MapObjective::kEnergy) {
      EXPECT_EQ(divide("mesh:2x2,energy=1e9").Total().cores, 1);
    }
    // Asked to stop, groups stay where they are.
    const DivisionPlan stopped =
        DividePlan(network, architecture, ParseNetworkOnChip("mesh:2x2"), plan, PlainCost,
                   PlainCost, {.objective = objective, .stop = [] { return true; }});
    EXPECT_EQ(stopped.Total().total.cycles, plan.cycles);
  }
}

/// Every operator by itself: each word from outside and back once.
std::vector<GroupCost> LayersOnce(const FusedNetwork& network, const Architecture& architecture) {
  std::vector<GroupCost> layers;
  for (int k = 0; k < network.OperatorCount(); ++k) {
    const CompulsoryWords words = CompulsoryOf(network, k, k + 1);
    GroupCost cost{.energy_pj = 200.0 * static_cast<double>(words.reads + words.writes),
                   .outside_reads = words.reads,
                   .outside_writes = words.writes};
    const FusedOperator& op = network.operators[k];
    const int64_t macs = op.product ? op.product->problem.Macs() : 0;
    cost.energy_pj += static_cast<double>(macs);
    cost.operations = static_cast<double>(macs);
    cost.cycles = std::max(macs, TransferCycles(words.reads, words.writes, architecture.levels[2]));
    layers.push_back(cost);
  }
  return layers;
}

GroupPlan OneByOne(const std::vector<GroupCost>& layers) {
  GroupPlan plan;
  for (int k = 0; k < std::ssize(layers); ++k) {
    plan.groups.push_back(
        {.group = {.begin = k, .end = k + 1, .home = {}, .tiling = {}}, .cost = layers[k]});
    plan.energy_pj += layers[k].energy_pj;
    plan.cycles += layers[k].cycles;
    plan.outside_words += layers[k].OutsideWords();
  }
  return plan;
}

TEST(DivideNetwork, FusesWhatOnlySeveralCoresHold) {
  TinyNetwork tiny;
  const int between = tiny.Convolution(tiny.Input(16, 2, 2), 16, 1, 1, 0);
  tiny.Convolution(between, 16, 1, 1, 0);
  const FusedNetwork network = tiny.Build();
  // Each layer has 256 weights, of which each of four cores has 64, beside 64 words of the input
  // and 16 of each result.
  const Architecture architecture = OneBuffer(160);
  const std::vector<GroupCost> layers = LayersOnce(network, architecture);
  const GroupPlan plan = OneByOne(layers);
  GroupSearch one_core(network, architecture, layers, PlainCost, PlainCost, {});
  EXPECT_TRUE(one_core.Run());
  EXPECT_EQ(one_core.plan().groups.size(), 2u) << "one core cannot hold both";
  for (const MapObjective objective : {MapObjective::kEnergy, MapObjective::kEnergyDelay}) {
    const auto divide = [&](const char* line) {
      return DivideNetwork(network, architecture, ParseNetworkOnChip(line), plan, layers, PlainCost,
                           PlainCost, {.objective = objective});
    };
    const DivisionPlan four = divide("mesh:2x2");
    ASSERT_EQ(four.groups.size(), 1u);
    EXPECT_FALSE(four.groups[0].fits_one_core);
    EXPECT_EQ(four.groups[0].divided.division, GroupDivision::kSpread);
    EXPECT_EQ(four.groups[0].cost.cores, 4);
    EXPECT_LE(four.groups[0].cost.total.peak_words, 160);
    EXPECT_EQ(plan.outside_words - four.Total().total.OutsideWords(),
              2 * network.tensors[between].Words());
    EXPECT_EQ(four.single.total.energy_pj, plan.energy_pj);
    EXPECT_EQ(four.groups[0].single.total.energy_pj, plan.energy_pj);
    EXPECT_EQ(divide("mesh:1x1").groups.size(), 2u);
    EXPECT_EQ(divide("mesh:2x2,energy=1e9").groups.size(), 2u);
  }
}

TEST(DivideNetwork, IsNeverWorseThanGroupsThatFitOneCore) {
  base::RandomStream random(31);
  int shared = 0;
  for (int i = 0; i < 12; ++i) {
    const FusedNetwork network = TinyNetwork::Random(random).Build();
    const Architecture architecture = OneBuffer(int64_t{1} << (6 + random.UniformInt(4)));
    const MapObjective objective = static_cast<MapObjective>(i % 3);
    const std::vector<GroupCost> layers = LayersOnce(network, architecture);
    GroupSearch search(network, architecture, layers, PlainCost, PlainCost,
                       {.objective = objective});
    search.Run();
    const NetworkOnChip chip = ParseNetworkOnChip("bus:3,energy=1");
    const DivisionPlan plain = DividePlan(network, architecture, chip, search.plan(), PlainCost,
                                          PlainCost, {.objective = objective});
    const DivisionPlan found = DivideNetwork(network, architecture, chip, search.plan(), layers,
                                             PlainCost, PlainCost, {.objective = objective});
    const auto value = [&](const DivisionPlan& of) {
      const DividedCost total = of.Total();
      const auto cycles = static_cast<double>(total.total.cycles);
      switch (objective) {
        case MapObjective::kEnergy:
          return total.total.energy_pj;
        case MapObjective::kDelay:
          return cycles;
        case MapObjective::kEnergyDelay:
          break;
      }
      return total.total.energy_pj * cycles;
    };
    EXPECT_LE(value(found), value(plain));
    int end = 0;
    for (const PlannedDivision& planned : found.groups) {
      EXPECT_EQ(planned.divided.group.begin, end);
      end = planned.divided.group.end;
      EXPECT_LE(planned.cost.total.peak_words, architecture.levels[1].words);
      shared += planned.fits_one_core ? 0 : 1;
    }
    EXPECT_EQ(end, network.OperatorCount());
  }
  EXPECT_GT(shared, 0);
}

}  // namespace
}  // namespace bayloom::mapspace
