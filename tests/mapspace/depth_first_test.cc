// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/depth_first.h"

#include <gtest/gtest.h>

#include "tests/mapspace/fused_cases.h"

namespace bayloom::mapspace {
namespace {

TEST(DepthFirstTiles, CountWhatASimulationOfEveryElementCounts) {
  base::RandomStream random(3);
  int compared = 0, recomputing = 0;
  for (int i = 0; i < 150; ++i) {
    const TinyNetwork tiny = TinyNetwork::Random(random, /*has_scalar=*/i % 4 == 0);
    const FusedNetwork network = tiny.Build();
    const std::vector<int64_t>& out = tiny.shape(tiny.layers().back().output);
    const DepthFirstTiling tiling =
        Tiles(1 + random.UniformInt(out[2]), 1 + random.UniformInt(out[3]),
              random.UniformInt(2) == 0, random.UniformInt(2) == 0);
    const Result<DepthFirstTiles> tiles =
        DepthFirstTiles::Make(network, 0, network.OperatorCount(), tiling);
    ASSERT_TRUE(tiles) << tiles.error().message;
    const TileSimulation simulation = SimulateTiles(tiny, tiling);
    int64_t kept = 0, tile_count = 0;
    for (size_t t = 0; t < network.tensors.size(); ++t) {
      EXPECT_EQ(tiles->NewWords(static_cast<int>(t)), simulation.computed[t])
          << "case " << i << ", tensor " << t;
      kept += tiles->KeptWords(static_cast<int>(t));
      recomputing += simulation.computed[t] > network.tensors[t].Words() ? 1 : 0;
      ++compared;
    }
    EXPECT_GE(kept, simulation.kept) << "case " << i;
    for (const DepthFirstTiles::Kind& kind : tiles->kinds()) tile_count += kind.count;
    EXPECT_EQ(tile_count, tiles->TileCount());
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(recomputing, 50) << "or the cases are too easy";
}

TEST(DepthFirstTiles, KeepExactlyTheLinesThatNeighboursShare) {
  // Three 3x3 convolutions over 12x10: two lines of the input and of each result between, by hand.
  TinyNetwork tiny;
  int last = tiny.Input(2, 12, 10);
  for (int i = 0; i < 3; ++i) last = tiny.Convolution(last, 2, 3, 1, 1);
  const FusedNetwork network = tiny.Build();
  const DepthFirstTiling lines = Tiles(3, 10, true, true);
  const DepthFirstTiles tiles = *DepthFirstTiles::Make(network, 0, 3, lines);
  for (int t = 0; t < 3; ++t) EXPECT_EQ(tiles.KeptWords(t), 2 * 2 * 10);
  EXPECT_EQ(tiles.KeptWords(3), 0);
  EXPECT_EQ(SimulateTiles(tiny, lines).kept, 3 * 2 * 2 * 10);
  // The first tile reads six lines, the next ones three each, the last none.
  EXPECT_EQ(tiles.NewWords(0, std::vector<int64_t>{0, 0}), 2 * 6 * 10);
  EXPECT_EQ(tiles.NewWords(0, std::vector<int64_t>{1, 0}), 2 * 3 * 10);
  EXPECT_EQ(tiles.NewWords(0, std::vector<int64_t>{3, 0}), 0);
}

TEST(DepthFirstTiles, KeepAsMuchAsThePaperOnFusedLayersSays) {
  const FusedNetwork network = BeginningOfVggE().Build();
  const auto tiles = DepthFirstTiles::Make(network, 0, network.OperatorCount(),
                                           Tiles(/*rows=*/1, /*columns=*/1, true, true));
  ASSERT_TRUE(tiles);
  int64_t words = 0;
  for (int t = 0; t < std::ssize(network.tensors); ++t) words += tiles->KeptWords(t);
  // Alwani et al. 2016: 362 KB of buffers, of 4 bytes a word, for a pyramid with a tip of 1 x 1.
  EXPECT_NEAR(4.0 * static_cast<double>(words) / 1024, 362, 0.01 * 362);
}

TEST(DepthFirstTiles, ComputeNothingAgainWithoutWindows) {
  TinyNetwork tiny;
  int last = tiny.Input(3, 9, 7);
  const int first = tiny.Convolution(last, 4, 1, 1, 0);
  last = tiny.Convolution(first, 4, 1, 1, 0);
  tiny.Add(first, last);
  const FusedNetwork network = tiny.Build();
  for (int64_t rows = 1; rows <= 9; ++rows) {
    for (int64_t columns = 1; columns <= 7; ++columns) {
      const DepthFirstTiles tiles =
          *DepthFirstTiles::Make(network, 0, 3, Tiles(rows, columns, false, false));
      for (int t = 0; t < 4; ++t) EXPECT_EQ(tiles.NewWords(t), network.tensors[t].Words());
    }
  }
}

TEST(DepthFirstTiles, ComputeAScalarInsideOnce) {
  TinyNetwork tiny;
  const int image = tiny.Input(2, 8, 6);
  const int mean = tiny.Mean(image);
  tiny.Scale(image, mean);
  const FusedNetwork network = tiny.Build();
  const auto cost_of = [&](int64_t rows, bool keeps) {
    return *CostOfFusedGroup(network, OneBuffer(1 << 12),
                             Whole(network, Tiles(rows, 6, keeps, keeps)), PlainCost);
  };
  const DepthFirstTiles tiles = *DepthFirstTiles::Make(network, 0, 2, Tiles(2, 6, true, true));
  EXPECT_EQ(tiles.NewWords(mean, std::vector<int64_t>{0, 0}), 1);
  EXPECT_FALSE(tiles.NewBox(mean, std::vector<int64_t>{1, 0}));
  EXPECT_EQ(cost_of(2, true).operations, cost_of(8, true).operations);
  EXPECT_EQ(cost_of(2, false).operations, cost_of(8, true).operations + 3) << "for each of four";
}

TEST(DepthFirstTiles, CompleteWhatLaterLayersNeed) {
  // The first result is read by tiles with a stride that leaves its last line out, and needed
  // later.
  TinyNetwork tiny;
  const int first = tiny.Convolution(tiny.Input(1, 10, 10), 2, 3, 1, 1);
  tiny.Convolution(first, 2, 3, 2, 0);
  FusedNetwork network = tiny.Build();
  network.tensors[first].is_output = true;
  for (const bool keeps : {false, true}) {
    const DepthFirstTiles tiles = *DepthFirstTiles::Make(network, 0, 2, Tiles(1, 2, keeps, keeps));
    EXPECT_GE(tiles.NewWords(first), network.tensors[first].Words());
    if (keeps) {
      EXPECT_EQ(tiles.NewWords(first), network.tensors[first].Words());
    }
  }
}

/// Scores of queries [1, heads, rows, width] and keys, softmax over them, their product with
/// values.
FusedNetwork Attention(int64_t heads, int64_t rows, int64_t width) {
  const auto axis = [](int a) { return AccessStep::Axis{.constant = 0, .terms = {{a, 1}}}; };
  const std::vector<int64_t> wide = {1, heads, rows, width}, square = {1, heads, rows, rows};
  const auto read = [&](const std::vector<int64_t>& shape, int row, int column, int64_t inner) {
    return AccessStep{.shape = shape,
                      .inner = {inner},
                      .axes = {axis(0), axis(1), axis(row), axis(column)},
                      .from = {}};
  };
  FusedNetwork network;
  network.tensors = {{.name = "queries", .shape = wide},   {.name = "keys", .shape = wide},
                     {.name = "values", .shape = wide},    {.name = "scores", .shape = square},
                     {.name = "weights", .shape = square}, {.name = "context", .shape = wide}};
  const auto product = [&](int64_t columns, int64_t terms) {
    return FusedProduct{.problem = BatchMatmulProblem(heads, rows, columns, terms),
                        .output_axis = {1, 2, 3, -1},
                        .weights_operand = 1};
  };
  network.operators = {
      {.name = "scores",
       .output = 3,
       .operands = {{0, {read(wide, 2, 4, width)}}, {1, {read(wide, 3, 4, width)}}},
       .product = product(rows, width)},
      {.name = "softmax",
       .output = 4,
       .operands = {{3, {read(square, 2, 4, rows)}}},
       .product = {},
       .operations_per_word = 4},
      {.name = "context",
       .output = 5,
       .operands = {{4, {read(square, 2, 4, rows)}}, {2, {read(wide, 4, 3, rows)}}},
       .product = product(width, rows)}};
  network.tensors[5].is_output = true;
  network.Connect();
  return network;
}

TEST(DepthFirstTiles, OfAttentionReadKeysAndValuesOnceForEachHead) {
  const FusedNetwork network = Attention(4, 32, 8);
  const DepthFirstTiling tiling = {.axes = {{1, 1, true}, {2, 8, true}}};
  const DepthFirstTiles tiles = *DepthFirstTiles::Make(network, 0, 3, tiling);
  EXPECT_EQ(tiles.TileCount(), 16);
  for (int t = 0; t < 6; ++t) EXPECT_EQ(tiles.NewWords(t), network.tensors[t].Words());
  // Keys and values of one head stay; scores of eight rows come and go.
  EXPECT_EQ(tiles.KeptWords(1), 32 * 8);
  EXPECT_EQ(tiles.KeptWords(2), 32 * 8);
  EXPECT_EQ(tiles.KeptWords(3), 0);
  EXPECT_EQ(tiles.NewWords(4, std::vector<int64_t>{2, 1}), 8 * 32);
  // Scores and weights of eight rows at the same time, beside keys and values.
  const std::vector<int64_t> no_weights(3);
  EXPECT_EQ(tiles.PeakWords(tiles.kinds().front(), no_weights), 2 * 32 * 8 + 2 * 8 * 32);

  const GroupCost cost = *CostOfFusedGroup(
      network, OneBuffer(1 << 12),
      {.begin = 0, .end = 3, .home = RetentionLevel{.level = 1}, .tiling = tiling}, PlainCost);
  EXPECT_EQ(cost.outside_reads, 3 * 4 * 32 * 8);
  EXPECT_EQ(cost.outside_writes, 4 * 32 * 8);
  // Where second operands may not stay, they come again for every tile.
  const GroupCost streamed =
      *CostOfFusedGroup(network, OneBuffer(1 << 12),
                        {.begin = 0,
                         .end = 3,
                         .home = RetentionLevel{.level = 1, .keeps_weights = false},
                         .tiling = tiling},
                        PlainCost);
  EXPECT_EQ(streamed.outside_reads, 4 * 32 * 8) << "the others are in what tiles cost";
}
}  // namespace
}  // namespace bayloom::mapspace
