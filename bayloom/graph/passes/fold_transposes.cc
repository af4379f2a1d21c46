// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/passes/sampled_channels.h"

namespace bayloom::graph {
namespace {

/// Images of so few channels (the network's input) are not worth a copy that puts these last.
constexpr int64_t kFewChannels = 4;

/// Products of so few rows take no longer than reading the matrix: copying it takes as long again.
constexpr int64_t kFewRows = 8;

/// Whether the load's neighbours are terms of one sum, and few sums have each element.
bool IsReadOnceAlongSums(const Node& reader, const tensor::Expr& load) {
  const std::vector<int64_t>& shape = ShapeOf(reader);
  const auto spatial = static_cast<int>(shape.size());
  int64_t rows = 1;
  for (int i = 0; i < spatial; ++i) {
    if (!MentionsIter(load, i)) rows *= shape[i];
  }
  const tensor::Expr& along = load->operands.back();
  return rows <= kFewRows && along->op == tensor::ExprOp::kIter && along->index >= spatial;
}

/// A matrix product wants what its last axis runs along to be contiguous, and so does a
/// convolution; what interpolates in images wants their channels so.
bool Suits(const Graph& graph, const Node& reader, const tensor::Expr& before,
           const tensor::Expr& load) {
  if (const int channels = SampledChannels(reader); channels >= 0) {
    const int last = static_cast<int>(before->operands.size()) - 1;
    return last < 0 || ChannelAxisOf(before, channels) != last ||
           ChannelAxisOf(load, channels) == static_cast<int>(load->operands.size()) - 1;
  }
  if (reader.kind == NodeKind::kMap || reader.kind == NodeKind::kReduce) return true;
  const int last = static_cast<int>(ShapeOf(reader).size()) - 1;
  if (reader.kind == NodeKind::kWindow) {
    return graph.values[before->index].shape.back() <= kFewChannels && !MentionsIter(load, last);
  }
  for (size_t d = 0; d + 1 < load->operands.size(); ++d) {
    if (last >= 0 && MentionsIter(load->operands[d], last)) {
      return reader.kind == NodeKind::kMatmul && IsReadOnceAlongSums(reader, load);
    }
  }
  return true;
}

/// The load of what lies behind the move that wrote the loaded value; nullopt to keep it.
std::optional<tensor::Expr> BehindMove(const Graph& graph, const std::vector<int>& producers,
                                       const Node& reader, const tensor::Expr& load) {
  int producer = producers[load->index];
  std::vector<tensor::Expr> indices = load->operands;
  if (producer >= 0 && graph.nodes[producer].kind == NodeKind::kView) {
    const ValueId source = graph.nodes[producer].source;
    const auto behind =
        IndicesBehindView(graph.values[source].shape, graph.values[load->index].shape, indices);
    if (!behind) return std::nullopt;
    indices = *behind;
    producer = producers[source];
  }
  if (producer < 0 || !IsMove(graph.nodes[producer])) return std::nullopt;
  tensor::Expr moved = tensor::SubstituteIters(graph.nodes[producer].stage.value, indices);
  return Suits(graph, reader, load, moved) ? std::optional(std::move(moved)) : std::nullopt;
}

}  // namespace

void FoldTransposes(Graph& graph) {
  const std::vector<int> producers = graph.Producers();
  for (Node& node : graph.nodes) {
    if (node.kind == NodeKind::kView || node.kind == NodeKind::kSlice ||
        node.kind == NodeKind::kCall) {
      continue;
    }
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      return BehindMove(graph, producers, node, load);
    });
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
