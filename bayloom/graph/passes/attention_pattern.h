// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// Attention as a graph's nodes compute it: a product of queries and keys, what turns its rows
/// into weights (scale, mask, softmax), and the product of weights and values.
///
///     scores[r, k] = sum over d of query(r, d) * key(r, k, d)
///     ...                                              elementwise, and reductions over k
///     y[r, c] = sum over k of weights[r, k] * value(r, k, c)
///
/// r stands for one or more axes, the last of them being the queries; neither key nor value moves
/// with that, and not both are constants.
struct AttentionPattern {
  int scores = -1;           ///< the node of the first product; its iterators are r, k, d
  std::vector<int> between;  ///< nodes from there to the weights, ascending
  int weights = -1;          ///< the last of `between`
  int product = -1;          ///< the node of the second product
  tensor::Expr query, key;   ///< in the iterators of `scores`
  tensor::Expr value;        ///< in the iterators of `product`
  bool key_first = false;    ///< key * query, as the scores have it
  /// Per axis of r: the iterator of `product` that is it, or -1 for an axis of extent 1.
  std::vector<int> row_iters;
  int channel_iter = -1;  ///< of `product`: c

  int rows() const { return static_cast<int>(row_iters.size()); }
};

/// The attention whose second product a node is; nullopt if it is none. All that is computed
/// between the products is read there only. `producers` are the graph's.
std::optional<AttentionPattern> FindAttention(const Graph& graph, const std::vector<int>& producers,
                                              int product);

}  // namespace bayloom::graph
