// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/sparse_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/random_mapping.h"

namespace bayloom::mapspace {
namespace {

ActionOptimization Action(ActionOptimization::Kind kind, const std::string& target,
                          std::vector<std::string> leaders) {
  return {.kind = kind, .options = {{target, std::move(leaders)}}, .where = ""};
}

TensorFormat Format(const std::string& tensor, std::vector<RankFormat> ranks) {
  TensorFormat format{.tensor = tensor, .ranks = {}, .where = ""};
  for (const RankFormat rank : ranks) format.ranks.push_back({.format = rank, .flattened = {}});
  return format;
}

/// Ranks for tiles of the level inside, which have as many ranks, and `more` loops.
TensorFormat Outside(TensorFormat format, int more) {
  RankSpec rank = format.ranks[0];
  rank.format = RankFormat::kOffsetPair;
  format.ranks.insert(format.ranks.begin(), more, rank);
  return format;
}

/// Every level does something about zeros: compresses weights, gates inputs or skips outputs.
Architecture SparseArchitecture() {
  using enum RankFormat;
  using enum ActionOptimization::Kind;
  Architecture architecture = SmallArchitecture();
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    LevelSparsity& sparsity = architecture.levels[l].sparsity;
    std::vector<RankFormat> ranks(8, kOffsetPair);
    for (int inner = 0; inner <= l; ++inner) ranks.push_back(kCoordinatePayload);
    sparsity.formats.push_back(Format("Weights", ranks));
    sparsity.formats.back().inner_to_outer = true;
    sparsity.actions.push_back(Action(l == 0 ? kGating : kSkipping, "Inputs", {"Weights"}));
    sparsity.actions.push_back(Action(kSkipping, "Outputs", {"Weights", "Inputs"}));
  }
  architecture.arithmetic.sparsity = {.gates_zeros = true, .skips_unaligned = true};
  return architecture;
}

void ExpectSame(const Evaluation& a, const Evaluation& b, int levels, int tensors) {
  EXPECT_DOUBLE_EQ(a.energy_pj, b.energy_pj);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_DOUBLE_EQ(a.utilization, b.utilization);
  for (int l = 0; l < levels; ++l) {
    EXPECT_EQ(a.levels[l].cycles, b.levels[l].cycles);
    for (int t = 0; t < tensors; ++t) {
      const TensorTraffic& x = a.levels[l].tensors[t];
      const TensorTraffic& y = b.levels[l].tensors[t];
      EXPECT_EQ(x.reads, y.reads);
      EXPECT_EQ(x.fills, y.fills);
      EXPECT_EQ(x.updates, y.updates);
      EXPECT_EQ(x.tile_words, y.tile_words);
      EXPECT_DOUBLE_EQ(x.energy_pj, y.energy_pj);
    }
  }
}

TEST(SparseModel, DenseTensorsCostWhatTheDenseModelSays) {
  Architecture plain = SmallArchitecture();
  plain.levels[1].block_words = 3;
  plain.levels[1].read_bandwidth = 0.7;
  Architecture sparse = plain;
  sparse.levels[0].sparsity.actions = SparseArchitecture().levels[0].sparsity.actions;
  sparse.levels[1].sparsity.actions = SparseArchitecture().levels[1].sparsity.actions;
  sparse.arithmetic.sparsity = {.gates_zeros = true, .skips_unaligned = true};
  const Problem problem = Conv2dProblem({.r = 3, .s = 2, .p = 4, .q = 6, .c = 2, .m = 2});
  Problem of_width = problem;
  for (DataSpace& tensor : of_width.tensors) tensor.word_bits = plain.levels[0].word_bits;
  for (StorageLevel& level : plain.levels) level.word_bits = plain.levels[0].word_bits;
  const AnalyticalModel dense(problem, plain), saf(problem, sparse), words(of_width, plain);
  ASSERT_NE(saf.EvaluateSparse(OutermostMapping(problem, plain)), nullptr);
  ASSERT_EQ(dense.EvaluateSparse(OutermostMapping(problem, plain)), nullptr);
  base::RandomStream random(11);
  for (int i = 0; i < 200; ++i) {
    const Mapping mapping = RandomMapping(problem, plain, random);
    SCOPED_TRACE(PrintCompact(mapping, problem));
    const Evaluation expected = dense.Evaluate(mapping);
    ExpectSame(saf.Evaluate(mapping), expected, plain.LevelCount(), problem.TensorCount());
    ExpectSame(words.Evaluate(mapping), expected, plain.LevelCount(), problem.TensorCount());
    EXPECT_EQ(saf.Fits(mapping), dense.Fits(mapping));
    EXPECT_EQ(words.Fits(mapping), dense.Fits(mapping));
  }
}

void ExpectWhole(const ActionCounts& counts) {
  EXPECT_GE(counts.actual, 0);
  EXPECT_GE(counts.gated, 0);
  EXPECT_GE(counts.skipped, 0);
  EXPECT_GE(counts.Absent(), 0);
}

TEST(SparseModel, NoActionIsLostOrCountedTwice) {
  const Architecture architecture = SparseArchitecture();
  Problem problem = MatmulProblem(8, 12, 6);
  base::RandomStream random(12);
  for (int i = 0; i < 200; ++i) {
    const double density = 0.05 + 0.9 * random.Uniform();
    problem.tensors[0].density = MakeDensity(i % 2 == 0 ? "hypergeometric" : "fixed", density);
    problem.tensors[1].density = MakeDensity("hypergeometric", 0.05 + 0.9 * random.Uniform());
    const AnalyticalModel model(problem, architecture), dense(problem, SmallArchitecture());
    const Mapping mapping = RandomMapping(problem, architecture, random);
    SCOPED_TRACE(PrintCompact(mapping, problem));
    const auto sparse = model.EvaluateSparse(mapping);
    const Evaluation counted = dense.Evaluate(mapping);
    ExpectWhole(sparse->computes);
    EXPECT_EQ(sparse->computes.dense, problem.Macs());
    for (int l = 0; l < architecture.LevelCount(); ++l) {
      for (int t = 0; t < problem.TensorCount(); ++t) {
        if (!mapping.levels[l].Keeps(t)) continue;
        const SparseTraffic& traffic = sparse->levels[l][t];
        EXPECT_EQ(traffic.reads.dense, counted.levels[l].tensors[t].reads);
        EXPECT_EQ(traffic.fills.dense, counted.levels[l].tensors[t].fills);
        EXPECT_EQ(traffic.updates.dense, counted.levels[l].tensors[t].updates);
        ExpectWhole(traffic.reads);
        ExpectWhole(traffic.fills);
        ExpectWhole(traffic.updates);
        EXPECT_LE(traffic.occupancy, traffic.tile_words);
      }
    }
  }
}

TEST(SparseModel, FewerNonzerosNeverCostMore) {
  const Architecture architecture = SparseArchitecture();
  Problem problem = MatmulProblem(8, 12, 16);
  base::RandomStream random(13);
  for (int i = 0; i < 40; ++i) {
    const Mapping mapping = RandomMapping(problem, architecture, random);
    SCOPED_TRACE(PrintCompact(mapping, problem));
    int64_t computes = 0, cycles = 0, words = 0;
    for (const double density : {0.1, 0.25, 0.5, 0.75, 1.0}) {
      problem.tensors[0].density = MakeDensity("hypergeometric", density);
      const AnalyticalModel model(problem, architecture);
      const auto sparse = model.EvaluateSparse(mapping);
      int64_t moved = 0;
      for (int l = 0; l < architecture.LevelCount(); ++l) {
        for (int t = 0; t < problem.TensorCount(); ++t) {
          moved += sparse->levels[l][t].reads.actual + sparse->levels[l][t].updates.actual;
        }
      }
      EXPECT_GE(sparse->computes.actual, computes);
      EXPECT_GE(sparse->compute_cycles, cycles);
      EXPECT_GE(moved, words - 4) << density;  // counts are rounded
      computes = sparse->computes.actual;
      cycles = sparse->compute_cycles;
      words = moved;
    }
  }
}

/// Inputs are read for tiles of weights of which some are empty.
constexpr char kTiled[] = R"(
mapping:
- {target: Outer, type: temporal, factors: I=4 J=2 K=4, permutation: JKI}
- {target: Inner, type: temporal, factors: I=1 J=2 K=2, permutation: JKI}
)";

Architecture TwoLevels() {
  Architecture architecture;
  architecture.name = "two";
  architecture.levels = {{.name = "Inner", .words = 64}, {.name = "Outer"}};
  return architecture;
}

TEST(SparseModel, SkipsWhatRandomZerosSkip) {
  Architecture architecture = TwoLevels();
  architecture.levels[1].sparsity.actions.push_back(
      Action(ActionOptimization::Kind::kSkipping, "Inputs", {"Weights"}));
  Problem problem = MatmulProblem(4, 4, 8);
  constexpr int kWords = 32, kNonzeros = 6;
  problem.tensors[0].density = MakeDensity("hypergeometric", double{kNonzeros} / kWords);
  const AnalyticalModel model(problem, architecture);
  const Mapping mapping = ParseMappingYaml(kTiled, "tiled.yaml", problem, architecture);
  const auto sparse = model.EvaluateSparse(mapping);
  const ActionCounts& reads = sparse->levels[1][1].reads;
  // Two words of inputs come in for two rows of weights, and stay for all four columns of these.
  ASSERT_EQ(reads.dense, 32);
  base::RandomStream random(14);
  std::vector<int> words(kWords);
  constexpr int kDraws = 20000;
  double empty = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::iota(words.begin(), words.end(), 0);
    for (int i = 0; i < kNonzeros; ++i) {
      std::swap(words[i], words[i + random.UniformInt(kWords - i)]);
    }
    bool has_nonzero[4] = {};
    for (int i = 0; i < kNonzeros; ++i) has_nonzero[words[i] / 4 / 2] = true;  // rows of four words
    empty += static_cast<double>(std::count(has_nonzero, has_nonzero + 4, false)) / 4;
  }
  empty /= kDraws;
  EXPECT_NEAR(static_cast<double>(reads.skipped), empty * 32, 1 + 0.2);
  // What does not arrive is not multiplied.
  EXPECT_NEAR(static_cast<double>(sparse->computes.Absent()) / 128, empty, 0.02);
}

TEST(SparseModel, TwoOfFourIsTwiceAsFast) {
  using enum ActionOptimization::Kind;
  Architecture architecture = TwoLevels();
  Problem problem = MatmulProblem(4, 4, 8);
  problem.tensors[0].density = ParseDensity("2:4");
  for (int l = 0; l < 2; ++l) {
    architecture.levels[l].sparsity.formats.push_back(
        Format("Weights", {RankFormat::kOffsetPair, RankFormat::kOffsetPair,
                           RankFormat::kOffsetPair, RankFormat::kCoordinatePayload}));
    architecture.levels[l].sparsity.formats[0].inner_to_outer = true;
  }
  TensorFormat& outer = architecture.levels[1].sparsity.formats[0];
  outer = Outside(outer, 2);
  architecture.levels[0].sparsity.actions = {Action(kSkipping, "Inputs", {"Weights"}),
                                             Action(kSkipping, "Outputs", {"Weights"})};
  const AnalyticalModel model(problem, architecture), dense(problem, TwoLevels());
  const Mapping mapping = ParseMappingYaml(kTiled, "tiled.yaml", problem, architecture);
  EXPECT_EQ(dense.Evaluate(mapping).cycles, 128);
  EXPECT_EQ(model.Evaluate(mapping).cycles, 64);
  const auto sparse = model.EvaluateSparse(mapping);
  EXPECT_EQ(sparse->levels[1][0].reads.actual * 2, sparse->levels[1][0].reads.dense);
  EXPECT_EQ(sparse->levels[0][0].occupancy * 2, sparse->levels[0][0].tile_words);
}

TEST(SparseModel, InstancesTakeUpTheWorkOfEmptyOnes) {
  Architecture architecture = TwoLevels();
  architecture.arithmetic.instances = architecture.arithmetic.mesh_x = 4;
  Problem problem = MatmulProblem(4, 4, 8);
  problem.tensors[0].density = ParseDensity("2:4");
  // K eight wide over four multipliers.
  constexpr char kWide[] = R"(
mapping:
- {target: Outer, type: temporal, factors: I=4 J=4 K=1, permutation: IJK}
- {target: Inner, type: spatial, factors: I=1 J=1 K=8, permutation: KIJ, split: 3}
)";
  const AnalyticalModel dense(problem, architecture);
  const Mapping mapping = ParseMappingYaml(kWide, "wide.yaml", problem, architecture);
  EXPECT_FALSE(dense.Fits(mapping));
  using enum ActionOptimization::Kind;
  const TensorFormat format =
      Format("Weights", {RankFormat::kOffsetPair, RankFormat::kCoordinatePayload});
  architecture.levels[0].sparsity.formats = {format};
  architecture.levels[1].sparsity.formats = {Outside(format, 2)};
  architecture.levels[0].sparsity.actions = {Action(kSpatialSkipping, "Inputs", {"Weights"}),
                                             Action(kSpatialSkipping, "Outputs", {"Weights"})};
  const AnalyticalModel model(problem, architecture);
  EXPECT_TRUE(model.Fits(mapping)) << model.CheckFit(mapping).error().message;
  const Evaluation evaluation = model.Evaluate(mapping);
  EXPECT_EQ(evaluation.cycles, 16);  // 64 of 128 multiplications, four at a time
  EXPECT_EQ(evaluation.utilization, 1);
  problem.tensors[0].density = ParseDensity("3:4");
  EXPECT_FALSE(AnalyticalModel(problem, architecture).Fits(mapping));
}

TEST(SparseModel, CapacityIsForAsManyNonzerosAsIsAskedFor) {
  Architecture architecture = TwoLevels();
  Problem problem = MatmulProblem(4, 4, 8);
  problem.tensors[0].density = MakeDensity("hypergeometric", 0.25);
  TensorFormat format = Format("Weights", {RankFormat::kOffsetPair, RankFormat::kOffsetPair,
                                           RankFormat::kOffsetPair, RankFormat::kBitmask});
  format.inner_to_outer = true;
  for (RankSpec& rank : format.ranks) rank.payload_bits = 0;
  architecture.levels[0].sparsity.formats = {format};
  architecture.levels[1].sparsity.formats = {Outside(format, 2)};
  const Mapping mapping = ParseMappingYaml(kTiled, "tiled.yaml", problem, architecture);
  // A tile of inner weights has four words, one of them nonzero on average; two inputs, two
  // outputs.
  const auto words_needed = [&](double fits) {
    architecture.levels[0].sparsity.fit_probability = fits;
    int64_t& words = architecture.levels[0].words;
    for (words = 1; words < 64; ++words) {
      if (AnalyticalModel(problem, architecture).Fits(mapping)) break;
    }
    return words;
  };
  // One word more for the four flags.
  EXPECT_EQ(words_needed(1), 4 + 2 + 2 + 1);
  EXPECT_EQ(words_needed(kFitsExpected), 1 + 2 + 2 + 1);
  EXPECT_EQ(words_needed(0.9), 2 + 2 + 2 + 1);
  // Metadata in a memory of its own.
  LevelSparsity& inner = architecture.levels[0].sparsity;
  inner.metadata_width_bits = 1;
  inner.metadata_depth = 4;
  EXPECT_EQ(words_needed(kFitsExpected), 1 + 2 + 2);
  inner.metadata_depth = 3;
  inner.fit_probability = 1;
  architecture.levels[0].words = 64;
  EXPECT_THAT(AnalyticalModel(problem, architecture).CheckFit(mapping).error().message,
              testing::HasSubstr("metadata of 4 bits"));
  inner.metadata_depth = 0;
  inner.formats[0].ranks.resize(1);
  inner.formats[0].ranks[0] = {.format = RankFormat::kCoordinatePayload, .flattened = {}};
  EXPECT_THAT(AnalyticalModel(problem, architecture).CheckFit(mapping).error().message,
              testing::HasSubstr("more ranks"));
}

TEST(SparseModel, NarrowWordsTakeLessOfEverything) {
  const Architecture architecture = TwoLevels();
  Problem problem = MatmulProblem(4, 4, 8);
  const Mapping mapping = ParseMappingYaml(kTiled, "tiled.yaml", problem, architecture);
  const Evaluation wide = AnalyticalModel(problem, architecture).Evaluate(mapping);
  problem.tensors[0].word_bits = 4;
  Architecture tight = architecture;
  tight.levels[0].words = 1 + 2 + 2;  // four weights in one word of 16 bits
  tight.levels[0].access_energy_pj = tight.levels[1].access_energy_pj = 1;
  const AnalyticalModel model(problem, tight);
  EXPECT_TRUE(model.Fits(mapping));
  const Evaluation narrow = model.Evaluate(mapping);
  EXPECT_EQ(narrow.levels[1].tensors[0].reads, wide.levels[1].tensors[0].reads);
  EXPECT_DOUBLE_EQ(narrow.levels[1].tensors[0].energy_pj,
                   std::ceil(static_cast<double>(wide.levels[1].tensors[0].reads) / 4));
  problem.tensors[0].word_bits = 0;
  EXPECT_FALSE(AnalyticalModel(problem, tight).Fits(mapping));
}

TEST(SparseModel, MappersUseTheCapacityThatZerosLeave) {
  Architecture architecture = TwoLevels();
  architecture.levels[0].words = 40;
  architecture.levels[0].access_energy_pj = 1;
  architecture.levels[1].access_energy_pj = 200;
  Problem problem = MatmulProblem(16, 16, 16);
  problem.tensors[0].density = MakeDensity("hypergeometric", 0.2);
  Architecture sparse = architecture;
  for (StorageLevel& level : sparse.levels) {
    TensorFormat format = Format("Weights", std::vector<RankFormat>(3, RankFormat::kOffsetPair));
    format.ranks.push_back({.format = RankFormat::kCoordinatePayload, .flattened = {}});
    format.inner_to_outer = true;
    const bool is_outer = &level == &sparse.levels[1];
    level.sparsity.formats = {is_outer ? Outside(format, 6) : format};
    level.sparsity.metadata_width_bits = 8;
    level.sparsity.fit_probability = kFitsExpected;
    level.sparsity.actions = {Action(ActionOptimization::Kind::kSkipping, "Inputs", {"Weights"})};
  }
  const auto search = [&](const Architecture& on) {
    const Mapspace mapspace(problem, on);
    const AnalyticalModel model(problem, on);
    const auto evaluator = MakeModelEvaluator(model, {MapObjective::kEnergy});
    MapperOptions options;
    options.run.budget.trials = 2000;
    options.run.seed = 3;
    const MapperResult result = RunMapper("genetic", mapspace, model, *evaluator, options);
    EXPECT_TRUE(result.best.has_value());
    EXPECT_TRUE(model.Fits(*result.best));
    return result;
  };
  const MapperResult dense = search(architecture), best = search(sparse);
  EXPECT_LT(best.value, dense.value);
  EXPECT_FALSE(AnalyticalModel(problem, architecture).Fits(*best.best));
}

}  // namespace
}  // namespace bayloom::mapspace
