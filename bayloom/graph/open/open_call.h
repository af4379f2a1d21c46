// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::graph {

/// Makes a call of the library's the same one for all lengths of its tensors' open dimensions.
/// Kernels run over the largest lengths: what they read beyond a bound becomes what changes
/// nothing, by nodes that are added `before` it. Returns why that cannot be done; empty if it was.
std::string OpenCall(Graph& graph, Node& call, std::vector<Node>& before);

/// What a call in `largest` is over the same tensors of other lengths, which are those of `fixed`.
tensor::Expr CallOver(const Node& call, const Graph& largest, const Graph& fixed);

}  // namespace bayloom::graph
