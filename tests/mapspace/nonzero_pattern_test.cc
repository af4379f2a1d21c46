// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/nonzero_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/optimization.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::mapspace {
namespace {

/// Calls `visit` with every point of a box.
void ForEachPoint(const Extents& begin, const Extents& end,
                  const std::function<void(const Extents&)>& visit) {
  Extents at = begin;
  for (;;) {
    visit(at);
    int d = 0;
    for (; d < kMaxDimensions; ++d) {
      if (++at[d] < end[d]) break;
      at[d] = begin[d];
    }
    if (d == kMaxDimensions) return;
  }
}

/// The index of the word that a point of the iteration space touches.
int64_t WordAt(const DataSpace& tensor, const std::vector<int64_t>& lengths, const Extents& point) {
  int64_t index = 0;
  for (size_t a = 0; a < lengths.size(); ++a) {
    int64_t at = 0;
    for (const AxisTerm& term : tensor.axes[a]) at += term.coefficient * point[term.dimension];
    index = index * lengths[a] + at;
  }
  return index;
}

/// Nonzeros of every tile of the tensor, over the dimensions that index it, by going through all
/// words of the box that the tile touches.
std::vector<int64_t> TilesByHand(const DataSpace& tensor, const Extents& bounds,
                                 const Nonzeros& nonzeros, const Extents& tile) {
  Extents tiles = kUnitExtents;
  for (int d = 0; d < kMaxDimensions; ++d) {
    if ((tensor.Indexed() >> d & 1) != 0) tiles[d] = (bounds[d] + tile[d] - 1) / tile[d];
  }
  std::vector<int64_t> counts;
  Extents zero{};
  ForEachPoint(zero, tiles, [&](const Extents& at) {
    std::vector<int64_t> begin, end;
    for (const std::vector<AxisTerm>& axis : tensor.axes) {
      int64_t first = 0, last = 0;
      for (const AxisTerm& term : axis) {
        const int d = term.dimension;
        first += term.coefficient * at[d] * tile[d];
        last += term.coefficient * (std::min((at[d] + 1) * tile[d], bounds[d]) - 1);
      }
      begin.push_back(first);
      end.push_back(last + 1);
    }
    int64_t count = 0;
    std::vector<int64_t> word = begin;
    for (;;) {
      int64_t index = 0;
      for (size_t a = 0; a < word.size(); ++a) index = index * nonzeros.lengths[a] + word[a];
      count += nonzeros.flags[index];
      size_t a = 0;
      for (; a < word.size(); ++a) {
        if (++word[a] < end[a]) break;
        word[a] = begin[a];
      }
      if (a == word.size()) break;
    }
    counts.push_back(count);
  });
  return counts;
}

void ExpectStatistics(const TileStatistics& statistics, const std::vector<int64_t>& counts) {
  std::map<double, double> shares;
  double mean = 0;
  for (const int64_t count : counts) {
    shares[static_cast<double>(count)] += 1.0 / static_cast<double>(counts.size());
    mean += static_cast<double>(count) / static_cast<double>(counts.size());
  }
  ASSERT_EQ(statistics.values.size(), shares.size());
  auto share = shares.begin();
  for (const auto& [value, probability] : statistics.values) {
    EXPECT_EQ(value, share->first);
    EXPECT_NEAR(probability, share->second, 1e-12);
    ++share;
  }
  EXPECT_NEAR(statistics.mean, mean, 1e-9);
}

std::shared_ptr<const Nonzeros> RandomNonzeros(const std::vector<int64_t>& lengths,
                                               base::RandomStream& random) {
  int64_t words = 1;
  for (const int64_t length : lengths) words *= length;
  Nonzeros nonzeros{.lengths = lengths, .flags = std::vector<uint8_t>(words), .count = 0};
  for (uint8_t& flag : nonzeros.flags) nonzeros.count += flag = random.Uniform() < 0.3 ? 1 : 0;
  return std::make_shared<const Nonzeros>(std::move(nonzeros));
}

/// A divisor of the bound of every dimension.
Extents RandomTile(const Extents& bounds, base::RandomStream& random) {
  Extents tile = kUnitExtents;
  for (int d = 0; d < kMaxDimensions; ++d) {
    do {
      tile[d] = 1 + static_cast<int64_t>(random.Uniform() * static_cast<double>(bounds[d]));
    } while (bounds[d] % tile[d] != 0);
  }
  return tile;
}

TEST(NonzeroPattern, CountsTilesOfBandsAsGoingThroughAllOfThem) {
  const Problem problem = MatmulProblem(12, 12, 8);
  const Extents bounds = problem.Whole();
  for (const int t : {0, 1}) {
    DataSpace tensor = problem.tensors[t];
    for (const int64_t width : {0, 1, 3, 20}) {
      tensor.density = BandedDensity(width);
      const DensityModel model(tensor, bounds);
      const Nonzeros band = BandOf(tensor.AxisLengths(bounds), width);
      for (const int64_t rows : {1, 2, 4}) {
        for (const int64_t columns : {1, 2, 4}) {
          Extents tile = kUnitExtents;
          tile[tensor.axes[0][0].dimension] = rows;
          tile[tensor.axes[1][0].dimension] = columns;
          const std::vector<int64_t> counts = TilesByHand(tensor, bounds, band, tile);
          ExpectStatistics(*model.pattern()->Occupancies(tile), counts);
          const TensorTile of(tensor, tile);
          const auto empty = static_cast<double>(std::ranges::count(counts, 0));
          EXPECT_NEAR(model.EmptyProbability(of), empty / static_cast<double>(counts.size()),
                      1e-12);
          EXPECT_EQ(model.MaxOccupancy(of), std::ranges::max(counts));
          EXPECT_EQ(model.MinOccupancy(of), std::ranges::min(counts));
          // Tiles do not overlap: their mean is the tensor's density.
          EXPECT_NEAR(model.ExpectedOccupancy(of) / static_cast<double>(of.words),
                      static_cast<double>(band.count) / static_cast<double>(band.Words()), 1e-12);
        }
      }
    }
  }
}

// Timeloop's model of a band says how many nonzeros there are: n on the diagonal, 2 (n - k) on the
// k-th ones beside it (workload/density-models/banded-distribution of NVlabs/timeloop).
TEST(NonzeroPattern, BandsHaveTheirDiagonals) {
  for (const int64_t width : {0, 1, 5}) {
    int64_t expected = 16;
    for (int64_t k = 1; k <= width; ++k) expected += 2 * (16 - k);
    EXPECT_EQ(BandOf({16, 16}, width).count, expected);
  }
  EXPECT_EQ(BandOf({1, 5, 1, 3}, 0).count, 3);
}

TEST(NonzeroPattern, CountsTilesOfWindowsAsGoingThroughAllOfThem) {
  const Problem problem = Conv2dProblem(
      {.r = 3, .s = 2, .p = 4, .q = 6, .c = 4, .m = 3, .p_stride = 2, .s_dilation = 2});
  const Extents bounds = problem.Whole();
  base::RandomStream random(3);
  for (int i = 0; i < 60; ++i) {
    for (const DataSpace& tensor : problem.tensors) {
      const auto nonzeros = RandomNonzeros(tensor.AxisLengths(bounds), random);
      const NonzeroPattern pattern(tensor, bounds, nonzeros);
      const Extents tile = RandomTile(bounds, random);
      ExpectStatistics(*pattern.Occupancies(tile), TilesByHand(tensor, bounds, *nonzeros, tile));
    }
  }
}

TEST(NonzeroPattern, CountsNonemptyPartsOfTiles) {
  const Problem problem = MatmulProblem(12, 8, 6);
  const Extents bounds = problem.Whole();
  base::RandomStream random(4);
  const DataSpace& tensor = problem.tensors[0];
  for (int i = 0; i < 60; ++i) {
    const auto nonzeros = RandomNonzeros(tensor.AxisLengths(bounds), random);
    const NonzeroPattern pattern(tensor, bounds, nonzeros);
    const Extents tile = RandomTile(bounds, random), part = RandomTile(tile, random);
    // Without windows the parts of a tile are those of the tensor that lie in it.
    const std::vector<int64_t> parts = TilesByHand(tensor, bounds, *nonzeros, part);
    const auto nonempty =
        static_cast<double>(std::ranges::count_if(parts, [](int64_t count) { return count > 0; }));
    const auto shares = pattern.NonemptyParts(tile, part);
    EXPECT_NEAR(shares->mean, nonempty / static_cast<double>(parts.size()), 1e-12);
    EXPECT_LE(shares->mean, shares->At(1) + 1e-12);
    EXPECT_EQ(shares->At(kFitsExpected), shares->mean);
    EXPECT_LE(shares->At(0.5), shares->At(1));
    // As parts of themselves tiles are there or not.
    EXPECT_NEAR(pattern.NonemptyParts(tile, tile)->mean,
                1 - (pattern.Occupancies(tile)->values.front().first == 0
                         ? pattern.Occupancies(tile)->values.front().second
                         : 0),
                1e-12);
  }
}

TEST(NonzeroPattern, CountsTilesOfTwoTensorsTogether) {
  const Problem problem =
      Conv2dProblem({.r = 2, .s = 1, .p = 4, .q = 3, .c = 4, .m = 3, .p_stride = 2});
  const Extents bounds = problem.Whole();
  base::RandomStream random(5);
  for (int i = 0; i < 60; ++i) {
    const DataSpace &a = problem.tensors[0], &b = problem.tensors[1];
    const auto of_a = RandomNonzeros(a.AxisLengths(bounds), random);
    const auto of_b = RandomNonzeros(b.AxisLengths(bounds), random);
    const NonzeroPattern first(a, bounds, of_a), second(b, bounds, of_b);
    int64_t both = 0, points = 0;
    ForEachPoint(Extents{}, bounds, [&](const Extents& at) {
      ++points;
      both += of_a->flags[WordAt(a, of_a->lengths, at)] & of_b->flags[WordAt(b, of_b->lengths, at)];
    });
    EXPECT_NEAR(first.NonemptyTogether(kUnitExtents, second, kUnitExtents),
                static_cast<double>(both) / static_cast<double>(points), 1e-12);
    // A tile of everything is never empty, and takes nothing away.
    const Extents tile = RandomTile(bounds, random);
    const auto occupancies = first.Occupancies(tile);
    const double empty =
        occupancies->values.front().first == 0 ? occupancies->values.front().second : 0;
    EXPECT_NEAR(first.NonemptyTogether(tile, second, bounds), 1 - empty, 1e-12);
    EXPECT_NEAR(second.NonemptyTogether(bounds, first, tile), 1 - empty, 1e-12);
  }
}

TEST(NonzeroPattern, SaysTheSameToSeveralThreads) {
  const Problem problem = MatmulProblem(24, 24, 24);
  const Extents bounds = problem.Whole();
  base::RandomStream random(6);
  const DataSpace& tensor = problem.tensors[0];
  const NonzeroPattern pattern(tensor, bounds, RandomNonzeros(tensor.AxisLengths(bounds), random));
  std::vector<double> means(4);
  std::vector<std::thread> threads;
  for (double& mean : means) {
    threads.emplace_back([&pattern, &bounds, &mean] {
      base::RandomStream own(7);
      for (int i = 0; i < 200; ++i) mean += pattern.Occupancies(RandomTile(bounds, own))->mean;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(means, means[0]), 4);
}

TEST(NonzeroPattern, RefusesOtherTensors) {
  Problem problem = MatmulProblem(4, 4, 4);
  const Extents bounds = problem.Whole();
  const auto band = std::make_shared<const Nonzeros>(BandOf({4, 5}, 1));
  EXPECT_EQ(
      MessageOf([&] { NonzeroPattern(problem.tensors[0], bounds, band); }),
      "tensor '" + problem.tensors[0].name + "' is of 4x4 words, its nonzeros are of one of 4x5");
  problem.tensors[0].axes[1] = problem.tensors[0].axes[0];
  EXPECT_THROW(NonzeroPattern(problem.tensors[0], bounds,
                              std::make_shared<const Nonzeros>(BandOf({4, 4}, 1))),
               InputError);
  EXPECT_THROW(BandOf({4}, 1), InputError);
  EXPECT_THROW(BandOf({2, 3, 4}, 1), InputError);
  EXPECT_THROW(BandOf({100'000, 100'000}, 1), InputError);
}

class NonzerosFile : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  static std::string Array(const std::string& type, const std::string& order,
                           const std::string& shape, const std::string& data) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
    header.resize(117, ' ');
    header += '\n';
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
  }

  TemporaryFolder folder_;
};

using Flags = std::vector<uint8_t>;

TEST_F(NonzerosFile, ReadsMasksWithTheFirstAxisFastest) {
  const Nonzeros mask = ReadNonzeros(Write("mask.txt", "10\n01\n11\n"), {2, 3});
  EXPECT_EQ(mask.flags, (Flags{1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(mask.count, 4);
  EXPECT_NE(DigestOf(mask), DigestOf(ReadNonzeros(Write("other.txt", "100111"), {3, 2})));
}

TEST_F(NonzerosFile, ReadsArraysOfEitherOrder) {
  const std::string bytes("\x01\x00\x00\x07\x00\x00", 6);
  EXPECT_EQ(ReadNonzeros(Write("c.npy", Array("|u1", "False", "2, 3", bytes)), {2, 3}).flags,
            (Flags{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(ReadNonzeros(Write("f.npy", Array("|b1", "True", "2, 3", bytes)), {1, 2, 3}).flags,
            (Flags{1, 0, 0, 0, 1, 0}));
  // 0, -0 and the least number that is not 0, either way round.
  const std::string floats("\0\0\0\0\0\0\0\x80\x01\0\0\0", 12);
  EXPECT_EQ(ReadNonzeros(Write("l.npy", Array("<f4", "False", "3,", floats)), {3}).flags,
            (Flags{0, 0, 1}));
  const std::string big("\0\0\0\0\x80\0\0\0\0\0\0\x01", 12);
  EXPECT_EQ(ReadNonzeros(Write("b.npy", Array(">f4", "False", "3,", big)), {3}).flags,
            (Flags{0, 0, 1}));
}

TEST_F(NonzerosFile, ReadsCoordinates) {
  const std::string matrix =
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 2 3\n1 1 2.5\n3 2 1e-3\n"
      "2 1 0\n";
  EXPECT_EQ(ReadNonzeros(Write("a.mtx", matrix), {3, 2}).flags, (Flags{1, 0, 0, 0, 0, 1}));
  const std::string symmetric =
      "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
  EXPECT_EQ(ReadNonzeros(Write("s.mtx", symmetric), {2, 2}).flags, (Flags{1, 1, 1, 0}));
  EXPECT_EQ(ReadNonzeros(Write("a.tns", "# t\n1 1 2 1.0\n2 1 1 -3\n"), {2, 1, 2}).flags,
            (Flags{0, 1, 1, 0}));
}

TEST_F(NonzerosFile, RefusesWhatIsNoneInOneLine) {
  const auto message = [&](const std::string& name, const std::string& text) {
    const std::string path = Write(name, text);
    std::string said = MessageOf([&] { ReadNonzeros(path, {2, 3}); });
    EXPECT_TRUE(said.starts_with(path + ": ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    return said.substr(std::min(said.size(), path.size() + 2));
  };
  EXPECT_EQ(message("a.txt", "10101"), "has 5 words, the tensor 6 (2x3)");
  EXPECT_EQ(message("a.txt", "1010111"), "has 7 words, the tensor 6 (2x3)");
  EXPECT_EQ(message("a.txt", "000000"), "no word of the tensor is not zero");
  EXPECT_EQ(message("a.txt", "1 2"),
            "expected 0 and 1 for every word; other files are .npy, .mtx and .tns");
  EXPECT_EQ(message("a.npy", "text"), "is no array of NumPy");
  EXPECT_EQ(message("a.npy", std::string("\x93NUMPY\x01\x00\xff\xff    ", 14)),
            "is no array of NumPy");
  EXPECT_EQ(message("a.npy", Array("|u1", "False", "3, 2", "aaaaaa")),
            "is of 3x2, the tensor of 2x3");
  EXPECT_EQ(message("a.npy", Array("|u1", "False", "2, 3", "aaaaa")),
            "ends too early, or too late");
  EXPECT_EQ(message("a.npy", Array("<U1", "False", "2, 3", "aaaaaa")),
            "is no array of numbers or truth values");
  EXPECT_EQ(message("a.mtx", "1 1 1\n"), "is no matrix in coordinates of Matrix Market");
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n"),
            "is of 3x2, the tensor of 2x3");
  EXPECT_EQ(message("a.tns", "1 4 1\n"), "'1 4 1' are no coordinates from 1 to 2, 3");
  EXPECT_EQ(message("a.tns", "1 1\n"), "'1 1' are not 2 coordinates and a number");
  EXPECT_THROW(ReadNonzeros(folder_ / "none.npy", {2, 3}), InputError);
}

TEST_F(NonzerosFile, RefusesAFileThatHasChanged) {
  Problem problem = MatmulProblem(2, 3, 2);
  problem.tensors[0].density = RecordedDensity(Write("mask.txt", "101100"));
  ReadRecordedNonzeros(problem);
  DataSpace kept = problem.tensors[0];
  kept.density.nonzeros = nullptr;
  EXPECT_EQ(DensityModel(kept, problem.Whole()).MaxOccupancy(TensorTile(kept, problem.Whole())), 3);
  Write("mask.txt", "100100");
  EXPECT_THROW(DensityModel(kept, problem.Whole()), InputError);
}

}  // namespace
}  // namespace bayloom::mapspace
