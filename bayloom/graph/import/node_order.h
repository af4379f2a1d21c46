// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace bayloom::graph {

/// What messages call the node: its name, or its first output.
std::string NodeName(const onnx::NodeProto& node);

/// Calls `use` with every name that the node reads of the graph it is in, in its graphs too. What
/// an inner graph defines is its own, also where the outer one has the same name.
void ForEachNameRead(const onnx::NodeProto& node,
                     const std::function<void(const std::string&)>& use);

using NodeList = std::vector<const onnx::NodeProto*>;

/// The nodes, each after those whose outputs it uses, itself or in its graphs. Sorted lists stay
/// as they are; in others, nodes keep their order where they can. Throws InputError if nodes need
/// each other's outputs.
NodeList SortedNodes(NodeList nodes);

/// Those of sorted nodes that compute `results`, or what is needed for them.
NodeList NodesNeeded(NodeList sorted, std::unordered_set<std::string> results);

template <typename Nodes>
NodeList SortedNodes(const Nodes& nodes) {
  NodeList list;
  for (const onnx::NodeProto& node : nodes) list.push_back(&node);
  return SortedNodes(std::move(list));
}

}  // namespace bayloom::graph
