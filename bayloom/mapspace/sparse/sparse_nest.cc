// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/sparse_nest.h"

namespace bayloom::mapspace {

SparseNest::SparseNest(const Mapping& mapping, int dimensions)
    : level_count_(static_cast<int>(mapping.levels.size())) {
  loops_.reserve(32);
  Extents tile = kUnitExtents;
  for (int l = 0; l < level_count_; ++l) {
    const MappingLevel& level = mapping.levels[l];
    first_loop_[l] = static_cast<int>(loops_.size());
    const auto add = [&](int d, int64_t count, bool spatial) {
      if (count == 1) return;
      tile[d] *= count;
      loops_.push_back({d, count, l, spatial, spatial && level.AlongY(d), tile});
    };
    for (const bool along_y : {false, true}) {
      for (int d = 0; d < dimensions; ++d) {
        if (level.AlongY(d) == along_y) add(d, level.spatial[d], true);
      }
    }
    for (int i = 0; i < dimensions; ++i) add(level.order[i], level.temporal[level.order[i]], false);
    tiles_[l] = tile;
  }
  first_loop_[level_count_] = static_cast<int>(loops_.size());
  for (int l = level_count_ - 1; l >= 0; --l) {
    const Fanout spread = mapping.levels[l].Spread(dimensions);
    const Fanout& outer = instances_[l + 1];
    instances_[l] = {outer.x * spread.x, outer.y * spread.y};
  }
}

int ChildLevel(const Mapping& mapping, int level, int tensor) {
  int child = level - 1;
  while (child >= 0 && !mapping.levels[child].Keeps(tensor)) --child;
  return child;
}

int ParentLevel(const Mapping& mapping, int level, int tensor) {
  const int levels = static_cast<int>(mapping.levels.size());
  return level + 1 < levels ? HoldingLevel(mapping, level + 1, tensor) : -1;
}

int HoldingLevel(const Mapping& mapping, int level, int tensor) {
  const int levels = static_cast<int>(mapping.levels.size());
  while (level < levels - 1 && !mapping.levels[level].Keeps(tensor)) ++level;
  return level;  // the outermost level keeps every tensor
}

}  // namespace bayloom::mapspace
