// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/sparse/density.h"
#include "bayloom/mapspace/sparse/nonzero_pattern.h"

namespace bayloom::mapspace {

/// A tile of a tensor: its words and, for models that know where nonzeros are, what it takes of
/// each dimension of the problem.
struct TensorTile {
  int64_t words = 1;
  Extents extents = kUnitExtents;

  TensorTile() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): of most models the words are all.
  TensorTile(int64_t count) : words(count) {}
  TensorTile(const DataSpace& tensor, const Extents& tile)
      : words(tensor.BoxWords(tile)), extents(tile) {}
};

/// Numbers of nonzeros in tiles of a tensor, wherever the tile is.
class DensityModel {
 public:
  /// Of a tensor of so many words, or of the larger one that it is a part of. Not for densities
  /// with places.
  DensityModel(const Density& density, int64_t tensor_words);
  /// Of a tensor of a problem with these bounds. Throws InputError where its file cannot be read,
  /// is of another tensor, or has changed.
  DensityModel(const DataSpace& tensor, const Extents& bounds);

  /// That of tiles inside of a box which is known to hold so many nonzeros. Not for densities with
  /// places.
  DensityModel Given(int64_t box_words, int64_t nonzeros) const;
  /// Where the nonzeros are; nullptr if it is not known.
  const NonzeroPattern* pattern() const { return pattern_.get(); }

  /// The probability that a tile of so many words holds none, and that it holds so many.
  double EmptyProbability(const TensorTile& tile) const { return Probability(tile, 0); }
  double Probability(const TensorTile& tile, int64_t nonzeros) const;
  double ExpectedOccupancy(const TensorTile& tile) const;
  int64_t MinOccupancy(const TensorTile& tile) const;
  int64_t MaxOccupancy(const TensorTile& tile) const;
  /// The least number that is not exceeded with this probability; MaxOccupancy for 1.
  int64_t Quantile(const TensorTile& tile, double probability) const;
  /// Words that a compressed tile takes of a level's capacity: Quantile, or for kFitsExpected
  /// (optimization.h) the mean, rounded up.
  int64_t OccupancyFor(const TensorTile& tile, double fit_probability) const;
  /// All possible occupancies; where there are very many, some that stand for those around them,
  /// unless it is known where nonzeros are. Probabilities sum up to 1.
  std::vector<OccupancyPoint> Occupancies(const TensorTile& tile) const;

 private:
  DensityModel(Density density, int64_t words, int64_t nonzeros)
      : density_(std::move(density)), words_(words), nonzeros_(nonzeros) {}

  int64_t Clamp(int64_t tile_words) const { return tile_words < words_ ? tile_words : words_; }

  Density density_;
  int64_t words_;
  int64_t nonzeros_;  ///< in all words
  std::shared_ptr<const NonzeroPattern> pattern_;
};

/// Reads the files of a problem's recorded densities, so that models of the problem do not have to.
/// Throws InputError as DensityModel does.
void ReadRecordedNonzeros(Problem& problem);

}  // namespace bayloom::mapspace
