// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>
#include <vector>

namespace bayloom::graph {

/// What messages call the node: its name, or its first output.
std::string NodeName(const onnx::NodeProto& node);

/// Calls `use` with every name that the node reads, in its graphs too. Names that an inner graph
/// defines for itself are among them: ONNX lets none of these be defined outside as well.
void ForEachNameRead(const onnx::NodeProto& node,
                     const std::function<void(const std::string&)>& use);

/// The nodes, each after those whose outputs it uses, itself or in its graphs. Sorted lists stay
/// as they are; in others, nodes keep their order where they can. Throws InputError if nodes need
/// each other's outputs.
std::vector<const onnx::NodeProto*> SortedNodes(std::vector<const onnx::NodeProto*> nodes);

template <typename Nodes>
std::vector<const onnx::NodeProto*> SortedNodes(const Nodes& nodes) {
  std::vector<const onnx::NodeProto*> list;
  for (const onnx::NodeProto& node : nodes) list.push_back(&node);
  return SortedNodes(std::move(list));
}

}  // namespace bayloom::graph
