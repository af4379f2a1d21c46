// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// What a value of one import is in another import of the same model, for other sizes.
struct Counterpart {
  ValueId value = -1;  ///< -1: nothing that is needed there reads it
  std::vector<int64_t> shape;
  /// Both are constants, and one of them is what the other one begins with.
  bool is_corner = false;
  /// The other one's data, if it is a constant of few elements.
  std::shared_ptr<const tensor::HostTensor> few;
  /// Why they are not computed in the same way, numbers aside; empty if they are.
  std::string difference;
  std::vector<int64_t> extents;        ///< of the other one's iterators
  std::vector<tensor::Expr> literals;  ///< of its expression, parallel to LiteralsOf() this one's
};

/// The counterparts of all values that the outputs of `graph` need. Constants that nodes compute
/// (GraphBuilder::CompareLengths) are followed to these nodes, too.
std::vector<Counterpart> Compare(const Graph& graph, const Graph& other);

/// Numbers in an expression, each node once.
std::vector<const tensor::ExprNode*> LiteralsOf(const tensor::Expr& e);

/// A constant of so few elements that it may be what is computed from sizes.
bool HasFewElements(const Value& value);

/// How messages name what writes the value: "node 'add_3'".
std::string Described(const Graph& graph, ValueId value);

}  // namespace bayloom::graph
