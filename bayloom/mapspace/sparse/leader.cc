// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/leader.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bayloom::mapspace {
namespace {

/// What one access to the follower stands for: a loop's iteration and what has to be taken
/// together with it.
struct Access {
  Extents tile = kUnitExtents;    ///< of the follower, all iterations
  Extents leader = kUnitExtents;  ///< of the leader, all iterations
  /// Loops whose iterations are accesses of their own where they index both tensors.
  std::vector<const SparseLoop*> split;
  bool in_space = false;
  int dimension = -1;  ///< of the loop; -1: there is none
};

/// Of accesses by the multipliers: one word, or what loops in space at the innermost level bring to
/// all of them.
const SparseLoop* InnermostLoop(const SparseNest& nest, DimensionSet follower) {
  const SparseLoop* last = nullptr;
  for (const SparseLoop& loop : nest.Loops(0, 0)) {
    if (!loop.spatial) break;
    last = &loop;
    if (Indexes(follower, loop.dimension)) break;
  }
  return last;
}

/// The loop whose iterations bring new tiles of the follower into a level.
const SparseLoop* DeliveringLoop(std::span<const SparseLoop> loops, DimensionSet follower) {
  const auto found = std::ranges::find_if(
      loops, [&](const SparseLoop& loop) { return Indexes(follower, loop.dimension); });
  return found == loops.end() ? nullptr : &*found;
}

/// Loops outside of the access's that the follower stays in place for, or that run side by side.
void WidenLeader(std::span<const SparseLoop> loops, const SparseLoop* target, bool to_multipliers,
                 DimensionSet follower, Access& access) {
  bool stays = access.in_space && !to_multipliers;
  for (const SparseLoop& loop : loops) {
    if (target != nullptr && &loop <= target) continue;
    const bool moves = Indexes(follower, loop.dimension);
    if (loop.spatial || (stays && !moves)) {
      access.leader[loop.dimension] *= loop.count;
      access.split.push_back(&loop);
    }
    if (!loop.spatial && moves) stays = false;
  }
}

Access FindAccess(const LeaderQuery& query) {
  const SparseNest& nest = query.nest;
  const DimensionSet follower = query.problem.tensors[query.follower].Indexed();
  const int child = ChildLevel(query.mapping, query.level, query.follower);
  const std::span<const SparseLoop> loops = nest.Loops(child + 1, query.level);
  const SparseLoop* target =
      child < 0 ? InnermostLoop(nest, follower) : DeliveringLoop(loops, follower);
  Access access;
  if (target == nullptr && child >= 0) {
    // The follower does not move at all: everything of this level is combined with it.
    access.tile = access.leader = nest.Tile(query.level);
    return access;
  }
  if (target != nullptr) {
    access.tile = access.leader = target->through;
    access.in_space = target->spatial;
    access.dimension = target->dimension;
    access.split.push_back(target);
  }
  WidenLeader(loops, target, child < 0, follower, access);
  if (target == nullptr) {
    // One word for one operation. Accesses of blocks take the words of the innermost loop together.
    access.split.clear();
    if (!loops.empty()) access.dimension = loops.front().dimension;
  }
  return access;
}

int64_t Scaled(int64_t extent, double factor, int64_t bound) {
  const double scaled = std::ceil(static_cast<double>(extent) * factor);
  return scaled < static_cast<double>(bound) ? static_cast<int64_t>(scaled) : bound;
}

}  // namespace

std::optional<TensorTile> LeaderTile(const LeaderQuery& query, int leader) {
  Access access = FindAccess(query);
  const DataSpace& tensor = query.problem.tensors[leader];
  const DimensionSet of_leader = tensor.Indexed();
  const DimensionSet shared = of_leader & query.problem.tensors[query.follower].Indexed();
  double iterations = 1;
  std::array<double, kMaxDimensions> factors;
  factors.fill(1);
  bool is_split = false;
  for (const SparseLoop* loop : access.split) {
    if (access.in_space && is_split && Indexes(of_leader, loop->dimension)) {
      return std::nullopt;
    }
    if (!Indexes(shared, loop->dimension)) continue;
    factors[loop->dimension] *= static_cast<double>(loop->count);
    iterations *= static_cast<double>(loop->count);
    is_split = true;
  }
  const double words =
      static_cast<double>(query.problem.tensors[query.follower].BoxWords(access.tile)) / iterations;
  double together = std::ceil(static_cast<double>(query.block_words) / words);
  Extents tile = access.leader;
  for (int d = 0; d < query.problem.DimensionCount(); ++d) {
    if (factors[d] == 1) continue;
    tile[d] = Scaled(tile[d], std::min(1.0, together / factors[d]), query.problem.bounds[d]);
    together /= factors[d];
  }
  if (together > 1 && access.dimension >= 0) {
    int64_t& extent = tile[access.dimension];
    extent = Scaled(extent, together, query.problem.bounds[access.dimension]);
  }
  return TensorTile(tensor, tile);
}

}  // namespace bayloom::mapspace
