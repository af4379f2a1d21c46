// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/spatial_skipping.h"

#include <algorithm>

namespace bayloom::mapspace {
namespace {

/// Loops in time that the follower's tiles stay in place for, from this level to the one that keeps
/// it: the leader's tile grows with them.
void WidenByStationaryLoops(const Mapping& mapping, const SparseNest& nest, DimensionSet follower,
                            int level, int tensor, Extents& tile) {
  for (const SparseLoop& loop : nest.Loops(level, HoldingLevel(mapping, level, tensor))) {
    if (loop.spatial) continue;
    if (Indexes(follower, loop.dimension)) return;
    tile[loop.dimension] *= loop.count;
  }
}

/// What one leader leaves of the loops in space of one level.
struct Left {
  double share = 1, x = 1, y = 1;
  bool any = false;  ///< whether the leader has a say
};

Left LeftBy(const Mapping& mapping, const SparseNest& nest, const Problem& problem,
            const DensityModel& density, int follower, const SpatialLeader& leader) {
  const DimensionSet of_follower = problem.tensors[follower].Indexed();
  const DataSpace& tensor = problem.tensors[leader.leader];
  const DimensionSet of_leader = tensor.Indexed();
  const bool to_multipliers = ChildLevel(mapping, leader.level, follower) < 0;
  Left left;
  for (const SparseLoop& loop : nest.Loops(leader.level, leader.level)) {
    if (!loop.spatial || !Indexes(of_leader, loop.dimension)) continue;
    Extents tile = loop.through;
    tile[loop.dimension] /= loop.count;
    if (!to_multipliers && Indexes(of_follower, loop.dimension)) {
      WidenByStationaryLoops(mapping, nest, of_follower, leader.level, follower, tile);
    }
    const TensorTile element(tensor, tile);
    if (!left.any) left.share = 1 - density.EmptyProbability(element);
    left.any = true;
    tile[loop.dimension] *= loop.count;
    const TensorTile fiber(tensor, tile);
    const int64_t nonempty =
        std::min(std::max<int64_t>(1, fiber.words / element.words), density.MaxOccupancy(fiber));
    (loop.along_y ? left.y : left.x) *=
        static_cast<double>(nonempty) / static_cast<double>(loop.count);
  }
  return left;
}

}  // namespace

SpatialUse UseOfInstances(const Mapping& mapping, const SparseNest& nest, const Problem& problem,
                          const std::vector<DensityModel>& densities, int follower,
                          const std::vector<SpatialLeader>& leaders) {
  SpatialUse use;
  const int levels = nest.LevelCount();
  double share = 1, x = 1, y = 1;
  for (int place = levels; place >= 0; --place) {
    // Loops of level `place` spread over the instances of this place; the share of a tile that is
    // empty is that of all tiles, also of those inside of tiles which are empty.
    Left here;
    for (const SpatialLeader& leader : leaders) {
      if (leader.level != place) continue;
      const Left by = LeftBy(mapping, nest, problem, densities[leader.leader], follower, leader);
      here = {here.share * by.share, here.x * by.x, here.y * by.y, here.any || by.any};
    }
    if (here.any) share = here.share;
    x *= here.x;
    y *= here.y;
    use.share[place] = share;
    use.x[place] = x * static_cast<double>(nest.Instances(place).x);
    use.y[place] = y * static_cast<double>(nest.Instances(place).y);
  }
  return use;
}

}  // namespace bayloom::mapspace
