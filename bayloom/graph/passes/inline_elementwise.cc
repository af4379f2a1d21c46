// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/passes/sampled_channels.h"
#include "bayloom/sketch/analysis.h"
#include "bayloom/tensor/evaluation_cost.h"

namespace bayloom::graph {
namespace {

/// What the reader's value costs with the node's in place of its loads.
int64_t CostTogether(const Node& node, const Node& reader) {
  std::vector<int> iter_of_dimension(node.stage.iters.size());
  std::iota(iter_of_dimension.begin(), iter_of_dimension.end(), 0);
  return tensor::CostAfterInlining(reader.stage.value, node.output(), node.stage.value,
                                   iter_of_dimension);
}

/// Whether every load of the value is at the same place.
bool OnePlace(const std::vector<tensor::Expr>& loads) {
  return std::all_of(loads.begin(), loads.end(), [&](const tensor::Expr& load) {
    return tensor::StructurallyEqual(load, loads[0]);
  });
}

/// A concatenation of what anchors compute: they will write its parts where it wants them.
bool WillBeJoined(const Graph& graph, const Node& node, const std::vector<bool>& anchored) {
  const auto joined = AsConcatenation(graph, node);
  return joined && std::all_of(joined->parts.begin(), joined->parts.end(),
                               [&](ValueId part) { return anchored[part]; });
}

bool MayInline(const Graph& graph, const Node& node, const Node& reader,
               const std::vector<bool>& anchored) {
  if (reader.kind != NodeKind::kMap && reader.kind != NodeKind::kReduce) return false;
  if (WillBeJoined(graph, node, anchored) || IsCostlyInJoin(node, reader)) return false;
  if (!KeepsChannelsLast(node, reader)) return false;
  const std::vector<tensor::Expr> loads = LoadsOf(reader.stage.value, node.output());
  if (!OnePlace(loads) || !sketch::MayRepeat(node.stage.value, std::ssize(loads))) return false;
  if (CostTogether(node, reader) > tensor::kMaxInlinedCost) return false;
  const bool epilogue = anchored[node.output()];
  if (ReadsElementwise(graph, reader, node.output())) {
    const std::vector<ValueId> operands = OperandsOf(reader);
    const auto joined = std::count_if(operands.begin(), operands.end(),
                                      [&](ValueId operand) { return anchored[operand]; });
    return !epilogue || (reader.kind == NodeKind::kMap && joined == 1);
  }
  // Elements that are read many times are only worth computing again if that costs nothing.
  return BareIters(loads[0]) && !epilogue && !sketch::IsExpensive(node.stage.value) &&
         !sketch::ContainsSelect(node.stage.value);
}

std::string JoinedOp(const std::string& first, const std::string& second) {
  constexpr size_t kMaxLengthScale = 60;
  const std::string joined = first + "+" + second;
  return joined.size() <= kMaxLengthScale ? joined : second;
}

/// One round; whether anything was inlined.
bool InlineOnce(Graph& graph) {
  bool inlined = false;
  const std::vector<std::vector<int>> consumers = graph.Consumers();
  const std::vector<bool> anchored = AnchoredValues(graph);
  const std::vector<bool> is_output = graph.IsOutput();
  for (Node& node : graph.nodes) {
    const ValueId value = node.output();
    if (node.kind != NodeKind::kMap || is_output[value] || consumers[value].size() != 1) continue;
    Node& reader = graph.nodes[consumers[value][0]];
    if (!MayInline(graph, node, reader, anchored)) continue;
    const tensor::Expr element =
        tensor::SubstituteIters(node.stage.value, LoadsOf(reader.stage.value, value)[0]->operands);
    reader.stage.value = RewriteLoads(reader.stage.value, [&](const tensor::Expr& load) {
      return load->index == value ? std::optional(element) : std::nullopt;
    });
    reader.op = JoinedOp(node.op, reader.op);
    // It is not read any more. Chains of many nodes would hold all that each has taken in.
    node.stage.value = tensor::Literal(0, graph.values[value].dtype);
    inlined = true;
  }
  RemoveDeadNodes(graph);
  return inlined;
}

}  // namespace

void InlineElementwise(Graph& graph) {
  while (InlineOnce(graph)) {
  }
}

}  // namespace bayloom::graph
