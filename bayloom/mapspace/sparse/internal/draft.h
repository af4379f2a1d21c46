// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include "bayloom/mapspace/sparse/sparse_model.h"

namespace bayloom::mapspace {

/// What the model knows of a mapping while it counts.
struct SparseModel::Draft {
  Draft(const Mapping& mapping, int dimensions) : nest(mapping, dimensions) {}

  SparseNest nest;
  std::array<std::array<Fibertree, kMaxTensors>, kMaxLevels> trees;
  std::array<std::array<Saf, kMaxTensors>, kMaxLevels> safs;
  /// Only where something is skipped in space.
  std::vector<SpatialUse> uses;
  /// Of the innermost level with a SAF for the tensor: the probability that an operand's access is
  /// ineffectual; 0: no level has one.
  std::array<double, kMaxTensors> operand_empty = {};
  std::array<bool, kMaxTensors> operand_has_saf = {};
};

}  // namespace bayloom::mapspace
