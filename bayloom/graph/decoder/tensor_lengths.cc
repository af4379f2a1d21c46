// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/tensor_lengths.h"

#include <fmt/format.h>

#include "bayloom/base/single_line.h"

namespace bayloom::graph {

Length LengthOf(const Graph& graph, const Value& value, size_t dimension) {
  const ValueId bound = value.BoundOf(dimension);
  return bound < 0 ? Length(value.shape[dimension]) : *graph.values[bound].size;
}

std::optional<Length> RowLength(const Graph& graph, const Value& value) {
  Length row = 1;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const Length length = LengthOf(graph, value, d);
    if (length == Length(1)) continue;
    if (row != Length(1)) return std::nullopt;
    row = length;
  }
  return row;
}

std::string Quoted(const Graph& graph, ValueId value) {
  return fmt::format("'{}' {}", base::SingleLine(graph.values[value].name), TypeOf(graph, value));
}

}  // namespace bayloom::graph
