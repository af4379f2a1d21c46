// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <span>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/mapping.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

/// A loop that runs more than once, in time or in space.
struct SparseLoop {
  int dimension;
  int64_t count;
  int level;
  bool spatial;
  bool along_y;
  /// What the loop and everything inside of it touch.
  Extents through;
};

/// A mapping as one list of loops, innermost first: of every level those in space, along x, along
/// y, then those in time.
class SparseNest {
 public:
  SparseNest(const Mapping& mapping, int dimensions);

  int LevelCount() const { return level_count_; }
  std::span<const SparseLoop> loops() const { return loops_; }
  /// The loops of these levels.
  std::span<const SparseLoop> Loops(int first_level, int last_level) const {
    const int begin = first_loop_[first_level];
    return std::span(loops_).subspan(begin, first_loop_[last_level + 1] - begin);
  }
  /// A level's tile; -1: one operation.
  const Extents& Tile(int level) const { return level < 0 ? kUnitExtents : tiles_[level]; }
  /// Instances in use of the multipliers (0) and of level l (l + 1), along either axis.
  const Fanout& Instances(int place) const { return instances_[place]; }

 private:
  int level_count_;
  std::vector<SparseLoop> loops_;
  std::array<int, kMaxLevels + 1> first_loop_ = {};
  std::array<Extents, kMaxLevels> tiles_;
  std::array<Fanout, kMaxLevels + 1> instances_;
};

/// The next level inwards that keeps the tensor, or -1: the multipliers. The next one outwards, or
/// -1.
int ChildLevel(const Mapping& mapping, int level, int tensor);
int ParentLevel(const Mapping& mapping, int level, int tensor);
/// The level itself, or the next one outwards that keeps the tensor.
int HoldingLevel(const Mapping& mapping, int level, int tensor);

inline bool Indexes(DimensionSet set, int dimension) { return (set >> dimension & 1) != 0; }

}  // namespace bayloom::mapspace
