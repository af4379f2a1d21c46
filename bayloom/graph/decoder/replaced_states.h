// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// What is left of the name of a state when the words are taken out that say which side of a step
/// it is on: "0.conv" of "past_key_values.0.conv", "present.0.conv" and "conv_out_0".
std::string StateName(std::string_view name);

/// States that a step replaces: inputs, and the outputs (positions in Graph::outputs) of the same
/// type and fixed shape that are their next ones. Those whose names are one state's belong
/// together; of the rest the first input that fits belongs to the first output, and so on, if that
/// leaves no output.
std::map<ValueId, int> FindReplaced(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const std::vector<int>& outputs);

}  // namespace bayloom::graph
