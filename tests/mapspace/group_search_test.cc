// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/mapspace/fused_cases.h"

namespace bayloom::mapspace {
namespace {

TEST(GroupSearch, OfGroupsOfOneIsLayerByLayer) {
  base::RandomStream random(7);
  const FusedNetwork network = TinyNetwork::Random(random).Build();
  const Architecture architecture = OneBuffer(1 << 12);
  std::vector<GroupCost> layers;
  double energy = 0;
  int64_t cycles = 0;
  for (int k = 0; k < network.OperatorCount(); ++k) {
    const FusedOperator& op = network.operators[k];
    if (op.product) {
      const AnalyticalModel model(op.product->problem, architecture);
      const Evaluation evaluation =
          model.Evaluate(OutermostMapping(op.product->problem, architecture));
      layers.push_back(CostOfMappedLayer(network, architecture, k, evaluation));
      EXPECT_LE(layers.back().energy_pj, evaluation.energy_pj);
      EXPECT_LE(layers.back().cycles, evaluation.cycles);
    } else {
      layers.push_back(CostOfStreamedLayer(network, architecture, k));
    }
    const CompulsoryWords compulsory = CompulsoryOf(network, k, k + 1);
    EXPECT_GE(layers.back().outside_reads, compulsory.reads);
    EXPECT_GE(layers.back().outside_writes, compulsory.writes);
    energy += layers.back().energy_pj;
    cycles += layers.back().cycles;
  }
  GroupSearch search(network, architecture, layers, PlainCost, PlainCost, {.max_operators = 1});
  EXPECT_TRUE(search.Run());
  EXPECT_EQ(search.plan().groups.size(), layers.size());
  EXPECT_EQ(search.plan().energy_pj, energy);
  EXPECT_EQ(search.plan().cycles, cycles);
}

TEST(GroupSearch, PrefersSmallTilesBesideWeightsToLargeTilesWithoutThem) {
  const FusedNetwork network = BeginningOfVggE().Build();
  std::vector<GroupCost> layers;
  int64_t weights = 0;
  const Architecture architecture = OneBuffer(1 << 20);
  for (int k = 0; k < network.OperatorCount(); ++k) {
    GroupCost& layer = layers.emplace_back(CostOfStreamedLayer(network, architecture, k));
    const FusedOperator& op = network.operators[k];
    if (op.product) layer.energy_pj += static_cast<double>(op.product->problem.Macs());
    weights += network.WeightWords(k);
  }
  GroupSearch search(network, architecture, layers, PlainCost, PlainCost, {});
  EXPECT_TRUE(search.Run());
  ASSERT_EQ(search.plan().groups.size(), 1u);
  // 3.64 MiB of feature maps (Alwani et al. 2016, sec. VI: 3.6 MB), and every weight once.
  EXPECT_EQ(search.plan().outside_words, 3 * 224 * 224 + 256 * 56 * 56 + weights);
}

class GroupSearchFor : public testing::TestWithParam<MapObjective> {};

TEST_P(GroupSearchFor, FindsTheBestOfAllDivisions) {
  base::RandomStream random(11);
  for (int i = 0; i < 3; ++i) {
    const FusedNetwork network = TinyNetwork::Random(random).Build();
    const Architecture architecture = OneBuffer(int64_t{1} << (7 + random.UniformInt(6)));
    const int count = network.OperatorCount();
    std::vector<GroupCost> layers;
    for (int k = 0; k < count; ++k) {
      // Dear enough outside that groups pay, but not always.
      GroupCost cost = CostOfStreamedLayer(network, architecture, k);
      cost.energy_pj *= 0.5 + random.Uniform();
      layers.push_back(cost);
    }
    GroupSearch search(network, architecture, layers, PlainCost, PlainCost,
                       {.objective = GetParam(), .max_operators = 3, .max_candidates = 1000});
    EXPECT_TRUE(search.Run());
    // All divisions, with the costs of groups that searches of these operators alone give.
    const auto value = [&](double energy, double cycles) {
      GroupPlan plan;
      plan.energy_pj = energy;
      plan.cycles = static_cast<int64_t>(cycles);
      return ValueOf(plan, GetParam());
    };
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::vector<std::vector<GroupCost>>> groups(count);
    for (int begin = 0; begin < count; ++begin) {
      for (int end = begin + 1; end <= std::min(count, begin + 3); ++end) {
        std::vector<GroupCost>& costs = groups[begin].emplace_back();
        if (end == begin + 1) costs.push_back(layers[begin]);
        for (const auto& axes : TiledAxesOf(network, end - 1)) {
          if (end == begin + 1) break;
          for (const int64_t rows : axes[0].sizes) {
            for (const int64_t columns : axes[1].sizes) {
              for (int cached = 0; cached < 4; ++cached) {
                FusedGroup group{
                    .begin = begin, .end = end, .home = RetentionLevel{.level = 1}, .tiling = {}};
                group.tiling.axes = {{axes[0].axis, rows, cached / 2 == 1},
                                     {axes[1].axis, columns, cached % 2 == 1}};
                const Result<GroupCost> cost =
                    CostOfFusedGroup(network, architecture, group, PlainCost);
                if (cost) costs.push_back(*cost);
              }
            }
          }
        }
      }
    }
    const std::function<void(int, double, double)> divide = [&](int begin, double energy,
                                                                double cycles) {
      if (begin == count) {
        best = std::min(best, value(energy, cycles));
        return;
      }
      for (size_t length = 1; length <= groups[begin].size(); ++length) {
        // Of a group's tilings, those that may be in a best division.
        for (const GroupCost& cost : groups[begin][length - 1]) {
          const bool is_beaten =
              std::ranges::any_of(groups[begin][length - 1], [&](const GroupCost& other) {
                return other.energy_pj <= cost.energy_pj && other.cycles <= cost.cycles &&
                       (other.energy_pj < cost.energy_pj || other.cycles < cost.cycles);
              });
          if (is_beaten) continue;
          divide(begin + static_cast<int>(length), energy + cost.energy_pj,
                 cycles + static_cast<double>(cost.cycles));
        }
      }
    };
    divide(0, 0, 0);
    const double found = ValueOf(search.plan(), GetParam());
    EXPECT_GE(found, best * (1 - 1e-12)) << "case " << i;
    EXPECT_LE(found, best * 1.02) << "case " << i << ": only the largest tiles are looked at";
    EXPECT_EQ(search.plan().groups.front().group.begin, 0);
    for (size_t g = 1; g < search.plan().groups.size(); ++g) {
      EXPECT_EQ(search.plan().groups[g].group.begin, search.plan().groups[g - 1].group.end);
    }
    EXPECT_EQ(search.plan().groups.back().group.end, count);
  }
}

INSTANTIATE_TEST_SUITE_P(Objectives, GroupSearchFor,
                         testing::Values(MapObjective::kEnergy, MapObjective::kDelay,
                                         MapObjective::kEnergyDelay),
                         [](const auto& instance) {
                           return std::string(ToString(instance.param));
                         });

}  // namespace
}  // namespace bayloom::mapspace
