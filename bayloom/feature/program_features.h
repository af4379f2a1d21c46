// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/feature/feature_columns.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What a cost model knows of a program: one row of kFeatureColumns numbers per stored buffer, in
/// the order in which the buffers are first stored.
struct FeatureMatrix {
  int rows = 0;
  std::vector<float> values;  ///< row-major, rows x kFeatureColumns

  std::span<const float> Row(int row) const {
    return {values.data() + static_cast<size_t>(row) * kFeatureColumns, kFeatureColumns};
  }
  bool operator==(const FeatureMatrix&) const = default;
};

/// Extracts the features of a program (after postprocessing).
///
/// Programs that hash the same give the same features. The stores of literals (a reduction's
/// split-off initialization, fills) are left out. Memory is seen as it will be: intermediates
/// shrunk to their allocation, constants in their rewritten layout. The groups that describe
/// memory see a fused loop as the digits it consists of, so fusing alone changes nothing there.
///
/// Differences to MetaSchedule's features:
///  - multiply-adds are counted as such (there the columns stay 0);
///  - positions of annotated loops are told apart (there only "none" and "mixed" occur);
///  - a cache line's utilization follows from the whole contiguous run of the touched region
///    (there: the innermost dimension that is covered completely, else one element);
///  - bytes between serial reuses are those of all stores under the loop so far (there: those of
///    the last store only);
///  - ties between buffers are broken by order of access, not by name.
/// An index that is not affine counts as touching the whole dimension, with an unknown (large)
/// stride in every axis that no affine index uses.
FeatureMatrix ExtractFeatures(const tensor::Program& program);

}  // namespace bayloom::feature
