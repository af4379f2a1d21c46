// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/fibertree.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bayloom::mapspace {
namespace {

/// A loop, or loops together, that a rank stands for.
struct TreeLoop {
  int dimension;
  int64_t count;
  TensorTile inside;   ///< that one iteration touches
  TensorTile through;  ///< that all iterations touch
};

/// The loops over a tensor's tile that ranks are to be made of, innermost first. With
/// `down_to_words` those inside of the child's tile are among them, dimension by dimension.
std::vector<TreeLoop> LoopsOf(const SparseNest& nest, const DataSpace& tensor, int level, int child,
                              bool down_to_words) {
  const DimensionSet indexed = tensor.Indexed();
  Extents counts = down_to_words ? nest.Tile(child) : kUnitExtents;
  std::vector<TreeLoop> loops;
  for (const SparseLoop& loop : nest.Loops(child + 1, level)) {
    if (!Indexes(indexed, loop.dimension)) continue;
    Extents inside = loop.through;
    inside[loop.dimension] /= loop.count;
    // A dimension's innermost loop also runs over its part of the child's tile.
    const int64_t absorbed = counts[loop.dimension];
    counts[loop.dimension] = 1;
    inside[loop.dimension] /= absorbed;
    loops.push_back({loop.dimension, loop.count * absorbed, TensorTile(tensor, inside),
                     TensorTile(tensor, loop.through)});
  }
  Extents inner = kUnitExtents;
  std::vector<TreeLoop> innermost;
  for (int d = 0; d < kMaxDimensions; ++d) {
    if (counts[d] == 1 || !Indexes(indexed, d)) continue;
    const TensorTile inside(tensor, inner);
    inner[d] = counts[d];
    innermost.push_back({d, counts[d], inside, TensorTile(tensor, inner)});
  }
  loops.insert(loops.begin(), innermost.begin(), innermost.end());
  return loops;
}

/// The flattening list of a rank that has the dimension; 0: none does.
DimensionSet ListOf(const ResolvedRank& rank, int dimension) {
  for (const DimensionSet list : rank.flattened) {
    if (Indexes(list, dimension)) return list;
  }
  return 0;
}

/// Takes the loops of one rank off the list that is not yet given to ranks: one loop, or those next
/// to it that are flattened together. Empty if the rank is not for the first loop.
std::span<const TreeLoop> TakeLoops(const ResolvedRank& rank, bool from_inside,
                                    std::span<const TreeLoop>& loops) {
  const auto at = [&](size_t i) -> const TreeLoop& {
    return from_inside ? loops[i] : loops[loops.size() - 1 - i];
  };
  size_t count = 1;
  if (!rank.flattened.empty()) {
    const DimensionSet list = ListOf(rank, at(0).dimension);
    count = 0;
    while (count < loops.size() && Indexes(list, at(count).dimension)) ++count;
  }
  const std::span<const TreeLoop> taken = from_inside ? loops.first(count) : loops.last(count);
  loops = from_inside ? loops.subspan(count) : loops.first(loops.size() - count);
  return taken;
}

/// Ranks without a loop lead to what the rank inside of them is, `below`.
FiberRank RankOf(std::span<const TreeLoop> loops, const DataSpace& tensor,
                 const TensorTile& below) {
  if (loops.empty()) return {1, below};
  Extents counts = kUnitExtents;
  for (const TreeLoop& loop : loops) counts[loop.dimension] *= loop.count;
  return {tensor.BoxWords(counts), loops.front().inside};
}

/// Expected metadata of one rank: `fibers` at most, each of which covers the tile `covered`.
RankMetadata CountRank(const ResolvedRank& rank, const FiberRank& shape,
                       const NonemptyShare& nonempty, double fibers, const TensorTile& covered) {
  const auto coordinates = static_cast<double>(shape.fiber);
  const auto nonempty_fibers = [&] { return fibers * nonempty(covered); };
  // Nonempty coordinates of all fibers; fibers without any are among these means.
  const double coordinates_there = fibers * coordinates * nonempty(shape.payload);
  switch (rank.format) {
    case RankFormat::kUncompressedBitmask:
      return {fibers * coordinates, fibers * coordinates};
    case RankFormat::kBitmask:
      return {nonempty_fibers() * coordinates, coordinates_there};
    case RankFormat::kRunLength:
    case RankFormat::kCoordinatePayload:
      return {coordinates_there, coordinates_there};
    case RankFormat::kOffsetPair:
      return {0, nonempty_fibers() * (coordinates + 1)};
  }
  return {};
}

}  // namespace

Fibertree BuildFibertree(const SparseNest& nest, const DataSpace& tensor, int level, int child,
                         const ResolvedFormat& format, const Fibertree* child_tree) {
  Fibertree tree;
  if (!format.HasMetadata()) {
    tree.ranks = {{tensor.BoxWords(nest.Tile(level)), TensorTile()}};
    return tree;
  }
  TensorTile below(tensor, nest.Tile(child));
  const bool is_tiled = format.compressed && child_tree != nullptr && below.words > 1;
  if (is_tiled) {
    tree.ranks = child_tree->ranks;
  } else {
    below = TensorTile();
  }
  const size_t inner = tree.ranks.size(), count = format.ranks.size();
  const std::vector<TreeLoop> all = LoopsOf(nest, tensor, level, child, !is_tiled);
  std::span<const TreeLoop> loops = all;
  if (inner > count) {
    tree.has_all_loops = false;
    tree.ranks.resize(count);
    return tree;
  }
  std::vector<std::span<const TreeLoop>> taken(count);
  for (size_t i = inner; i < count && !loops.empty(); ++i) {
    const size_t rank = format.inner_to_outer ? i : count - 1 - (i - inner);
    taken[rank] = TakeLoops(format.ranks[rank], format.inner_to_outer, loops);
  }
  tree.has_all_loops = loops.empty();
  for (size_t rank = inner; rank < count; ++rank) {
    tree.ranks.push_back(RankOf(taken[rank], tensor, below));
    if (!taken[rank].empty()) below = taken[rank].back().through;
  }
  return tree;
}

std::vector<RankMetadata> MetadataOf(const ResolvedFormat& format, const Fibertree& tree,
                                     const TensorTile& tile, const NonemptyShare& nonempty) {
  const int count = static_cast<int>(tree.ranks.size());
  std::vector<RankMetadata> metadata(count);
  if (!format.HasMetadata()) return {};
  const int kept = format.inner_to_outer ? 0 : count - 1;  // though it has one coordinate only
  double fibers = 1;
  TensorTile covered = tile;
  for (int r = count - 1; r >= 0; --r) {
    const FiberRank& rank = tree.ranks[r];
    if (rank.fiber > 1 || r == kept) {
      metadata[r] = CountRank(format.ranks[r], rank, nonempty, fibers, covered);
    }
    fibers *= static_cast<double>(rank.fiber);
    covered = rank.payload;
  }
  // The payloads of the innermost rank are the data.
  const auto innermost = std::ranges::find_if(
      metadata, [](const RankMetadata& rank) { return rank.metadata + rank.payload > 0; });
  if (innermost != metadata.end()) innermost->payload = 0;
  return metadata;
}

int CoordinateBits(int64_t coordinates) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(coordinates - 1))));
}

}  // namespace bayloom::mapspace
