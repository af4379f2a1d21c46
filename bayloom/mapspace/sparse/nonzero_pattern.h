// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/sparse/nonzeros.h"

namespace bayloom::mapspace {

/// Numbers of nonzeros, and how likely they are together with those around them.
struct OccupancyPoint {
  int64_t occupancy;
  double probability;
};

/// Values over tiles, each with the share of tiles that have it, in ascending order.
struct TileStatistics {
  std::vector<std::pair<double, double>> values;
  double mean = 0;

  /// The least value that a share `probability` of all tiles does not exceed; for
  /// kFitsExpected the mean.
  double At(double probability) const;
};

/// A tensor of which it is known where its nonzeros are, as the tiles of mappings see it: those of
/// given extents whose origins are multiples of these, in every dimension that indexes the tensor.
/// Windows overlap as the loops of the mapping make them; the last tile of a dimension may be
/// smaller. Everything is counted, nothing estimated, once for each shape (Sparseloop's density
/// models of banded tensors and of actual data: Wu et al., MICRO 2022, sec. 5.3.2). Safe to use by
/// several threads.
class NonzeroPattern {
 public:
  /// Throws InputError unless lengths are those of the tensor's axes and no dimension indexes two
  /// axes.
  NonzeroPattern(const DataSpace& tensor, const Extents& bounds,
                 std::shared_ptr<const Nonzeros> nonzeros);

  int64_t words() const { return nonzeros_->Words(); }
  int64_t nonzeros() const { return nonzeros_->count; }

  /// Nonzeros of tiles.
  std::shared_ptr<const TileStatistics> Occupancies(const Extents& tile) const;
  /// Of the parts of these extents inside of tiles, the share that holds a nonzero. The extents of
  /// a part divide those of the tile.
  std::shared_ptr<const TileStatistics> NonemptyParts(const Extents& tile,
                                                      const Extents& part) const;
  /// The share of all points of the iteration space whose tile of this tensor and whose tile of the
  /// other one both hold a nonzero.
  double NonemptyTogether(const Extents& tile, const NonzeroPattern& other,
                          const Extents& other_tile) const;

 private:
  /// Of an axis: a dimension, its bound and its coefficient.
  struct Term {
    int dimension;
    int64_t bound;
    int64_t coefficient;
  };
  struct Axis {
    std::vector<Term> terms;
    int64_t length;
  };
  /// Where tiles are along an axis, each place once.
  struct Places {
    std::vector<std::pair<int64_t, int64_t>> spans;  ///< begin and end
    std::vector<int64_t> tiles;                      ///< at each of them
    std::vector<int32_t>
        of_tile;  ///< by the numbers of the tile along the terms, the first slowest
  };
  /// A flag for every tile, by its number along each of the dimensions.
  struct Grid {
    std::vector<int> dimensions;
    std::vector<int64_t> sizes;
    std::vector<uint8_t> nonempty;
  };

  Extents Normalized(Extents tile) const;
  Places PlacesAlong(const Axis& axis, const Extents& tile) const;
  /// Nonzeros at all places, the last axis fastest.
  std::vector<int32_t> CountsAt(const std::vector<Places>& places) const;
  Grid NonemptyGrid(const Extents& tile) const;
  /// Of a grid, the share of tiles that are not empty for each of the numbers along `shared`.
  static std::vector<double> MeansOver(const Grid& grid, const std::vector<int>& shared);

  std::vector<Axis> axes_;
  Extents bounds_;
  std::shared_ptr<const Nonzeros> nonzeros_;

  using Together = std::tuple<const NonzeroPattern*, Extents, Extents>;
  mutable std::mutex mutex_;
  mutable std::map<Extents, std::shared_ptr<const TileStatistics>> occupancies_;
  mutable std::map<std::pair<Extents, Extents>, std::shared_ptr<const TileStatistics>> parts_;
  mutable std::map<Together, double> together_;
};

}  // namespace bayloom::mapspace
