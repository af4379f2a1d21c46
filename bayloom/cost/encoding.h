// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/feature/program_features.h"

namespace bayloom::cost {

/// How the features of programs become rows that trees are grown on.
enum class RowEncoding : uint8_t {
  /// A row per store; the predictions of a program's rows add up to its score. What Ansor and
  /// MetaSchedule do ("pack sum"): a store's row knows nothing of the others.
  kRowPerStore,
  /// A row per program: the features of its main store (most floating-point operations, then most
  /// iterations), those of its second (most iterations of the rest), the sums over all others,
  /// and the number of stores. So a split can look at one store in the light of another.
  kRowPerProgram,
};

/// Encoded programs, row-major.
struct EncodedRows {
  int columns = 0;
  std::vector<float> values;
  std::vector<int> rows;  ///< per program
};

EncodedRows Encode(std::span<const feature::FeatureMatrix* const> programs, RowEncoding encoding);

}  // namespace bayloom::cost
