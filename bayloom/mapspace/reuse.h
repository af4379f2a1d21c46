// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

/// How the words that a moving tile brings in are counted.
enum class ReuseCounting : uint8_t {
  /// What the previous tile held stays, however the tile moves.
  kExact,
  /// As Timeloop 2.0 counts. It differs where a window slides (inputs of convolutions): of a loop
  /// it walks the first two iterations and takes the others for repetitions of the second, so that
  /// the next-outer loop seems to step on from there; overlap is lost when a tile moves along two
  /// axes or turns; and buffers that are fed in groups of different sizes are filled once for each
  /// size of group.
  kTimeloop,
};

/// One temporal loop outside a tile. `stride` is the extent of its dimension inside the loop: what
/// one iteration moves the tile by.
struct NestLoop {
  int dimension;
  int64_t count;
  int64_t stride;
};

/// How often a box of words is brought to instances side by side.
struct SpatialSpread {
  /// Different boxes: reads by the level outside. Equal boxes are read once and multicast, and sums
  /// into equal boxes merge on the way out.
  int64_t boxes = 1;
  /// Different numbers of instances that share a box.
  int group_sizes = 1;
};

/// What happens to one tensor while its tile moves through a loop nest.
class TensorReuse {
 public:
  explicit TensorReuse(const DataSpace& tensor);

  int64_t BoxWords(const Extents& tile) const;
  /// Whether neighbouring tiles may overlap.
  bool IsWindowed() const { return windowed_; }
  int AxisCount() const { return axis_count_; }
  /// What a step of the dimension moves the tile by along an axis; 0 if it does not index it.
  int64_t Coefficient(int axis, int dimension) const { return coefficients_[axis][dimension]; }
  /// Words of the box along each axis.
  std::array<int64_t, kMaxAxes> Widths(const Extents& tile) const;

  /// Words brought into a buffer that holds one tile and is refilled as the loops outside it
  /// (innermost first, counts above 1) move the tile: T per new tile, less what the previous tile
  /// held already (Timeloop: Parashar et al. 2019, sec. VI-A). The first tile counts as well.
  int64_t Deliveries(const Extents& tile, std::span<const NestLoop> loops,
                     ReuseCounting counting) const;

  /// `factors` instances per dimension side by side, each with a tile of extents `tile`.
  SpatialSpread Spread(const Extents& tile, const Extents& factors) const;

 private:
  using Vector = std::array<int64_t, kMaxAxes>;

  bool Indexes(int dimension) const { return (indexed_ >> dimension & 1) != 0; }
  /// By how much one iteration of the loop moves the tile along each axis.
  Vector Step(const NestLoop& loop) const;
  int64_t ExactDeliveries(const Extents& tile, std::span<const NestLoop> loops) const;
  int64_t TimeloopDeliveries(const Extents& tile, std::span<const NestLoop> loops) const;

  DimensionSet indexed_ = 0;
  int axis_count_;
  /// Whether an axis is indexed by a sum, so that consecutive tiles may overlap.
  bool windowed_ = false;
  /// coefficients_[axis][dimension], 0 if it does not index the axis.
  std::array<std::array<int64_t, kMaxDimensions>, kMaxAxes> coefficients_ = {};
  int dimension_count_ = 0;  ///< one more than the last that indexes
};

}  // namespace bayloom::mapspace
