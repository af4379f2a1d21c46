// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/tasks.h"

namespace bayloom::graph {

/// What a call of a network is about.
enum class CallKind : uint8_t {
  kProduct,  ///< a matrix product or convolution is in it
  kMove,     ///< elements only change their places, types or padding: layout conversions
  kOther,
};

CallKind KindOf(const Graph& graph, const TaskCall& call);

}  // namespace bayloom::graph
