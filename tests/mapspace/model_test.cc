// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/model.h"

#include <gtest/gtest.h>

#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/random_mapping.h"
#include "tests/mapspace/simulator.h"

namespace bayloom::mapspace {
namespace {

void ExpectSimulatedTraffic(const Problem& problem, uint64_t seed, int mappings) {
  const Architecture architecture = SmallArchitecture();
  const AnalyticalModel model(problem, architecture);
  base::RandomStream random(seed);
  for (int i = 0; i < mappings; ++i) {
    const Mapping mapping = RandomMapping(problem, architecture, random);
    SCOPED_TRACE(problem.Describe() + ": " + PrintCompact(mapping, problem));
    ASSERT_TRUE(CheckMapping(mapping, problem, architecture).ok());
    ASSERT_TRUE(model.Fits(mapping));
    const Evaluation evaluation = model.Evaluate(mapping);
    for (int l = 0; l < architecture.LevelCount(); ++l) {
      for (int t = 0; t < problem.TensorCount(); ++t) {
        if (!mapping.levels[l].Keeps(t)) continue;
        const TensorTraffic expected = SimulateTraffic(problem, mapping, l, t);
        const TensorTraffic& counted = evaluation.levels[l].tensors[t];
        SCOPED_TRACE(architecture.levels[l].name + " " + problem.tensors[t].name);
        EXPECT_EQ(counted.tile_words, expected.tile_words);
        EXPECT_EQ(counted.reads, expected.reads);
        EXPECT_EQ(counted.fills, expected.fills);
        EXPECT_EQ(counted.updates, expected.updates);
      }
    }
  }
}

TEST(Model, CountsWhatASimulatorCountsForMatmul) {
  ExpectSimulatedTraffic(MatmulProblem(4, 6, 8), 1, 40);
  ExpectSimulatedTraffic(BatchMatmulProblem(2, 4, 3, 4), 2, 20);
}

TEST(Model, CountsWhatASimulatorCountsForConvolutions) {
  ConvolutionShape shape{.r = 3, .s = 2, .p = 4, .q = 6, .c = 2, .m = 2};
  ExpectSimulatedTraffic(Conv2dProblem(shape), 3, 40);
  ExpectSimulatedTraffic(DepthwiseProblem(shape), 4, 20);
  shape.p_stride = 2;
  shape.s_dilation = 2;
  shape.r_dilation = 3;
  ExpectSimulatedTraffic(Conv2dProblem(shape), 5, 40);
}

// Listing 5 of Kannan 2023.
constexpr char kListing5[] = R"(
mapping:
- {factors: N=1 M=4 S=1 P=28 Q=1 R=1 C=4, permutation: CQRSPMN, target: DRAM, type: temporal}
- {factors: N=4 M=1 S=1 P=1 Q=7 R=1 C=9, permutation: QCMPNSR, target: Scratchpad, type: temporal}
- {factors: N=4 M=2 S=1 P=1 Q=8 R=1 C=1, permutation: CMPNRQS, target: AccumulationBuffer, type: temporal}
- {factors: N=1 M=3 S=3 P=2 Q=1 R=3 C=4, permutation: NCPMSRQ, target: Registers, type: temporal}
- {target: AccumulationBuffer, type: bypass, keep: [Outputs], bypass: [Weights, Inputs]}
- {target: Scratchpad, type: bypass, keep: [Weights, Inputs], bypass: [Outputs]}
)";

Problem PaperConvolution() {
  return Conv2dProblem({.r = 3, .s = 3, .p = 56, .q = 56, .c = 144, .m = 24, .n = 16});
}

TEST(Model, KnowsThePapersMapping) {
  const Problem problem = PaperConvolution();
  const Architecture architecture = ShippedArchitecture("gemmini");
  const Mapping mapping = ParseMappingYaml(kListing5, "listing5", problem, architecture);
  const AnalyticalModel model(problem, architecture, ReuseCounting::kTimeloop);
  ASSERT_TRUE(model.Fits(mapping));
  const Evaluation evaluation = model.Evaluate(mapping);
  const auto tile = [&](int level, int tensor) {
    return evaluation.levels[level].tensors[tensor].tile_words;
  };
  // The tiles that listing 6 shows (weights, inputs, outputs; registers to DRAM).
  EXPECT_EQ(tile(0, 0), 108);
  EXPECT_EQ(tile(0, 1), 48);
  EXPECT_EQ(tile(0, 2), 6);
  EXPECT_EQ(tile(1, 2), 384);
  EXPECT_EQ(tile(2, 0), 1944);
  EXPECT_EQ(tile(2, 1), 133632);
  EXPECT_EQ(tile(3, 1), 7750656);
  EXPECT_EQ(tile(3, 2), 1204224);
  // What Timeloop 2.0 says of it.
  EXPECT_NEAR(evaluation.EnergyPerMac(), 17.10006606, 1e-8);
  EXPECT_EQ(evaluation.cycles, 1560674304);
  EXPECT_EQ(evaluation.levels[0].tensors[1].fills, 173408256);
  EXPECT_EQ(evaluation.levels[2].tensors[1].fills, 59867136);
  EXPECT_EQ(evaluation.levels[3].tensors[2].reads, 42147840);
  EXPECT_EQ(evaluation.levels[3].tensors[2].updates, 43352064);
}

TEST(Model, KnowsWhereTimeloopTakesAShortcut) {
  // A 3x3 window goes two steps along a row, then back to its beginning and one row down, where
  // two of its words are those it had; Timeloop sees a move along two axes and fetches all nine.
  const Problem problem = Conv2dProblem({.r = 3, .s = 3, .p = 2, .q = 3, .c = 1, .m = 1});
  const Architecture architecture = SmallArchitecture();
  Mapping mapping = OutermostMapping(problem, architecture);
  mapping.levels[2].temporal = {1, 1, 2, 3, 1, 1, 1, 1};
  mapping.levels[2].order = {3, 2, 0, 1, 4, 5, 6, 7};
  mapping.levels[0].temporal = {3, 3, 1, 1, 1, 1, 1, 1};
  const auto fills = [&](ReuseCounting counting) {
    const AnalyticalModel model(problem, architecture, counting);
    return model.Evaluate(mapping).levels[0].tensors[1].fills;
  };
  EXPECT_EQ(fills(ReuseCounting::kExact), 9 + 3 + 3 + 7 + 3 + 3);
  EXPECT_EQ(fills(ReuseCounting::kTimeloop), 9 + 3 + 3 + 9 + 3 + 3);
}

TEST(Model, BandwidthDecidesCycles) {
  // One multiplier; row by row of the inputs, so that weights change least often.
  const Problem problem = MatmulProblem(4, 4, 4);
  Architecture architecture = SmallArchitecture();
  architecture.levels[2].read_bandwidth = 0.5;
  architecture.levels[2].write_bandwidth = 0.125;
  const Mapping mapping = OutermostMapping(problem, architecture);
  const Evaluation evaluation = AnalyticalModel(problem, architecture).Evaluate(mapping);
  const int64_t weights = 16, inputs = 64, partial_sums = 64, first_visits = 16;
  EXPECT_EQ(evaluation.levels[0].cycles, 64);
  EXPECT_EQ(evaluation.cycles, 8 * partial_sums);
  architecture.levels[2].write_bandwidth = 1;
  EXPECT_EQ(AnalyticalModel(problem, architecture).Evaluate(mapping).cycles,
            2 * (weights + inputs + partial_sums - first_visits));
  EXPECT_DOUBLE_EQ(evaluation.utilization, 64.0 / (8 * 8 * 64));
}

TEST(Model, SaysWhatDoesNotFit) {
  const Problem problem = MatmulProblem(4, 4, 4);
  Architecture architecture = SmallArchitecture();
  architecture.levels[1].words = 20;
  const AnalyticalModel model(problem, architecture);
  Mapping mapping = OutermostMapping(problem, architecture);
  EXPECT_TRUE(model.CheckFit(mapping).ok());
  mapping.levels[2].temporal = {4, 1, 1, 1, 1, 1, 1, 1};
  mapping.levels[1].temporal = {1, 4, 4, 1, 1, 1, 1, 1};
  EXPECT_FALSE(model.Fits(mapping));
  EXPECT_EQ(model.CheckFit(mapping).error().message,
            "tiles of 24 words do not fit into Buffer, which holds 20");
  mapping.levels[1].keep = 0b110;  // 8 words of inputs and outputs
  EXPECT_TRUE(model.Fits(mapping));
  mapping.levels[2].temporal = kUnitExtents;
  mapping.levels[2].spatial = {4, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(model.CheckFit(mapping).error().message,
            "Memory spreads over 4x1 instances, but feeds 2x2");
}

}  // namespace
}  // namespace bayloom::mapspace
