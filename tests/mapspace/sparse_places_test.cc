// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The sparse model where it is known which words are zero: counts are those of going through all
// points of the iteration space.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/sparse_model.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/random_mapping.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::mapspace {
namespace {

constexpr int64_t kM = 6, kN = 4, kK = 8;

constexpr char kTwoLevelChip[] = R"(arch:
  arithmetic: {name: mac, word-bits: 8}
  storage:
  - {name: Buffer, entries: 512, word-bits: 8, metadata_storage_width: 8,
     metadata_storage_depth: 512}
  - {name: Backing, entries: 4096, word-bits: 8, metadata_storage_width: 8,
     metadata_storage_depth: 4096}
sparse_optimizations:
  targets:
  - name: Backing
    representation-format:
      data-spaces:
      - name: A
        rank-application-order: inner-to-outer
        ranks: [{format: UOP}, {format: UOP}, {format: UOP}, {format: UOP}, {format: UOP}, {format: CP}]
      - name: B
        rank-application-order: inner-to-outer
        ranks: [{format: UOP}, {format: UOP}, {format: UOP}, {format: UOP}, {format: UOP}, {format: CP}]
  - name: Buffer
    representation-format:
      data-spaces:
      - {name: A, ranks: [{format: UOP}, {format: UOP}, {format: CP}],
         rank-application-order: inner-to-outer}
      - {name: B, ranks: [{format: UOP}, {format: UOP}, {format: CP}],
         rank-application-order: inner-to-outer}
    action-optimization:
    - {type: skipping, target: B, condition-on: [A]}
    - {type: skipping, target: Z, condition-on: [A, B]}
  - name: mac
    compute-optimization: [{type: skipping}]
)";

std::string ProblemText(const std::string& a, const std::string& b) {
  return fmt::format(R"(problem:
  shape:
    name: matmul
    dimensions: [M, N, K]
    data-spaces:
    - {{name: A, projection: [[[M]], [[K]]]}}
    - {{name: B, projection: [[[N]], [[K]]]}}
    - {{name: Z, projection: [[[M]], [[N]]], read-write: True}}
  instance: {{M: {}, N: {}, K: {}, densities: {{A: {}, B: {}}}}}
)",
                     kM, kN, kK, a, b);
}

/// A text of 0 and 1, rows (the first axis) fastest; never all 0.
std::string RandomMask(int64_t words, base::RandomStream& random) {
  std::string mask;
  for (int64_t i = 0; i < words; ++i) mask += random.Uniform() < 0.4 ? '1' : '0';
  mask[static_cast<size_t>(random.UniformInt(words))] = '1';
  return mask;
}

struct PointCounts {
  int64_t both = 0, b = 0, a = 0;
};

PointCounts CountPoints(const std::string& a, const std::string& b) {
  PointCounts counts;
  for (int64_t m = 0; m < kM; ++m) {
    for (int64_t n = 0; n < kN; ++n) {
      for (int64_t k = 0; k < kK; ++k) {
        const bool in_a = a[m + k * kM] == '1', in_b = b[n + k * kN] == '1';
        counts.a += in_a ? 1 : 0;
        counts.b += in_b ? 1 : 0;
        counts.both += in_a && in_b ? 1 : 0;
      }
    }
  }
  return counts;
}

int64_t DivisorOf(int64_t extent, base::RandomStream& random) {
  int64_t divisor = 1;
  do {
    divisor = 1 + random.UniformInt(extent);
  } while (extent % divisor != 0);
  return divisor;
}

class SparsePlaces : public ::testing::Test {
 protected:
  Problem ReadWith(const std::string& a, const std::string& b) {
    std::ofstream(folder_ / "a.txt") << a;
    std::ofstream(folder_ / "b.txt") << b;
    std::ofstream(folder_ / "problem.yaml")
        << ProblemText("{distribution: real-data, data_file_path: a.txt}",
                       "{distribution: real-data, data_file_path: b.txt}");
    return ReadProblem(folder_ / "problem.yaml");
  }

  TemporaryFolder folder_;
  const Architecture chip_ = ParseArchitectureYaml(kTwoLevelChip, "chip.yaml");
};

TEST_F(SparsePlaces, CountsWhatGoingThroughAllPointsCounts) {
  base::RandomStream random(21);
  for (int i = 0; i < 60; ++i) {
    const std::string a = RandomMask(kM * kK, random), b = RandomMask(kN * kK, random);
    const Problem problem = ReadWith(a, b);
    const int64_t m = DivisorOf(kM, random), n = DivisorOf(kN, random), k = DivisorOf(kK, random);
    const Mapping mapping = ParseMappingYaml(
        fmt::format("mapping:\n"
                    "- {{target: Backing, type: temporal, factors: M={} N={} K={}, "
                    "permutation: MNK}}\n"
                    "- {{target: Buffer, type: temporal, factors: M={} N={} K={}, "
                    "permutation: MNK}}\n",
                    kM / m, kN / n, kK / k, m, n, k),
        "mapping.yaml", problem, chip_);
    SCOPED_TRACE(PrintCompact(mapping, problem));
    const AnalyticalModel model(problem, chip_);
    const auto sparse = model.EvaluateSparse(mapping);
    const PointCounts points = CountPoints(a, b);
    // Words of B are read where they are there, and skipped where A is zero.
    const SparseTraffic& of_b = sparse->levels[0][1];
    // Counts are of an instance: tiles that are empty never come to one.
    const auto all = [&](int64_t count) { return of_b.instances * static_cast<double>(count); };
    EXPECT_NEAR(all(of_b.reads.actual), points.both, 1.5);
    EXPECT_NEAR(all(of_b.reads.skipped), points.b - points.both, 1.5);
    // Products of nonzeros are done; where only A is there they are skipped.
    EXPECT_NEAR(sparse->computes.actual, points.both, 1);
    EXPECT_NEAR(sparse->computes.skipped, points.a - points.both, 1);
    EXPECT_NEAR(sparse->levels[0][2].updates.actual, points.both, 1);
    // Tiles take what the fullest of them takes.
    int64_t fullest = 0;
    for (int64_t row = 0; row < kN; row += n) {
      for (int64_t column = 0; column < kK; column += k) {
        int64_t count = 0;
        for (int64_t x = row; x < row + n; ++x) {
          for (int64_t y = column; y < column + k; ++y) count += b[x + y * kN] == '1' ? 1 : 0;
        }
        fullest = std::max(fullest, count);
      }
    }
    EXPECT_EQ(of_b.occupancy, fullest);
    EXPECT_EQ(sparse->levels[1][1].occupancy, std::ranges::count(b, '1'));
    EXPECT_EQ(sparse->levels[1][1].ranks.front().occupancy.metadata, std::ranges::count(b, '1'));
  }
}

TEST_F(SparsePlaces, NoActionIsLostOrCountedTwice) {
  base::RandomStream random(22);
  Architecture chip = chip_;
  for (StorageLevel& level : chip.levels) {
    for (TensorFormat& format : level.sparsity.formats) {
      format.ranks.insert(format.ranks.begin(), 6,
                          {.format = RankFormat::kOffsetPair, .flattened = {}});
    }
  }
  for (int i = 0; i < 100; ++i) {
    const Problem problem = ReadWith(RandomMask(kM * kK, random), RandomMask(kN * kK, random));
    const AnalyticalModel model(problem, chip);
    const Mapping mapping = RandomMapping(problem, chip, random);
    SCOPED_TRACE(PrintCompact(mapping, problem));
    const auto sparse = model.EvaluateSparse(mapping);
    for (int l = 0; l < chip.LevelCount(); ++l) {
      for (int t = 0; t < problem.TensorCount(); ++t) {
        if (!mapping.levels[l].Keeps(t)) continue;
        const SparseTraffic& traffic = sparse->levels[l][t];
        for (const ActionCounts* counts : {&traffic.reads, &traffic.fills, &traffic.updates}) {
          EXPECT_GE(counts->actual, 0);
          EXPECT_GE(counts->skipped, 0);
          EXPECT_GE(counts->Absent(), 0);
        }
        EXPECT_LE(traffic.occupancy, traffic.tile_words);
      }
    }
    EXPECT_GE(sparse->computes.actual, 0);
    EXPECT_GE(sparse->computes.Absent(), 0);
  }
}

TEST_F(SparsePlaces, BandsCostWhatTheSameNonzerosInAFileCost) {
  constexpr int64_t kWidth = 2;
  std::string a, b;
  for (int64_t k = 0; k < kK; ++k) {
    for (int64_t m = 0; m < kM; ++m) a += std::abs(m - k) <= kWidth ? '1' : '0';
    for (int64_t n = 0; n < kN; ++n) b += std::abs(n - k) <= kWidth ? '1' : '0';
  }
  const Problem recorded = ReadWith(a, b);
  const Problem banded = ParseProblemYaml(ProblemText("{distribution: banded, band_width: 2}",
                                                      "{distribution: diagonal, band_width: 2}"),
                                          "problem.yaml");
  const AnalyticalModel first(recorded, chip_), second(banded, chip_);
  base::RandomStream random(23);
  for (int i = 0; i < 50; ++i) {
    const Mapping mapping = RandomMapping(banded, chip_, random);
    EXPECT_EQ(first.Evaluate(mapping).energy_pj, second.Evaluate(mapping).energy_pj);
    EXPECT_EQ(first.Fits(mapping), second.Fits(mapping));
  }
  // Mappers search them as they do others.
  MapperOptions options;
  options.run.budget.trials = 300;
  const Mapspace mapspace(banded, chip_, {});
  const auto evaluator = MakeModelEvaluator(second, {MapObjective::kEnergy});
  EXPECT_TRUE(RunMapper("genetic", mapspace, second, *evaluator, options).best);
}

TEST_F(SparsePlaces, FilesSayThemAgain) {
  const Problem recorded = ReadWith(std::string(kM * kK, '1'), std::string(kN * kK, '1'));
  EXPECT_EQ(ParseProblemYaml(PrintProblemYaml(recorded), "again"), recorded);
  const Problem banded = ParseProblemYaml(
      ProblemText("\"banded:3\"", "{distribution: banded, band-width: 1}"), "problem.yaml");
  EXPECT_EQ(banded.tensors[0].density, BandedDensity(3));
  EXPECT_EQ(ParseProblemYaml(PrintProblemYaml(banded), "again"), banded);
  EXPECT_NE(banded.Describe().find("A banded:3, B banded:1"), std::string::npos);
  EXPECT_EQ(ParseDensity("file:w.npy"), RecordedDensity("w.npy"));
  EXPECT_THROW(ParseDensity("banded:-1"), InputError);
  EXPECT_THROW(ParseDensity("banded:"), InputError);
  EXPECT_THROW(ParseDensity("file:"), InputError);
}

TEST_F(SparsePlaces, RefusesWhatIsNoneInOneLine) {
  std::ofstream(folder_ / "a.txt") << "1";
  std::ofstream(folder_ / "problem.yaml")
      << ProblemText("{distribution: real-data, data_file_path: a.txt}", "1");
  EXPECT_NE(MessageOf([&] {
              ReadProblem(folder_ / "problem.yaml");
            }).find("a.txt: has 1 words, the tensor 48 (6x8)"),
            std::string::npos);
  EXPECT_THROW(ParseProblemYaml(ProblemText("{distribution: banded, density: 0.3}", "1"), "p.yaml"),
               InputError);
  EXPECT_THROW(ParseProblemYaml(ProblemText("{distribution: real-data}", "1"), "p.yaml"),
               InputError);
}

}  // namespace
}  // namespace bayloom::mapspace
