// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/optimization.h"
#include "bayloom/mapspace/sparse/sparse_nest.h"

namespace bayloom::mapspace {

/// A rank format with its names resolved.
struct ResolvedRank {
  RankFormat format = RankFormat::kUncompressedBitmask;
  int metadata_bits = kBitsOfLevel, payload_bits = kBitsOfLevel;
  std::vector<DimensionSet> flattened;
};

/// How a level keeps a tensor; no ranks: as plain words.
struct ResolvedFormat {
  std::vector<ResolvedRank> ranks;  ///< innermost first
  bool inner_to_outer = false;
  bool compressed = false;

  bool HasMetadata() const { return !ranks.empty(); }
};

/// One rank of the fibertree of a tile: fibers of `fiber` coordinates, each of which leads to a
/// part of the tile.
struct FiberRank {
  int64_t fiber = 1;
  TensorTile payload;
};

/// The ranks that the loops of a mapping make of a level's tile, innermost first.
///
/// A rank takes one loop, or neighbouring loops over dimensions that it may flatten. Where data are
/// compressed and the level inside keeps tiles of them, the inner ranks are those of that level's
/// tiles, so that these can be read out as they are (Sparseloop's pre-tiled tensors). Ranks without
/// a loop are empty.
struct Fibertree {
  std::vector<FiberRank> ranks;
  bool has_all_loops = true;  ///< whether the format has ranks enough
};

/// `child_tree` is that of the next level inwards which keeps the tensor, `child`; -1: none.
Fibertree BuildFibertree(const SparseNest& nest, const DataSpace& tensor, int level, int child,
                         const ResolvedFormat& format, const Fibertree* child_tree);

/// Metadata of one rank: coordinates, runs or flags, and references to the rank inside.
struct RankMetadata {
  double metadata = 0;
  double payload = 0;
};

/// Of parts of a tile, the share that holds a nonzero.
using NonemptyShare = std::function<double(const TensorTile& part)>;

/// What the ranks of a tile hold if such shares of its parts are not empty.
std::vector<RankMetadata> MetadataOf(const ResolvedFormat& format, const Fibertree& tree,
                                     const TensorTile& tile, const NonemptyShare& nonempty);

/// Bits that tell the coordinates of a fiber apart, for formats that do not say.
int CoordinateBits(int64_t coordinates);

}  // namespace bayloom::mapspace
