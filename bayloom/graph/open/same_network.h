// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// Where two graphs without open dimensions are not the same network; empty if they are. What an
/// importer writes in another way for lengths of 1 or 0 is the same: copies and views, constants
/// that one of them computes, indices that are known.
std::string FirstDifference(const Graph& graph, const Graph& other);

}  // namespace bayloom::graph
