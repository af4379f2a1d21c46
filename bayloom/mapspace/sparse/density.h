// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::mapspace {

/// How the nonzeros of a tensor are spread over it: what a density model is made from
/// (Sparseloop: Wu et al., MICRO 2022, sec. 5.3.2).
struct Density {
  enum class Kind : uint8_t {
    kDense,
    /// Every tile has its share of nonzeros, rounded up or down so that the mean is exact.
    kFixedStructured,
    /// n of every m consecutive words, anywhere among them ("2:4").
    kBlocked,
    /// Any set of nonzeros of this size is as likely as any other.
    kHypergeometric,
  };

  Kind kind = Kind::kDense;
  /// Of all words; above 0, at most 1.
  double fraction = 1;
  /// Of kBlocked.
  int64_t block_nonzeros = 1, block_words = 1;
  /// Of kHypergeometric: words of a larger tensor that the one described is a part of, over which
  /// the nonzeros are spread; 0: there is none.
  int64_t whole_words = 0;

  /// "dense", "0.3 fixed-structured", "2:4", "0.3 hypergeometric", "0.3 hypergeometric of 4096
  /// words".
  std::string Describe() const;

  bool operator==(const Density&) const = default;
};

/// "0.3" is hypergeometric, "2:4" blocked, "1" dense. Throws InputError.
Density ParseDensity(std::string_view text);
/// By the names of Timeloop's files: "fixed-structured" (or "fixed"), "hypergeometric" (or
/// "uniform"), with - or _. Throws InputError naming those that there are.
Density MakeDensity(std::string_view distribution, double fraction);

/// Numbers of nonzeros, and how likely they are together with those around them.
struct OccupancyPoint {
  int64_t occupancy;
  double probability;
};

/// Numbers of nonzeros in tiles of a tensor, wherever the tile is.
class DensityModel {
 public:
  /// Of a tensor of so many words, or of the larger one that it is a part of.
  DensityModel(const Density& density, int64_t tensor_words);

  /// That of tiles inside of a box which is known to hold so many nonzeros.
  DensityModel Given(int64_t box_words, int64_t nonzeros) const;

  /// The probability that a tile of so many words holds none, and that it holds so many.
  double EmptyProbability(int64_t tile_words) const { return Probability(tile_words, 0); }
  double Probability(int64_t tile_words, int64_t nonzeros) const;
  double ExpectedOccupancy(int64_t tile_words) const;
  int64_t MinOccupancy(int64_t tile_words) const;
  int64_t MaxOccupancy(int64_t tile_words) const;
  /// The least number that is not exceeded with this probability; MaxOccupancy for 1.
  int64_t Quantile(int64_t tile_words, double probability) const;
  /// Words that a compressed tile takes of a level's capacity: Quantile, or for kFitsExpected
  /// (optimization.h) the mean, rounded up.
  int64_t OccupancyFor(int64_t tile_words, double fit_probability) const;
  /// All possible occupancies; where there are very many, some that stand for those around them.
  /// Probabilities sum up to 1.
  std::vector<OccupancyPoint> Occupancies(int64_t tile_words) const;

 private:
  DensityModel(Density density, int64_t words, int64_t nonzeros)
      : density_(density), words_(words), nonzeros_(nonzeros) {}

  int64_t Clamp(int64_t tile_words) const { return tile_words < words_ ? tile_words : words_; }

  Density density_;
  int64_t words_;
  int64_t nonzeros_;  ///< in all words
};

}  // namespace bayloom::mapspace
