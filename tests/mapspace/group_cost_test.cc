// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/mapspace/fused/retention_level.h"
#include "bayloom/mapspace/mapspace.h"
#include "tests/mapspace/fused_cases.h"

namespace bayloom::mapspace {
namespace {

TEST(CostOfFusedGroup, MovesNoLessThanEveryWordOnce) {
  base::RandomStream random(5);
  int exact = 0;
  for (int i = 0; i < 120; ++i) {
    const FusedNetwork network = TinyNetwork::Random(random, /*has_scalar=*/i % 4 == 0).Build();
    const std::vector<int64_t>& out = network.tensors[network.operators.back().output].shape;
    const bool rows = random.UniformInt(2) == 0, columns = random.UniformInt(2) == 0;
    const FusedGroup group = Whole(network, Tiles(1 + random.UniformInt(out[2]),
                                                  1 + random.UniformInt(out[3]), rows, columns));
    const int64_t capacity = 1 << (8 + random.UniformInt(8));
    const Result<GroupCost> cost = CostOfFusedGroup(network, OneBuffer(capacity), group, PlainCost);
    if (!cost) continue;
    EXPECT_LE(cost->peak_words, capacity);
    const CompulsoryWords compulsory = CompulsoryOf(network, 0, network.OperatorCount());
    EXPECT_EQ(cost->outside_writes, compulsory.writes);
    EXPECT_GE(cost->outside_reads, compulsory.reads);
    bool is_resident = true;
    for (int k = 0; k < network.OperatorCount(); ++k) {
      is_resident &= network.WeightWords(k) == 0 || cost->has_resident_weights[k];
    }
    if ((rows && columns && is_resident) || cost->tiles == 1) {
      EXPECT_EQ(cost->outside_reads, compulsory.reads);
      ++exact;
    }
    EXPECT_GE(cost->cycles * 2, std::max(cost->outside_reads, cost->outside_writes));
  }
  EXPECT_GT(exact, 10);
}

TEST(CostOfFusedGroup, StreamsWeightsThatDoNotFitForEveryTile) {
  TinyNetwork tiny;
  tiny.Convolution(tiny.Convolution(tiny.Input(8, 8, 8), 8, 1, 1, 0), 8, 1, 1, 0);
  const FusedNetwork network = tiny.Build();
  const FusedGroup group = Whole(network, Tiles(2, 8, true, true));
  const int64_t tensors = 2 * 8 * 8 * 8, weights = 64;
  // A tile of 128 words in and out, weights of one layer or of both.
  const GroupCost both = *CostOfFusedGroup(network, OneBuffer(256 + 2 * weights), group, PlainCost);
  EXPECT_EQ(both.OutsideWords(), tensors + 2 * weights);
  EXPECT_EQ(both.peak_words, 256 + 2 * weights);
  const GroupCost one = *CostOfFusedGroup(network, OneBuffer(256 + weights), group, PlainCost);
  EXPECT_EQ(one.OutsideWords(), tensors + 2 * 4 * weights);
  EXPECT_FALSE(CostOfFusedGroup(network, OneBuffer(255 + weights), group, PlainCost));
}

/// Everything comes to the buffer once.
Mapping OnceToTheBuffer(const Problem& problem, const Architecture& architecture) {
  Mapping mapping = OutermostMapping(problem, architecture);
  std::swap(mapping.levels[1].temporal, mapping.levels[2].temporal);
  return mapping;
}

TEST(CostOfMappedLayer, ReadsNoPaddingFromOutside) {
  for (const int64_t pad : {0, 1}) {
    for (const int64_t side : {14, 7}) {
      TinyNetwork tiny;
      tiny.Convolution(tiny.Input(8, side, side), 16, 3, 1, pad);
      const FusedNetwork network = tiny.Build();
      const Architecture architecture = OneBuffer(1 << 14);
      const Problem& problem = network.operators[0].product->problem;
      const Evaluation evaluation =
          AnalyticalModel(problem, architecture).Evaluate(OnceToTheBuffer(problem, architecture));
      const GroupCost cost = CostOfMappedLayer(network, architecture, 0, evaluation);
      EXPECT_EQ(cost.outside_reads, CompulsoryOf(network, 0, 1).reads);
      EXPECT_EQ(cost.outside_writes, CompulsoryOf(network, 0, 1).writes);
      const int64_t padded = (side + 2 * pad) * (side + 2 * pad);
      const double padding = 200.0 * 8 * static_cast<double>(padded - side * side);
      EXPECT_NEAR(cost.energy_pj, evaluation.energy_pj - padding, 1e-9 * evaluation.energy_pj);
      EXPECT_LE(cost.cycles, evaluation.cycles);
      if (pad == 0) {
        EXPECT_EQ(cost.cycles, evaluation.cycles);
      }
    }
  }
}

TEST(CostOfMappedLayer, IsWhatAGroupSavesTheTensorBetweenOf) {
  TinyNetwork tiny;
  const int between = tiny.Convolution(tiny.Input(4, 7, 7), 6, 3, 1, 1);
  tiny.Convolution(between, 5, 3, 1, 1);
  const FusedNetwork network = tiny.Build();
  const Architecture architecture = OneBuffer(1 << 14);
  int64_t by_layer = 0;
  for (int k = 0; k < 2; ++k) {
    const Problem& problem = network.operators[k].product->problem;
    by_layer +=
        CostOfMappedLayer(
            network, architecture, k,
            AnalyticalModel(problem, architecture).Evaluate(OnceToTheBuffer(problem, architecture)))
            .OutsideWords();
  }
  const GroupCost group =
      *CostOfFusedGroup(network, architecture, Whole(network, Tiles(7, 7, true, true)), PlainCost);
  EXPECT_EQ(by_layer - group.OutsideWords(), 2 * network.tensors[between].Words());
}

TEST(OnChipModel, PricesWhatLeavesTheInside) {
  // With a home level that costs as much as the outermost one, moving nothing else, a layer's tiles
  // at home cost what the layer costs with its outermost level there.
  const Architecture architecture = ShippedArchitecture("simba-like");
  const std::vector<RetentionLevel> homes = RetentionLevelsOf(architecture);
  ASSERT_EQ(homes.size(), 1u);
  EXPECT_EQ(architecture.levels[homes[0].level].name, "GlobalBuffer");
  EXPECT_FALSE(homes[0].keeps_weights);
  const Problem problem = ParseProblem("conv2d:8x8x16,16,3x3,pad=1");
  const OnChipModel model(problem, architecture, homes[0], ReuseCounting::kExact);
  const Mapspace mapspace(problem, model.inside().architecture());
  base::RandomStream random(1);
  Architecture priced = model.inside().architecture();
  const StorageLevel& home = architecture.levels[homes[0].level];
  priced.levels.back().access_energy_pj = home.access_energy_pj;
  const AnalyticalModel plain(problem, priced);
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    Mapping mapping = mapspace.Skeleton();
    if (!mapspace.SampleTiling(random, mapping) || !plain.Fits(mapping)) continue;
    const Evaluation evaluation = plain.Evaluate(mapping);
    const TileCost cost = model.Evaluate(mapping);
    const int weights = problem.TensorNamed("Weights");
    const TensorTraffic& passing = evaluation.levels[homes[0].level].tensors[weights];
    EXPECT_EQ(cost.outside_reads, passing.reads);
    EXPECT_NEAR(cost.energy_pj,
                evaluation.energy_pj - passing.energy_pj +
                    ReadEnergy(passing.reads, architecture.levels.back()),
                1e-9 * cost.energy_pj);
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

TEST(RetentionLevel, IsNoneThatConstraintsKeepInputsOutOf) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  ASSERT_EQ(RetentionLevelsOf(architecture).size(), 1u);
  const RetentionLevel home = RetentionLevelsOf(architecture).front();
  EXPECT_TRUE(home.keeps_weights);
  Directive bypass;
  bypass.kind = Directive::Kind::kBypass;
  bypass.target = architecture.levels[home.level].name;
  bypass.bypass = {"Weights"};
  const std::vector<RetentionLevel> streaming =
      RetentionLevelsOf(architecture, std::vector<Directive>{bypass});
  ASSERT_EQ(streaming.size(), 1u);
  EXPECT_FALSE(streaming.front().keeps_weights);
  bypass.bypass = {"Inputs"};
  EXPECT_TRUE(RetentionLevelsOf(architecture, std::vector<Directive>{bypass}).empty());
}

}  // namespace
}  // namespace bayloom::mapspace
