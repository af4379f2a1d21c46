// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/mapping.h"

namespace bayloom::mapspace {

/// What one level's mappings must be like.
struct LevelConstraint {
  /// Of each dimension's factor; 0 is free.
  Extents temporal = {}, spatial = {};
  Extents temporal_at_most = {}, spatial_at_most = {};
  /// Which dimensions may spread along x and along y.
  DimensionSet along_x = ~DimensionSet{0}, along_y = ~DimensionSet{0};
  /// Loops that stay innermost and outermost, both innermost first.
  std::vector<int> innermost, outermost;
  /// Tensors, one bit each. The others are free.
  uint32_t must_keep = 0, must_bypass = 0;
  /// Of a memory of several levels (StorageLevel::is_part), one of which must keep them; said of
  /// the outermost.
  uint32_t memory_must_keep = 0;
};

/// The constraints of all levels, names resolved: part of the definition of a mapspace.
struct MapspaceConstraints {
  std::vector<LevelConstraint> levels;
};

/// Throws InputError, saying where the directive stands, for names that do not exist, dimensions
/// named twice and demands that contradict. The outermost level keeps every tensor in any case.
MapspaceConstraints ResolveConstraints(std::span<const Directive> directives,
                                       const Problem& problem, const Architecture& architecture);

/// The directives without the dimensions that this problem does not have but others of `dimensions`
/// do: one file of constraints for all layers of a network, products and convolutions. Dimensions
/// that are in neither stay, for ResolveConstraints to refuse.
std::vector<Directive> DirectivesFor(const Problem& problem, std::span<const Directive> directives,
                                     std::span<const std::string> dimensions);

/// Whether a mapping satisfies them.
bool Satisfies(const Mapping& mapping, const MapspaceConstraints& constraints,
               const Problem& problem, const Architecture& architecture);

/// Helpers that the mapping reader shares; they throw InputError beginning with directive.where.
int TargetLevel(const Directive& directive, const Architecture& architecture);
int FactorDimension(const Directive& directive, const Directive::Factor& factor,
                    const Problem& problem);
int TensorNamed(const Directive& directive, std::string_view name, const Problem& problem);
/// The dimensions before and after the '*' of the permutation.
struct PartialOrder {
  std::vector<int> innermost, outermost;
};
PartialOrder ParsePermutation(const Directive& directive, const Problem& problem);

}  // namespace bayloom::mapspace
