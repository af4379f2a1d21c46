// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Elements that vector registers of all kinds divide: 16 floats are the most that one holds.
constexpr int64_t kWholeVectors = 16;
/// Shorter rows are not worth a second stage.
constexpr int64_t kMinWholeRow = 64;
constexpr int64_t kLongRow = 1024;

/// The only iterator that the node reduces over, if it is the last one; -1 if there is none.
int RowIter(const Node& node) {
  const int last = static_cast<int>(node.stage.iters.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    const bool reduces = node.stage.iters[i].kind == tensor::IterKind::kReduction;
    if (reduces != (i == last)) return -1;
  }
  return last;
}

/// Whether all indices are linear and some load runs through memory with the iterator.
bool RunsThroughMemory(const Node& node, int iter) {
  bool contiguous = false;
  const int count = static_cast<int>(node.stage.iters.size());
  for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
    for (const tensor::Expr& index : load->operands) {
      const auto linear = tensor::ToLinear(index, count);
      if (!linear) return false;
      const int64_t step = linear->coefficients[iter];
      if (step != 0 && (step != 1 || &index != &load->operands.back())) return false;
      contiguous = contiguous || step == 1;
    }
  }
  return contiguous;
}

/// How many partial results a row gets; nullopt if it is fine in one piece.
std::optional<int64_t> PartsOfRow(const Node& node) {
  if (node.kind != NodeKind::kReduce) return std::nullopt;
  const int iter = RowIter(node);
  if (iter < 0) return std::nullopt;
  const int64_t extent = node.stage.iters[iter].extent;
  if (extent < kMinWholeRow || extent % kWholeVectors == 0) return std::nullopt;
  if (!RunsThroughMemory(node, iter)) return std::nullopt;
  return (extent < kLongRow ? 2 : 4) * kWholeVectors;
}

/// partial[s, j] = combine over k of value(s, k * parts + j), for what makes whole parts.
Node PartialNode(Graph& graph, const Node& node, int64_t parts) {
  const int row = RowIter(node);
  Node partial = node;
  partial.op = node.op + ".partial";
  std::vector<tensor::Iter>& iters = partial.stage.iters;
  const int64_t steps = iters[row].extent / parts;
  iters.back() = {"part", parts, tensor::IterKind::kSpatial};
  iters.push_back({"r", steps, tensor::IterKind::kReduction});
  std::vector<tensor::Expr> places;
  for (int i = 0; i < row; ++i) places.push_back(tensor::IterVar(i));
  places.push_back(tensor::IterVar(row + 1) * tensor::Expr(parts) + tensor::IterVar(row));
  partial.stage.value = tensor::SubstituteIters(node.stage.value, places);
  partial.stage.name = node.stage.name + ".partial";
  partial.stage.output = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({partial.stage.name, node.stage.value->dtype, ShapeOf(partial), nullptr});
  return partial;
}

/// Combines the partial results, and with them the elements that do not make a whole part.
void CombineParts(Node& node, ValueId partial, int64_t parts) {
  const int row = RowIter(node);
  const int64_t rest = node.stage.iters[row].extent % parts;
  const tensor::Expr whole = tensor::Expr(node.stage.iters[row].extent - rest);
  std::vector<tensor::Expr> places;
  for (int i = 0; i <= row; ++i) places.push_back(tensor::IterVar(i));
  const tensor::DType dtype = node.stage.value->dtype;
  const tensor::Expr part = tensor::Load(partial, dtype, places);
  places[row] = whole + tensor::IterVar(row);
  const tensor::Expr behind = tensor::Select(tensor::IterVar(row) < tensor::Expr(rest),
                                             tensor::SubstituteIters(node.stage.value, places),
                                             tensor::NeutralElement(node.stage.reduction, dtype));
  node.stage.iters[row].extent = parts;
  node.stage.value = rest == 0 ? part : tensor::Combine(node.stage.reduction, part, behind);
}

}  // namespace

void SplitReductions(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    if (const auto parts = PartsOfRow(node)) {
      nodes.push_back(PartialNode(graph, node, *parts));
      CombineParts(node, nodes.back().output(), *parts);
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace bayloom::graph
