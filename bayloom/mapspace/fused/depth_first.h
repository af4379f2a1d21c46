// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/fused/fused_network.h"

namespace bayloom::mapspace {

/// How the result of a group of operators is divided into tiles. All operators of the group run for
/// one tile before the next one begins (depth-first: Alwani et al. 2016; Mei et al., DeFiNES,
/// 2023).
struct DepthFirstTiling {
  struct Axis {
    int axis = 0;      ///< of the last operator's output
    int64_t size = 1;  ///< of a tile; the last one may be smaller
    /// Whether what neighbouring tiles along this axis both need is kept from one to the next; else
    /// it is computed, or read, again for each. Along columns and rows: DeFiNES' "fully cached";
    /// along columns only: "H-cached V-recompute"; along none: "fully recompute".
    bool is_cached = true;

    bool operator==(const Axis&) const = default;
  };

  std::vector<Axis> axes;  ///< the outermost loop first

  bool operator==(const DepthFirstTiling&) const = default;
};

/// Which part of every tensor each tile of a group computes.
///
/// The parts are boxes whose sides along each tiled axis depend on the position along that axis
/// only, so a group has few kinds of tiles: first, middle and last along each axis, and some more
/// where strides do not divide the tile.
class DepthFirstTiles {
 public:
  /// The operators [begin, end) of a network, which must outlive this. With
  /// `weights_are_streamed`, second operands of products that come from outside are not kept:
  /// see GroupCost. At the positions `starts` along the outermost tiled axis another core begins,
  /// which has nothing of what tiles before have computed. Fails where a tensor's part would be no
  /// such box.
  static Result<DepthFirstTiles> Make(const FusedNetwork& network, int begin, int end,
                                      const DepthFirstTiling& tiling,
                                      bool weights_are_streamed = false,
                                      std::vector<int64_t> starts = {});

  const FusedNetwork& network() const { return *network_; }
  int begin() const { return begin_; }
  int end() const { return end_; }
  const DepthFirstTiling& tiling() const { return tiling_; }
  int64_t TileCount() const;
  /// Positions along the outermost tiled axis; 1 without any.
  int64_t OuterPositions() const { return tiling_.axes.empty() ? 1 : Positions(0); }

  /// Tiles whose parts have the same sizes.
  struct Kind {
    int64_t count = 1;
    std::vector<int64_t> position;  ///< of one of them, a number for every tiled axis
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Those of the positions [first, last) along the outermost tiled axis.
  std::vector<Kind> KindsBetween(int64_t first, int64_t last) const;

  /// Whether tiles of a tensor are at the home level: it is used, and not only streamed.
  bool Keeps(int tensor) const { return parts_[tensor].is_used; }
  /// The part of a tensor that a tile computes, or reads from outside; nullopt where earlier tiles
  /// have done so. (A scalar's box has no sides, so that it is never empty.)
  std::optional<Box> NewBox(int tensor, std::span<const int64_t> position) const;
  /// Words of that, and of that over all tiles.
  int64_t NewWords(int tensor, std::span<const int64_t> position) const;
  int64_t NewWords(int tensor) const;

  /// Words kept of a tensor between tiles: of neighbours along the innermost axis as many columns
  /// as overlap, of those along outer axes whole lines of them; all of what every tile needs.
  int64_t KeptWords(int tensor) const;
  /// Words of a tensor that the tiles at the positions [first, last) along the outermost tiled axis
  /// use and tiles before them have computed.
  int64_t CarriedWords(int tensor, int64_t first, int64_t last) const;
  /// Whether a result of the group is computed whole by the first tiles, for all of them.
  bool HasSharedResult() const;
  /// Words that are kept, or new in this kind of tile, at the same time, the most while any
  /// operator runs. `weights`: of every operator of the group, those that are there while it runs,
  /// besides.
  int64_t PeakWords(const Kind& kind, std::span<const int64_t> weights) const {
    return PeakWords(kind, weights, begin_, end_);
  }
  /// What words of a tensor take.
  using Measure = std::function<int64_t(int tensor, int64_t words)>;
  /// The same where only the operators [begin, end) run, on a core of their own: of tensors that
  /// they read or write; `measure`, if there is one, in place of words.
  int64_t PeakWords(const Kind& kind, std::span<const int64_t> weights, int begin, int end,
                    const Measure& measure = {}) const;

 private:
  /// One tensor's part along one tiled axis, at one position.
  struct Side {
    bool is_needed = false;  ///< whether the tile uses anything
    bool is_active = false;  ///< whether any of that is new
    Box need;                ///< all that the tile uses
    Box fresh;               ///< what of that is new
  };
  struct TensorParts {
    bool is_used = false;
    Box full;                              ///< over all tiles
    std::vector<int> label;                ///< of every axis: the tiled axis that it follows, or -1
    std::vector<std::vector<Side>> sides;  ///< [tiled axis][position]
  };

  DepthFirstTiles() = default;
  int64_t Positions(int tiled_axis) const;
  bool IsStreamed(const FusedOperator& op, size_t operand) const;
  bool Escapes(int tensor) const;
  bool IsReadInside(int tensor) const;
  Box SinkBox(int tiled_axis, int64_t position) const;
  /// Labels of all tensors from what is needed without any caching.
  Status FindLabels();
  void FindSides(int tiled_axis);
  /// How far earlier tiles have come along a tiled axis.
  struct Frontier {
    bool is_known = false;         ///< whether there is anything yet
    std::vector<int64_t> reached;  ///< of every axis of the tensor
  };
  /// Widens what a tile uses of a tensor that later operators need, so that no gap is left.
  void Complete(const TensorParts& parts, int tiled_axis, bool is_last, const Frontier& frontier,
                Side& side) const;
  /// Says what is new of a tensor's need, and moves the frontier on.
  void Advance(const TensorParts& parts, int tiled_axis, Frontier& frontier, Side& side) const;
  bool KeepsAll(const TensorParts& parts, int tiled_axis) const;
  int64_t SpanOf(const TensorParts& parts, int tiled_axis, bool whole) const;

  const FusedNetwork* network_ = nullptr;
  int begin_ = 0, end_ = 0;
  DepthFirstTiling tiling_;
  bool weights_are_streamed_ = false;
  std::vector<int64_t> starts_;  ///< ascending
  std::vector<int> used_;        ///< tensors, ascending
  std::vector<TensorParts> parts_;
  std::vector<Kind> kinds_;
};

}  // namespace bayloom::mapspace
