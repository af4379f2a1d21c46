// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/sparse_nest.h"

namespace bayloom::mapspace {

/// Instances that have work for one tensor: of the multipliers (0) and of level l (l + 1).
struct SpatialUse {
  /// Of the instances that the mapping names, on average.
  std::array<double, kMaxLevels + 1> share;
  /// That are needed at most, along either axis.
  std::array<double, kMaxLevels + 1> x, y;
};

/// A leader of spatial skipping at one level: where its coordinates are known.
struct SpatialLeader {
  int level;  ///< whose loops in space skip
  int leader;
};

/// What is left of loops in space where instances take up the work of those whose leader's tile is
/// empty (Sparseloop's model of structured sparsity, as 2:4 in the sparse tensor core).
/// `leaders` are those of the tensor `follower`; `densities` one model for each tensor.
SpatialUse UseOfInstances(const Mapping& mapping, const SparseNest& nest, const Problem& problem,
                          const std::vector<DensityModel>& densities, int follower,
                          const std::vector<SpatialLeader>& leaders);

}  // namespace bayloom::mapspace
