// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bayloom/mapspace/fused/group_cost.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/fused_cases.h"
#include "tests/mapspace/random_mapping.h"

namespace bayloom::mapspace {
namespace {

TensorFormat Compressed(const std::string& tensor, int level) {
  TensorFormat format{.tensor = tensor, .ranks = {}, .inner_to_outer = true, .where = ""};
  for (int r = 0; r < 8; ++r)
    format.ranks.push_back({.format = RankFormat::kOffsetPair, .flattened = {}});
  for (int r = 0; r <= level; ++r) {
    format.ranks.push_back({.format = RankFormat::kCoordinatePayload, .flattened = {}});
  }
  return format;
}

void AddActions(Architecture& architecture) {
  using enum ActionOptimization::Kind;
  for (StorageLevel& level : architecture.levels) {
    level.sparsity.actions.push_back({.kind = kSkipping,
                                      .options = {{"Inputs", {"Weights"}}, {"Weights", {"Inputs"}}},
                                      .where = ""});
    level.sparsity.actions.push_back(
        {.kind = kGating, .options = {{"Outputs", {"Weights", "Inputs"}}}, .where = ""});
    level.sparsity.gated_access_energy_pj = 0.25;
  }
  architecture.arithmetic.sparsity = {
      .gates_zeros = true, .skips_unaligned = true, .gated_energy_pj = 0.125};
}

/// A buffer on the chip, and zeros left out and skipped everywhere.
Architecture SparseBuffer(int64_t words) {
  Architecture architecture = OneBuffer(words);
  architecture.arithmetic.instances = architecture.arithmetic.mesh_x = 4;
  architecture.levels[0].instances = architecture.levels[0].mesh_x = 4;
  architecture.levels[0].words = 0;
  architecture.levels[1].block_words = 4;
  architecture.levels[1].shared_bandwidth = 4;
  architecture.levels[2].block_words = 2;
  AddActions(architecture);
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    architecture.levels[l].sparsity.formats = {Compressed("Weights", l), Compressed("Inputs", l)};
  }
  return architecture;
}

void SetDensities(FusedNetwork& network, const Density& inputs, const Density& weights) {
  for (FusedOperator& op : network.operators) {
    if (!op.product) continue;
    Problem& problem = op.product->problem;
    problem.tensors[problem.TensorNamed("Inputs")].density = inputs;
    problem.tensors[problem.TensorNamed("Weights")].density = weights;
  }
}

/// All loops at the home level.
TileCoster TrivialMappings(const Architecture& architecture) {
  return [&architecture](int, const Problem& tile, RetentionLevel home) -> std::optional<TileCost> {
    const OnChipModel model(tile, architecture, home, ReuseCounting::kExact);
    return model.EvaluateWithForms(OutermostMapping(tile, model.inside().architecture()));
  };
}

TEST(SparseGroup, OfOneLayerCostsWhatTheLayerCosts) {
  base::RandomStream random(21);
  Architecture architecture = SparseBuffer(1 << 20);
  int compute_bound = 0;
  for (int i = 0; i < 120; ++i) {
    TinyNetwork tiny;
    tiny.Convolution(tiny.Input(1 + random.UniformInt(6), 9, 8), 1 + random.UniformInt(8),
                     1 + 2 * random.UniformInt(2), 1, 0);
    FusedNetwork network = tiny.Build();
    const double density = 0.05 + 0.9 * random.Uniform();
    SetDensities(network, MakeDensity("hypergeometric", density),
                 i % 3 == 0   ? ParseDensity("2:4")
                 : i % 3 == 1 ? MakeDensity("fixed-structured", density)
                              : MakeDensity("hypergeometric", 0.3));
    FusedGroup group = Whole(network, {});
    group.home->keeps_weights = i % 2 == 0;
    architecture.levels[1].shared_bandwidth = i % 4 < 2 ? 4 : 64;
    architecture.levels[2].read_bandwidth = i % 4 < 2 ? 2 : 64;
    const Problem& problem = network.operators[0].product->problem;
    const OnChipModel home(problem, architecture, *group.home, ReuseCounting::kExact);
    const Mapping inside = RandomMapping(problem, home.inside().architecture(), random);
    SCOPED_TRACE(PrintCompact(inside, problem));
    Mapping whole = inside;
    if (!group.home->keeps_weights) {
      whole.levels[1].keep &= ~(uint32_t{1} << problem.TensorNamed("Weights"));
    }
    whole.levels.emplace_back();
    const AnalyticalModel model(problem, architecture);
    std::unique_ptr<const SparseEvaluation> sparse;
    const Evaluation evaluation = model.Evaluate(whole, sparse);
    const GroupCost layer = CostOfMappedLayer(network, architecture, 0, evaluation, sparse.get());
    const Result<GroupCost> fused = CostOfFusedGroup(
        network, architecture, group,
        [&](int, const Problem&, RetentionLevel) { return home.EvaluateWithForms(inside); });
    ASSERT_TRUE(fused);
    EXPECT_NEAR(fused->energy_pj, evaluation.energy_pj, 1e-12 * evaluation.energy_pj);
    EXPECT_NEAR(layer.energy_pj, evaluation.energy_pj, 1e-12 * evaluation.energy_pj);
    // The model divides words by a bandwidth relative to the multipliers', and rounds up.
    EXPECT_LE(fused->cycles, evaluation.cycles);
    EXPECT_GE(fused->cycles, evaluation.cycles - 1);
    EXPECT_EQ(layer.cycles, evaluation.cycles);
    EXPECT_EQ(fused->outside_reads, layer.outside_reads);
    EXPECT_EQ(fused->outside_writes, layer.outside_writes);
    EXPECT_EQ(fused->operations, static_cast<double>(problem.Macs()));
    compute_bound += evaluation.cycles == sparse->compute_cycles ? 1 : 0;
  }
  EXPECT_GT(compute_bound, 5);
  EXPECT_LT(compute_bound, 115);
}

TEST(SparseGroup, OfDenseTensorsCostsWhatPlainOnesDo) {
  base::RandomStream random(22);
  int compared = 0;
  for (int i = 0; i < 60; ++i) {
    FusedNetwork network = TinyNetwork::Random(random, /*has_scalar=*/i % 4 == 0).Build();
    const std::vector<int64_t>& out = network.tensors[network.operators.back().output].shape;
    FusedGroup group =
        Whole(network, Tiles(1 + random.UniformInt(out[2]), 1 + random.UniformInt(out[3]),
                             random.UniformInt(2) == 0, random.UniformInt(2) == 0));
    group.home->keeps_weights = random.UniformInt(3) > 0;
    const Architecture plain = OneBuffer(1 << (8 + random.UniformInt(8)));
    Architecture sparse = plain;
    if (i % 2 == 0) {
      AddActions(sparse);
    } else {
      for (FusedOperator& op : network.operators) {
        if (!op.product) continue;
        for (DataSpace& tensor : op.product->problem.tensors) {
          tensor.word_bits = plain.levels[0].word_bits;
        }
      }
    }
    const auto cost = [&](const Architecture& architecture, FusedNetwork of) {
      if (&architecture == &plain) {
        for (FusedOperator& op : of.operators) {
          if (!op.product) continue;
          for (DataSpace& tensor : op.product->problem.tensors) tensor.word_bits = 0;
        }
      }
      return CostOfFusedGroup(of, architecture, group, TrivialMappings(architecture));
    };
    const Result<GroupCost> expected = cost(plain, network), found = cost(sparse, network);
    ASSERT_EQ(static_cast<bool>(found), static_cast<bool>(expected));
    if (!expected) continue;
    EXPECT_DOUBLE_EQ(found->energy_pj, expected->energy_pj);
    EXPECT_EQ(found->cycles, expected->cycles);
    EXPECT_EQ(found->outside_reads, expected->outside_reads);
    EXPECT_EQ(found->outside_writes, expected->outside_writes);
    EXPECT_EQ(found->peak_words, expected->peak_words);
    EXPECT_EQ(found->has_resident_weights, expected->has_resident_weights);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

/// Zeros are left out in the buffer, at no cost of metadata.
Architecture FreeMetadata(int64_t words) {
  Architecture architecture = OneBuffer(words);
  TensorFormat format = Compressed("Inputs", 1);
  for (RankSpec& rank : format.ranks) rank.metadata_bits = rank.payload_bits = 0;
  LevelSparsity& sparsity = architecture.levels[1].sparsity;
  for (const char* tensor : {"Inputs", "Outputs", "Weights"}) {
    sparsity.formats.push_back(format);
    sparsity.formats.back().tensor = tensor;
  }
  sparsity.fit_probability = kFitsExpected;
  return architecture;
}

TEST(SparseGroup, KeepsTensorsCompressed) {
  TinyNetwork tiny;
  tiny.Convolution(tiny.Convolution(tiny.Input(8, 8, 8), 8, 1, 1, 0), 8, 1, 1, 0);
  FusedNetwork network = tiny.Build();
  const FusedGroup group = Whole(network, Tiles(2, 8, true, true));
  const auto cost = [&](int64_t words) {
    const Architecture architecture = FreeMetadata(words);
    return CostOfFusedGroup(network, architecture, group, TrivialMappings(architecture));
  };
  // Tiles of 128 words in and out, 64 weights of each layer.
  EXPECT_TRUE(cost(256 + 128));
  EXPECT_EQ(cost(256 + 128)->peak_words, 256 + 128);
  EXPECT_FALSE(cost(256 + 63));
  for (FusedOperator& op : network.operators) {
    for (DataSpace& tensor : op.product->problem.tensors) {
      tensor.density = MakeDensity("hypergeometric", 0.25);
    }
  }
  EXPECT_TRUE(cost(64 + 32));
  EXPECT_EQ(cost(64 + 32)->peak_words, 64 + 32);
  EXPECT_EQ(cost(64 + 32)->has_resident_weights, (std::vector<bool>{true, true}));
  EXPECT_EQ(cost(64 + 31)->has_resident_weights, (std::vector<bool>{false, false}));
  EXPECT_FALSE(cost(64 + 15));
  // The tensor between has more nonzeros than the others.
  network.operators[0].product->problem.tensors[2].density = MakeDensity("hypergeometric", 0.5);
  EXPECT_EQ(cost(1 << 12)->peak_words, 32 + 64 + 32);
  // As many as there may be.
  Architecture always = FreeMetadata(1 << 12);
  always.levels[1].sparsity.fit_probability = 1;
  EXPECT_EQ(CostOfFusedGroup(network, always, group, TrivialMappings(always))->peak_words,
            128 + 128 + 16 + 16)
      << "a quarter of the tensors' words could be in one tile";
}

TEST(SparseGroup, LimitsMetadataInAMemoryOfItsOwn) {
  TinyNetwork tiny;
  tiny.Convolution(tiny.Convolution(tiny.Input(8, 8, 8), 8, 1, 1, 0), 8, 1, 1, 0);
  FusedNetwork network = tiny.Build();
  SetDensities(network, MakeDensity("fixed-structured", 0.5), {});
  const FusedGroup group = Whole(network, Tiles(8, 8, true, true));
  Architecture architecture = FreeMetadata(1 << 12);
  LevelSparsity& sparsity = architecture.levels[1].sparsity;
  sparsity.formats.resize(1);
  sparsity.formats[0].ranks.back().format = RankFormat::kBitmask;
  sparsity.formats[0].ranks.back().metadata_bits = 1;
  sparsity.metadata_width_bits = 1;
  const auto fits = [&](int64_t depth) {
    sparsity.metadata_depth = depth;
    return static_cast<bool>(
        CostOfFusedGroup(network, architecture, group, TrivialMappings(architecture)));
  };
  int64_t least = 1;
  while (!fits(least)) least *= 2;
  EXPECT_GT(least, 1);
  EXPECT_TRUE(fits(0)) << "as many as are needed";
  EXPECT_TRUE(fits(2 * least));
}

TEST(SparseGroup, FewerNonzerosNeverCostMore) {
  base::RandomStream random(23);
  const Architecture architecture = SparseBuffer(1 << 14);
  for (int i = 0; i < 12; ++i) {
    FusedNetwork network = TinyNetwork::Random(random).Build();
    const std::vector<int64_t>& out = network.tensors[network.operators.back().output].shape;
    const FusedGroup group = Whole(
        network, Tiles(1 + random.UniformInt(out[2]), 1 + random.UniformInt(out[3]), true, true));
    double energy = 0;
    int64_t peak = 0;
    for (const double density : {0.1, 0.3, 0.6, 1.0}) {
      SetDensities(network, MakeDensity("hypergeometric", density),
                   MakeDensity("hypergeometric", density));
      const Result<GroupCost> cost =
          CostOfFusedGroup(network, architecture, group, TrivialMappings(architecture));
      if (!cost) continue;
      EXPECT_GE(cost->energy_pj, energy) << density;
      EXPECT_GE(cost->peak_words, peak) << density;
      energy = cost->energy_pj;
      peak = cost->peak_words;
    }
  }
}

TEST(TileProblem, SpreadsNonzerosOverTheWholeTensor) {
  TinyNetwork tiny;
  tiny.Convolution(tiny.Input(8, 8, 8), 4, 1, 1, 0);
  FusedNetwork network = tiny.Build();
  SetDensities(network, MakeDensity("hypergeometric", 0.25), ParseDensity("2:4"));
  const FusedOperator& op = network.operators[0];
  Box box = WholeBox(network.tensors[op.output].shape);
  EXPECT_EQ(TileProblem(op, box), op.product->problem);
  box[2] = {0, 2};
  const Problem tile = TileProblem(op, box);
  EXPECT_EQ(tile.tensors[1].density.whole_words, 8 * 8 * 8);
  EXPECT_EQ(tile.tensors[0].density, ParseDensity("2:4"));
  const DensityModel density(tile.tensors[1].density, 2 * 8 * 8);
  EXPECT_EQ(density.MaxOccupancy(2 * 8 * 8), 128) << "all of its words can be nonzeros";
  EXPECT_DOUBLE_EQ(density.ExpectedOccupancy(2 * 8 * 8), 32);
  EXPECT_EQ(ParseProblemYaml(PrintProblemYaml(tile), "tile.yaml"), tile);
}

}  // namespace
}  // namespace bayloom::mapspace
