// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/cores/core_mapper.h"
#include "bayloom/mapspace/cores/core_model.h"
#include "bayloom/mapspace/cores/network_on_chip.h"
#include "bayloom/mapspace/cores/pipeline.h"
#include "tests/mapspace/random_mapping.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;

TEST(NetworkOnChip, IsWhatItsLineSays) {
  const NetworkOnChip mesh = ParseNetworkOnChip("mesh:4x2,bandwidth=16,energy=0.5");
  EXPECT_EQ(mesh.CoreCount(), 8);
  EXPECT_EQ(mesh.columns, 4);
  EXPECT_EQ(mesh.bandwidth, 16);
  EXPECT_EQ(mesh.hop_energy_pj, 0.5);
  EXPECT_EQ(ParseNetworkOnChip(mesh.Describe()), mesh);
  const NetworkOnChip bus = ParseNetworkOnChip("bus:3");
  EXPECT_EQ(bus.CoreCount(), 3);
  EXPECT_EQ(ParseNetworkOnChip(bus.Describe()), bus);
  for (const char* line : {"mesh:4", "mesh:0x1", "ring:4", "bus:2000", "mesh:64x64",
                           "bus:2,bandwidth=0", "bus:2,energy=x", "bus:2,hops=3"}) {
    EXPECT_THROW((void)ParseNetworkOnChip(line), InputError) << line;
  }
}

/// A word to one core passes as many links as it is steps away, in both directions.
TEST(NetworkTraffic, UnicastsPassTheirDistance) {
  const NetworkOnChip mesh = ParseNetworkOnChip("mesh:4x3,energy=2");
  for (int core = 0; core < mesh.CoreCount(); ++core) {
    const int distance = core % 4 + core / 4;
    NetworkTraffic traffic(mesh);
    traffic.FromMemory(std::vector<int>{core}, 5);
    EXPECT_EQ(traffic.word_hops(), 5 * distance);
    traffic.ToMemory(core, 7);
    EXPECT_EQ(traffic.word_hops(), 12 * distance);
    EXPECT_EQ(traffic.sent(), 12);
    EXPECT_EQ(traffic.delivered(), 12);
    EXPECT_EQ(traffic.EnergyPj(), 24 * distance);
    EXPECT_EQ(traffic.BusiestWords(),
              distance == 0 ? 0 : 7);  // one direction does not slow the other
  }
}

/// A multicast passes a tree: every core but the first is entered by one link.
TEST(NetworkTraffic, MulticastsPassEveryLinkOnce) {
  const NetworkOnChip mesh = ParseNetworkOnChip("mesh:3x3,bandwidth=4");
  std::vector<int> all(9);
  std::iota(all.begin(), all.end(), 0);
  NetworkTraffic traffic(mesh);
  traffic.FromMemory(all, 10);
  EXPECT_EQ(traffic.word_hops(), 10 * 8);
  EXPECT_EQ(traffic.sent(), 10);
  EXPECT_EQ(traffic.delivered(), 90);
  EXPECT_EQ(traffic.BusiestWords(), 10);
  EXPECT_EQ(traffic.Cycles(), 3);

  base::RandomStream random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<int> some;
    int farthest = 0, steps = 0;
    for (int core = 0; core < 9; ++core) {
      if (random.Uniform() < 0.5) continue;
      some.push_back(core);
      farthest = std::max(farthest, core % 3 + core / 3);
      steps += core % 3 + core / 3;
    }
    if (some.empty()) continue;
    NetworkTraffic multicast(mesh), unicasts(mesh);
    multicast.FromMemory(some, 1);
    for (const int core : some) unicasts.FromMemory(std::vector<int>{core}, 1);
    EXPECT_GE(multicast.word_hops(), farthest);
    EXPECT_LE(multicast.word_hops(), std::min(8, steps));
    EXPECT_EQ(unicasts.word_hops(), steps);
    EXPECT_EQ(multicast.delivered(), unicasts.delivered());
  }
}

/// From core to core as many links as there are steps; in both directions as many.
TEST(NetworkTraffic, BetweenCoresPassTheirDistance) {
  const NetworkOnChip mesh = ParseNetworkOnChip("mesh:4x3,energy=2");
  for (int from = 0; from < mesh.CoreCount(); ++from) {
    for (int to = 0; to < mesh.CoreCount(); ++to) {
      if (from == to) continue;
      NetworkTraffic traffic(mesh);
      traffic.Between(from, std::vector<int>{to}, 5);
      EXPECT_EQ(traffic.word_hops(),
                5 * (std::abs(from % 4 - to % 4) + std::abs(from / 4 - to / 4)));
      EXPECT_EQ(traffic.between_cores(), 5);
      EXPECT_EQ(traffic.BusiestWords(), 5);
    }
  }
  NetworkTraffic multicast(mesh);
  std::vector<int> all(11);
  std::iota(all.begin(), all.end(), 1);
  multicast.Between(0, all, 3);
  EXPECT_EQ(multicast.word_hops(), 3 * 11);
  EXPECT_EQ(multicast.between_cores(), 3 * 11);
  EXPECT_EQ(multicast.sent(), 3);
  NetworkTraffic bus(ParseNetworkOnChip("bus:12"));
  bus.Between(3, all, 3);
  EXPECT_EQ(bus.word_hops(), 3);
}

TEST(NetworkOnChip, HasAnOrderOfNeighbours) {
  for (const char* line : {"mesh:4x3", "mesh:1x5", "mesh:5x1"}) {
    const NetworkOnChip mesh = ParseNetworkOnChip(line);
    std::vector<bool> seen(static_cast<size_t>(mesh.CoreCount()), false);
    for (int place = 0; place < mesh.CoreCount(); ++place) {
      const int core = mesh.CoreAlong(place);
      EXPECT_FALSE(seen[core]);
      seen[core] = true;
      if (place == 0) continue;
      NetworkTraffic traffic(mesh);
      traffic.Between(mesh.CoreAlong(place - 1), std::vector<int>{core}, 1);
      EXPECT_EQ(traffic.word_hops(), 1);
    }
  }
}

TEST(NetworkTraffic, EverythingPassesABus) {
  NetworkTraffic traffic(ParseNetworkOnChip("bus:4,bandwidth=2,energy=1"));
  traffic.FromMemory(std::vector<int>{0, 1, 2, 3}, 10);
  traffic.ToMemory(2, 5);
  EXPECT_EQ(traffic.word_hops(), 15);
  EXPECT_EQ(traffic.Cycles(), 8);
  NetworkTraffic none(ParseNetworkOnChip("bus:1,bandwidth=2,energy=1"));
  none.ToMemory(0, 5);
  EXPECT_EQ(none.word_hops(), 0);
  EXPECT_EQ(none.Cycles(), 0);
}

TEST(CoreSplit, DividesOutputsAndUsesMostCores) {
  const Problem problem = MatmulProblem(12, 8, 7);  // K is summed up over
  const std::vector<CoreSplit> splits = SplitsOver(problem, 4);
  ASSERT_FALSE(splits.empty());
  for (const CoreSplit& split : splits) {
    EXPECT_GT(split.CoreCount(), 2);
    EXPECT_LE(split.CoreCount(), 4);
    int64_t cores = 1;
    for (const CoreSplit::Axis& axis : split.axes) {
      EXPECT_NE(problem.dimensions[axis.dimension], "K");
      EXPECT_EQ(problem.bounds[axis.dimension] % axis.parts, 0);
      cores *= axis.parts;
    }
    EXPECT_EQ(PartOf(problem, split).Macs() * cores, problem.Macs());
  }
  EXPECT_EQ(splits.size(), 4u);  // I/3, I/4, J/4, I/2 J/2
  EXPECT_TRUE(SplitsOver(MatmulProblem(7, 7, 8), 4).empty());
  EXPECT_TRUE(SplitsOver(problem, 1).empty());
}

/// The figures of one core are those without any.
TEST(CoreModel, OfOneCoreIsTheModel) {
  base::RandomStream random(5);
  for (const char* name : {"gemmini", "simba-like"}) {
    Architecture architecture = ShippedArchitecture(name);
    architecture.levels.back().read_bandwidth = 3;
    architecture.levels.back().write_bandwidth = 2;
    const Problem problem = ParseProblem("conv2d:12x12x8,16,3x3,pad=1");
    const AnalyticalModel model(problem, architecture);
    const NetworkOnChip mesh = ParseNetworkOnChip("mesh:2x2,bandwidth=1,energy=9");
    const CoreModel cores(problem, architecture, mesh, {}, ReuseCounting::kExact);
    for (int trial = 0; trial < 100; ++trial) {
      const Mapping mapping = RandomMapping(problem, architecture, random);
      const Evaluation one = model.Evaluate(mapping);
      const CoreCost cost = cores.Evaluate(mapping);
      EXPECT_EQ(cost.energy_pj, one.energy_pj);
      EXPECT_EQ(cost.network_word_hops, 0);
      EXPECT_EQ(cost.cycles, one.cycles);
      EXPECT_EQ(cost.macs, static_cast<double>(one.macs));
    }
  }
}

/// Words are delivered as often as cores read and write them; what several need is sent once.
TEST(CoreModel, ConservesWordsAndSumsEnergies) {
  base::RandomStream random(6);
  const Architecture architecture = SmallArchitecture();
  const Problem problem = ParseProblem("conv2d:8x8x4,8,3x3,pad=1");
  const NetworkOnChip mesh = ParseNetworkOnChip("mesh:2x2,bandwidth=16,energy=0.5");
  for (const CoreSplit& split : SplitsOver(problem, 4)) {
    const CoreModel cores(problem, architecture, mesh, split, ReuseCounting::kExact);
    const int count = split.CoreCount();
    for (int trial = 0; trial < 20; ++trial) {
      const Mapping mapping = RandomMapping(cores.part().problem(), architecture, random);
      const CoreCost cost = cores.Evaluate(mapping);
      const Evaluation part = cores.part().Evaluate(mapping);
      const LevelTraffic& memory = part.levels[architecture.LevelCount() - 1];
      double moved = 0, sent = 0;
      for (int t = 0; t < problem.TensorCount(); ++t) {
        int64_t sharers = 1;
        for (const CoreSplit::Axis& axis : split.axes) {
          if ((problem.tensors[t].Indexed() >> axis.dimension & 1) == 0) sharers *= axis.parts;
        }
        const TensorTraffic& words = memory.tensors[t];
        moved += static_cast<double>(count * (words.reads + words.updates));
        sent += static_cast<double>(count * words.reads / sharers + count * words.updates);
        if (problem.tensors[t].read_write) {
          EXPECT_EQ(sharers, 1);
        }
      }
      EXPECT_EQ(cost.network_delivered, moved);
      EXPECT_EQ(cost.network_sent, sent);
      EXPECT_EQ(static_cast<double>(cost.memory_reads + cost.memory_writes), sent);
      EXPECT_NEAR(cost.energy_pj,
                  cost.core_energy_pj + cost.network_energy_pj + cost.memory_energy_pj,
                  1e-9 * cost.energy_pj);
      EXPECT_EQ(cost.network_energy_pj, 0.5 * cost.network_word_hops);
      EXPECT_NEAR(cost.core_energy_pj, count * part.energy_pj, 1e-9 * cost.energy_pj);
      EXPECT_EQ(cost.macs, static_cast<double>(problem.Macs()));
      EXPECT_GE(cost.cycles, part.cycles);
    }
  }
}

/// Weights are shared by parts of the rows, inputs by parts of the columns.
TEST(CoreModel, ReadsSharedOperandsOnce) {
  const Architecture architecture = ShippedArchitecture("gemmini");
  const Problem problem = MatmulProblem(64, 64, 64);
  const NetworkOnChip bus = ParseNetworkOnChip("bus:4");
  const auto reads = [&](const char* dimension) {
    const CoreSplit split{{{problem.DimensionNamed(dimension), 4}}};
    const CoreModel cores(problem, architecture, bus, split, ReuseCounting::kExact);
    const Problem& part = cores.part().problem();
    // Everything else is read as often as the whole problem needs it.
    const Mapping mapping = OutermostMapping(part, architecture);
    const Evaluation core = cores.part().Evaluate(mapping);
    int64_t words = 0;
    for (int t = 0; t < part.TensorCount(); ++t) {
      const bool is_shared =
          (part.tensors[t].Indexed() >> problem.DimensionNamed(dimension) & 1) == 0;
      words += core.levels[architecture.LevelCount() - 1].tensors[t].reads * (is_shared ? 1 : 4);
    }
    EXPECT_EQ(cores.Evaluate(mapping).memory_reads, words);
    return words;
  };
  EXPECT_GT(reads("I"), 0);
  EXPECT_GT(reads("J"), 0);
}

TEST(CoreModel, RefusesWhatItDoesNotCount) {
  const Problem problem = MatmulProblem(8, 8, 8);
  const CoreSplit split{{{0, 4}}};
  EXPECT_THROW(CoreModel(problem, SmallArchitecture(), ParseNetworkOnChip("bus:2"), split,
                         ReuseCounting::kExact),
               InputError);
}

TEST(CoreMapper, IsNeverWorseThanOneCore) {
  const Architecture architecture = ShippedArchitecture("gemmini");
  const Problem problem = MatmulProblem(32, 32, 32);
  const Mapping single = OutermostMapping(problem, architecture);
  CoreMapperOptions options;
  options.search.run.budget.trials = 600;
  for (const MapObjective objective :
       {MapObjective::kEnergy, MapObjective::kDelay, MapObjective::kEnergyDelay}) {
    options.search.objectives = {objective};
    const auto map = [&](const char* network) {
      return MapOntoCores(problem, architecture, {}, ParseNetworkOnChip(network), single, options);
    };
    const double one = CoreModel::ValueOf(map("bus:1").cost, objective);
    const CoreMapping free = map("mesh:2x2");
    EXPECT_LE(CoreModel::ValueOf(free.cost, objective), one);
    if (objective == MapObjective::kDelay) {
      EXPECT_EQ(free.split.CoreCount(), 4);
      EXPECT_EQ(free.cost.cycles * 4, problem.Macs());
    }
    // Where words cost more than anything else, one core, which stands at the memory, does it all.
    if (objective != MapObjective::kDelay) {
      EXPECT_EQ(map("mesh:4x1,energy=1e9").split.CoreCount(), 1);
    }
  }
}

GroupPlan PlanOf(const std::vector<int64_t>& cycles) {
  GroupPlan plan;
  for (const int64_t each : cycles) {
    PlannedGroup planned;
    planned.cost.cycles = each;
    planned.cost.energy_pj = 10;
    planned.cost.outside_reads = 3;
    planned.cost.outside_writes = 2;
    plan.groups.push_back(planned);
    plan.cycles += each;
    plan.energy_pj += 10;
    plan.outside_words += 5;
  }
  return plan;
}

/// The slowest stage is as fast as any division into neighbours makes it.
TEST(Pipeline, DividesAsWellAsAnyDivision) {
  base::RandomStream random(7);
  Architecture architecture = SmallArchitecture();
  for (int trial = 0; trial < 100; ++trial) {
    const int groups = 1 + static_cast<int>(random.Uniform() * 9);
    const int cores = 1 + static_cast<int>(random.Uniform() * 4);
    std::vector<int64_t> cycles;
    for (int g = 0; g < groups; ++g) {
      cycles.push_back(1 + static_cast<int64_t>(random.Uniform() * 100));
    }
    NetworkOnChip network;
    network.columns = cores;
    const Pipeline pipeline = PipelineOf(PlanOf(cycles), architecture, network);
    // All ways to cut between neighbours.
    int64_t least = std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
    for (int cuts = 0; cuts < 1 << (groups - 1); ++cuts) {
      if (__builtin_popcount(static_cast<unsigned>(cuts)) >= cores) continue;
      int64_t slowest = 0, sum = 0;
      for (int g = 0; g < groups; ++g) {
        sum += cycles[g];
        slowest = std::max(slowest, sum);
        if (cuts >> g & 1) sum = 0;
      }
      least = std::min(least, slowest);
    }
    EXPECT_EQ(pipeline.interval_cycles, least);
    int begin = 0;
    for (const Pipeline::Stage& stage : pipeline.stages) {
      EXPECT_EQ(stage.begin, begin);
      EXPECT_GT(stage.end, stage.begin);
      begin = stage.end;
    }
    EXPECT_EQ(begin, groups);
    EXPECT_LE(std::ssize(pipeline.stages), cores);
    EXPECT_EQ(pipeline.network_words, 5 * groups);
  }
}

TEST(Pipeline, OfOneCoreIsThePlan) {
  const GroupPlan plan = PlanOf({30, 20, 50});
  const Pipeline one =
      PipelineOf(plan, SmallArchitecture(), ParseNetworkOnChip("mesh:1x1,bandwidth=1,energy=7"));
  ASSERT_EQ(one.stages.size(), 1u);
  EXPECT_EQ(one.interval_cycles, plan.cycles);
  EXPECT_EQ(one.latency_cycles, plan.cycles);
  EXPECT_EQ(one.energy_pj, plan.energy_pj);
  // The memory and the links are shared by all stages.
  const Pipeline two =
      PipelineOf(plan, SmallArchitecture(), ParseNetworkOnChip("mesh:2x1,energy=7"));
  EXPECT_EQ(two.interval_cycles, 50);
  EXPECT_EQ(two.network_word_hops, 5);  // of the group on the second core
  EXPECT_EQ(two.energy_pj, plan.energy_pj + 35);
  const Pipeline slow =
      PipelineOf(plan, SmallArchitecture(), ParseNetworkOnChip("mesh:2x1,bandwidth=0.01"));
  EXPECT_EQ(slow.interval_cycles, 300);
}

}  // namespace
}  // namespace bayloom::mapspace
