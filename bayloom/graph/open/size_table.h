// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// The sizes of a graph, each length once.
class SizeTable {
 public:
  /// `graph` must outlive it.
  explicit SizeTable(Graph& graph) : graph_(graph) {}

  /// The size that is this long; made where there is none.
  ValueId Of(const Length& length);
  /// A number that is computed from sizes, as an expression of that type: a size that is there and
  /// differs by a constant, or one of its own.
  tensor::Expr Expression(const Length& number, tensor::DType dtype);

 private:
  tensor::Expr Integer(const Length& number);

  Graph& graph_;
  std::vector<ValueId> sizes_;  // in the order in which they were made
};

}  // namespace bayloom::graph
