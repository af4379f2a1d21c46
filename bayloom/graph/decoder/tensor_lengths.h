// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// How long a dimension of an input or output is.
Length LengthOf(const Graph& graph, const Value& value, size_t dimension);

/// The length of a row, if all other dimensions are 1.
std::optional<Length> RowLength(const Graph& graph, const Value& value);

/// Of an input or output: "'ids' int64[1, sequence]".
std::string Quoted(const Graph& graph, ValueId value);

}  // namespace bayloom::graph
