// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// One tensor per input of the graph: normally distributed floats, integers from 0 up to 999 (to 99
/// where they are bytes).
std::vector<tensor::HostTensor> MakeRandomInputs(const Graph& graph, uint64_t seed);

}  // namespace bayloom::graph
