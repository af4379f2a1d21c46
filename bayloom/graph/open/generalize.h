// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/graph/open/compare.h"
#include "bayloom/graph/open/length_fit.h"

namespace bayloom::graph {

/// Imports are not one network for all lengths; among what keeps them from it are extents that no
/// expression of lengths gives.
class UnfitExtents : public InputError {
 public:
  /// `scopes`: the nodes of the model whose values have these extents, the first ones first.
  UnfitExtents(const std::string& message, std::vector<std::string> scopes)
      : InputError(message), scopes_(std::move(scopes)) {}
  const std::vector<std::string>& scopes() const { return scopes_; }

 private:
  std::vector<std::string> scopes_;
};

/// Makes of an import for the largest lengths one for all lengths (anti-unification): each integer
/// that is another one in the imports for the other points becomes the size that has these values
/// (LengthFit). `graph` has the nodes of folded constants, too (GraphBuilder::CompareLengths); what
/// is folded is computed when the network runs where its values follow sizes. The points of `fit`
/// are the largest lengths, where `graph` is from, and those where `samples`, its counterparts, are
/// from.
///
/// Throws InputError naming the node, and what it depends on, where the imports are not the same
/// network for other sizes.
Graph Generalize(Graph graph, std::vector<Symbol> symbols, LengthFit& fit,
                 const std::vector<std::vector<Counterpart>>& samples);

/// Leaves bounds to inputs, constants, outputs and spatial iterators only: those of other values
/// and of reductions are inferred when nodes have been rewritten (InferBounds).
void ForgetInnerBounds(Graph& graph);

}  // namespace bayloom::graph
