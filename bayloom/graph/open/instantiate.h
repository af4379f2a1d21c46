// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/graph.h"
#include "bayloom/graph/open/sample_points.h"

namespace bayloom::graph {

/// The network for these lengths of its symbols, without open dimensions; what its nodes compute
/// from constants is known. `graph` knows the bounds of all values (it is as Generalize returns
/// it).
Graph Instantiate(const Graph& graph, const SymbolValues& lengths);

/// Makes a node zero that reads rows behind the last one of a value: those of a step that is not
/// there (UnrolledSteps). `graph` has no open dimensions.
void ZeroBehindLastRow(const Graph& graph, Node& node);

}  // namespace bayloom::graph
