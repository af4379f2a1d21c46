// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <map>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/evaluate_copy.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Fewer parts are not worth it: their indices in the arithmetic of readers cost nothing, and what
/// reads them can be fused with what computes them.
constexpr int kMinSlices = 8;

/// The node with literals for indices that are known.
Node WithKnownIndices(const Graph& graph, Node node) {
  if (node.kind != NodeKind::kMap || node.stage.value->op != tensor::ExprOp::kLoad) return node;
  node.stage.value =
      RewriteLoads(node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
        const tensor::Expr literal = AsLiteral(graph, load);
        return literal.defined() ? std::optional(literal) : std::nullopt;
      });
  return node;
}

/// Whether the node's elements lie in the operand as they do in its output, from a place on where
/// kernels may read.
bool IsInOnePiece(const Graph& graph, const Node& node) {
  if (!IsMove(node)) return false;
  const tensor::Expr& load = node.stage.value;
  const auto offset = ProvenOffset(node.stage, *load, graph.values[load->index].shape);
  if (!offset || offset->constant * tensor::ByteSize(load->dtype) % target::kBufferAlignment != 0) {
    return false;
  }
  int64_t stride = 1;
  for (size_t i = node.stage.iters.size(); i-- > 0;) {
    const int64_t extent = node.stage.iters[i].extent;
    if (extent > 1 && offset->coefficients[i] != stride) return false;
    stride *= extent;
  }
  return stride < graph.values[load->index].ElementCount();
}

}  // namespace

void SliceInPlace(Graph& graph) {
  const std::vector<int> producers = graph.Producers();
  std::map<ValueId, std::vector<std::pair<size_t, Node>>> slices;  // of a value
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node node = WithKnownIndices(graph, graph.nodes[n]);
    if (!IsInOnePiece(graph, node)) continue;
    const ValueId source = node.stage.value->index;
    // A transposition goes into the arithmetic of its readers rather than being written.
    const bool moved = producers[source] >= 0 && IsMove(graph.nodes[producers[source]]);
    if (!graph.values[source].constant && !moved) slices[source].emplace_back(n, node);
  }
  for (auto& [source, nodes] : slices) {
    if (std::ssize(nodes) < kMinSlices) continue;
    for (auto& [n, slice] : nodes) {
      slice.kind = NodeKind::kSlice;
      graph.nodes[n] = std::move(slice);
    }
  }
}

}  // namespace bayloom::graph
