// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

inline constexpr std::array<int8_t, kMaxDimensions> kNaturalOrder = {0, 1, 2, 3, 4, 5, 6, 7};

/// The loops that one level of memory runs over the tiles of the level inside, and which tensors
/// it keeps a tile of.
struct MappingLevel {
  /// Iterations one after the other, per dimension.
  Extents temporal = kUnitExtents;
  /// Iterations side by side, on the instances of the level inside.
  Extents spatial = kUnitExtents;
  /// The dimensions whose instances stand along the y axis of the mesh; the others along x.
  DimensionSet along_y = 0;
  /// The order of the temporal loops, innermost first: a permutation of the dimensions.
  std::array<int8_t, kMaxDimensions> order = kNaturalOrder;
  /// One bit per tensor.
  uint32_t keep = ~uint32_t{0};

  bool Keeps(int tensor) const { return (keep >> tensor & 1) != 0; }
  bool AlongY(int dimension) const { return (along_y >> dimension & 1) != 0; }
  /// Instances of the level inside that are used, along either axis.
  Fanout Spread(int dimensions) const {
    Fanout spread;
    for (int d = 0; d < dimensions; ++d) (AlongY(d) ? spread.y : spread.x) *= spatial[d];
    return spread;
  }

  bool operator==(const MappingLevel&) const = default;
};

/// How a problem is laid out in space and time on an architecture (Kannan 2023, sec. II-A): the
/// factors of every dimension multiply up to its bound over all levels. Innermost level first.
struct Mapping {
  std::vector<MappingLevel> levels;

  bool operator==(const Mapping&) const = default;
};

/// The mapping that runs everything from the outermost level and keeps every tensor everywhere.
Mapping OutermostMapping(const Problem& problem, const Architecture& architecture);

/// Whether the mapping is one of this problem on this architecture, capacities and instances left
/// aside: right number of levels, factors that multiply up, permutations, an outermost level that
/// keeps every tensor. The error names level and dimension.
Status CheckMapping(const Mapping& mapping, const Problem& problem,
                    const Architecture& architecture);

/// A hash that mappings share if and only if they run the same loops and keep the same tiles: the
/// places of loops that run once do not count.
uint64_t HashOf(const Mapping& mapping, const Problem& problem);

/// The loop nest as a person reads it (Kannan 2023, listing 6): the tiles each level keeps, then
/// its loops, outermost first.
std::string PrintLoopNest(const Mapping& mapping, const Problem& problem,
                          const Architecture& architecture);

/// Timeloop's one-line form, outermost level and loop first; X and Y mark spatial loops and level
/// 0 is the innermost: "L3[WIO] J2 I16 - L2[WI] I4 K8 - L1[O] K4 J256 - L0[WIO] K16 I8".
/// Tensors appear by their first letters.
std::string PrintCompact(const Mapping& mapping, const Problem& problem);

}  // namespace bayloom::mapspace
