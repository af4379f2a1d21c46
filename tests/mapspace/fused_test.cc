// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/fused/group_search.h"
#include "bayloom/mapspace/fused/tile_mapper.h"
#include "tests/mapspace/tiny_network.h"

namespace bayloom::mapspace {
namespace {

DepthFirstTiling Tiles(int64_t rows, int64_t columns, bool keeps_rows, bool keeps_columns) {
  return {.axes = {{2, rows, keeps_rows}, {3, columns, keeps_columns}}};
}

/// Every multiply-accumulate costs one pJ and a cycle; words are moved once.
std::optional<TileCost> PlainCost(int, const Problem& tile, HomeLevel) {
  Extents extents;
  extents.fill(1);
  std::ranges::copy(tile.bounds, extents.begin());
  TileCost cost = {.energy_pj = static_cast<double>(tile.Macs()),
                   .cycles = tile.Macs(),
                   .operations = static_cast<double>(tile.Macs())};
  for (const DataSpace& tensor : tile.tensors) {
    (tensor.read_write ? cost.home_writes : cost.home_reads) += tensor.BoxWords(extents);
  }
  return cost;
}

/// Sixteen multipliers, one level on the chip for everything.
Architecture OneBuffer(int64_t words) {
  Architecture architecture;
  architecture.name = "one-buffer";
  architecture.arithmetic.instances = 16;
  architecture.levels = {
      {.name = "Registers", .words = 16, .instances = 16, .access_energy_pj = 1},
      {.name = "Buffer", .words = words, .access_energy_pj = 6},
      {.name = "DRAM", .read_bandwidth = 2, .write_bandwidth = 2, .access_energy_pj = 200}};
  CheckArchitecture(architecture);
  return architecture;
}

FusedGroup Whole(const FusedNetwork& network, DepthFirstTiling tiling) {
  return {.begin = 0,
          .end = network.OperatorCount(),
          .home = HomeLevel{.level = 1},
          .tiling = std::move(tiling)};
}

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
      {.begin = 0, .end = 3, .home = HomeLevel{.level = 1}, .tiling = tiling}, PlainCost);
  EXPECT_EQ(cost.outside_reads, 3 * 4 * 32 * 8);
  EXPECT_EQ(cost.outside_writes, 4 * 32 * 8);
  // Where second operands may not stay, they come again for every tile.
  const GroupCost streamed =
      *CostOfFusedGroup(network, OneBuffer(1 << 12),
                        {.begin = 0,
                         .end = 3,
                         .home = HomeLevel{.level = 1, .keeps_weights = false},
                         .tiling = tiling},
                        PlainCost);
  EXPECT_EQ(streamed.outside_reads, 4 * 32 * 8) << "the others are in what tiles cost";
}

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

TEST(HomeModel, PricesWhatLeavesTheInside) {
  // With a home level that costs as much as the outermost one, moving nothing else, a layer's tiles
  // at home cost what the layer costs with its outermost level there.
  const Architecture architecture = ShippedArchitecture("simba-like");
  const std::vector<HomeLevel> homes = HomeLevelsOf(architecture);
  ASSERT_EQ(homes.size(), 1u);
  EXPECT_EQ(architecture.levels[homes[0].level].name, "GlobalBuffer");
  EXPECT_FALSE(homes[0].keeps_weights);
  const Problem problem = ParseProblem("conv2d:8x8x16,16,3x3,pad=1");
  const HomeModel model(problem, architecture, homes[0], ReuseCounting::kExact);
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
                    .begin = begin, .end = end, .home = HomeLevel{.level = 1}, .tiling = {}};
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

TEST(TileMapper, MapsEqualTilesOnce) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  const HomeLevel home = HomeLevelsOf(architecture).front();
  TileMapper mapper(architecture, {}, {.search = {.seed = 1, .budget = {.trials = 200}}});
  int searched = 0;
  mapper.SetOnMapped([&](const MappedTile&) { ++searched; });
  const Problem tile = ParseProblem("conv2d:14x14x32,32,3x3,pad=1");
  const MappedTile first = *mapper.Map(tile, home);
  const MappedTile again = *mapper.Map(tile, home);
  EXPECT_EQ(searched, 1);
  ASSERT_TRUE(first.mapping);
  EXPECT_EQ(first.mapping, again.mapping);
  TileMapper other(architecture, {}, {});
  other.Restore(tile, home, first.mapping);
  EXPECT_EQ(other.Map(tile, home)->cost.energy_pj, first.cost.energy_pj);
  EXPECT_EQ(other.mapped(), 0);
  Mapping wrong = *first.mapping;
  wrong.levels[0].temporal[0] = 7;
  EXPECT_THROW(other.Restore(tile, home, wrong), InputError);
}

TEST(HomeLevel, IsNoneThatConstraintsKeepInputsOutOf) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  ASSERT_EQ(HomeLevelsOf(architecture).size(), 1u);
  const HomeLevel home = HomeLevelsOf(architecture).front();
  EXPECT_TRUE(home.keeps_weights);
  Directive bypass;
  bypass.kind = Directive::Kind::kBypass;
  bypass.target = architecture.levels[home.level].name;
  bypass.bypass = {"Weights"};
  const std::vector<HomeLevel> streaming =
      HomeLevelsOf(architecture, std::vector<Directive>{bypass});
  ASSERT_EQ(streaming.size(), 1u);
  EXPECT_FALSE(streaming.front().keeps_weights);
  bypass.bypass = {"Inputs"};
  EXPECT_TRUE(HomeLevelsOf(architecture, std::vector<Directive>{bypass}).empty());
}

TEST(TileMapper, HasNoMappingOfTilesThatFixedFactorsDoNotDivide) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  const HomeLevel home = HomeLevelsOf(architecture).front();
  Directive by_four;
  by_four.kind = Directive::Kind::kTemporal;
  by_four.target = architecture.levels[0].name;
  by_four.factors = {{.dimension = "P", .value = 4}};
  TileMapper mapper(architecture, {by_four}, {.search = {.seed = 1, .budget = {.trials = 200}}});
  int searched = 0;
  mapper.SetOnMapped([&](const MappedTile&) { ++searched; });
  EXPECT_FALSE(mapper.Map(ParseProblem("conv2d:6x8x4,4,1x1"), home)->mapping);
  EXPECT_EQ(searched, 1) << "or it would not be recorded";
  const MappedTile* divided = mapper.Map(ParseProblem("conv2d:8x6x4,4,1x1"), home);
  ASSERT_TRUE(divided->mapping);
  EXPECT_EQ(divided->mapping->levels[0].temporal[divided->problem.DimensionNamed("P")], 4);
}

}  // namespace
}  // namespace bayloom::mapspace
