// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/node_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {
namespace {

/// Which nodes wait for which others, by position in the list.
struct Dependences {
  std::vector<std::vector<size_t>> users;  ///< of each node's outputs
  std::vector<size_t> missing;             ///< how many nodes each waits for
  bool is_sorted = true;
};

std::unordered_set<std::string> NamesDefinedIn(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const onnx::NodeProto& node : graph.node()) {
    names.insert(node.output().begin(), node.output().end());
  }
  return names;
}

Dependences FindDependences(const NodeList& nodes) {
  std::unordered_map<std::string, size_t> producer;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i]->output()) {
      if (!name.empty()) producer.emplace(name, i);
    }
  }
  Dependences result{std::vector<std::vector<size_t>>(nodes.size()),
                     std::vector<size_t>(nodes.size(), 0), true};
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::unordered_set<size_t> needed;
    ForEachNameRead(*nodes[i], [&](const std::string& name) {
      const auto found = producer.find(name);
      if (found == producer.end() || !needed.insert(found->second).second) return;
      result.users[found->second].push_back(i);
      ++result.missing[i];
      if (found->second >= i) result.is_sorted = false;
    });
  }
  return result;
}

/// Some nodes that wait for each other: from any node that waits, backwards until one recurs.
[[noreturn]] void ThrowCycle(const NodeList& nodes, const Dependences& dependences) {
  std::vector<size_t> waits_for(nodes.size(), nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (dependences.missing[i] == 0) continue;
    for (size_t user : dependences.users[i]) waits_for[user] = i;
  }
  size_t at = 0;
  while (waits_for[at] == nodes.size()) ++at;
  std::unordered_set<size_t> seen;
  while (seen.insert(at).second) at = waits_for[at];
  constexpr size_t kMaxNames = 8;
  std::vector<std::string> names;
  const size_t first = at;
  do {
    names.push_back(fmt::format("'{}'", Printable(NodeName(*nodes[at]))));
    at = waits_for[at];
  } while (at != first && names.size() < kMaxNames);
  throw InputError(
      fmt::format("nodes need their own results: {} in a cycle", fmt::join(names, ", ")));
}

}  // namespace

std::string NodeName(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : "";
}

void ForEachNameRead(const onnx::NodeProto& node,
                     const std::function<void(const std::string&)>& use) {
  for (const std::string& name : node.input()) use(name);
  const auto in_graph = [&](const onnx::GraphProto& graph) {
    const std::unordered_set<std::string> own = NamesDefinedIn(graph);
    const auto use_outer = [&](const std::string& name) {
      if (!own.contains(name)) use(name);
    };
    for (const onnx::NodeProto& inner : graph.node()) ForEachNameRead(inner, use_outer);
    for (const auto& output : graph.output()) use_outer(output.name());
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) in_graph(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) in_graph(graph);
  }
}

NodeList NodesNeeded(NodeList sorted, std::unordered_set<std::string> results) {
  NodeList needed;
  for (auto node = sorted.rbegin(); node != sorted.rend(); ++node) {
    const auto& given = (*node)->output();
    const bool is_needed =
        std::ranges::any_of(given, [&](const std::string& name) { return results.contains(name); });
    if (!is_needed) continue;
    ForEachNameRead(**node, [&](const std::string& name) {
      if (!name.empty()) results.insert(name);
    });
    needed.push_back(*node);
  }
  std::ranges::reverse(needed);
  return needed;
}

NodeList SortedNodes(NodeList nodes) {
  Dependences dependences = FindDependences(nodes);
  if (dependences.is_sorted) return nodes;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (dependences.missing[i] == 0) ready.push(i);
  }
  NodeList sorted;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    sorted.push_back(nodes[next]);
    for (size_t user : dependences.users[next]) {
      if (--dependences.missing[user] == 0) ready.push(user);
    }
  }
  if (sorted.size() < nodes.size()) ThrowCycle(nodes, dependences);
  return sorted;
}

}  // namespace bayloom::graph
