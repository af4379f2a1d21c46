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
  /// Those of all these levels: what holds for multiplications that storage lets through.
  std::vector<Nonempty> let_through;
};

/// Of multiplications that storage lets through, the shares by the states of their operands.
struct SparseModel::OperandStates {
  double effectual = 1;  ///< all there and not zero
  double none = 1;       ///< none is there
  double all_there = 1;  ///< zeros that are there among them
};

}  // namespace bayloom::mapspace
