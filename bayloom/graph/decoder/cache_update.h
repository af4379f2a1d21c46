// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/decoder/step_evaluator.h"

namespace bayloom::graph {

/// A step by which graphs are examined: so many tokens behind others.
struct SampleStep {
  int64_t past, count;
  StepEvaluator evaluator;
};

/// An output that is an input of the same shape, but for the rows of a step's tokens along an axis.
struct CacheUpdate {
  ValueId past, present;
  int axis;
  ValueId added;  ///< has these rows; no part of it depends on the past
  /// Where: indices in the coordinates of the present, counted from the first new row along the
  /// axis.
  std::vector<tensor::Expr> added_index;
};

/// The update along an axis, if elements of the output are found to be those in all of the steps,
/// which leave at least one row of the cache to later ones.
std::optional<CacheUpdate> FindCacheUpdate(const Graph& graph, ValueId present, int axis,
                                           std::vector<SampleStep>& steps);

}  // namespace bayloom::graph
