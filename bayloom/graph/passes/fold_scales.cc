// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// factor * x + offset for some value x; an undefined factor is 0.
struct LinearInValue {
  tensor::Expr factor, offset;
};

/// The expression as a linear function of the value's element; nullopt if it is not one.
std::optional<LinearInValue> AsLinear(const tensor::Expr& e, ValueId value) {
  const tensor::Expr zero = tensor::Literal(0, e->dtype);
  if (e->op == tensor::ExprOp::kLoad && e->index == value)
    return LinearInValue{tensor::Literal(1, e->dtype), zero};
  if (LoadsOf(e, value).empty()) return LinearInValue{tensor::Expr(), e};
  if (e->op == tensor::ExprOp::kNegate) {
    auto inner = AsLinear(e->operands[0], value);
    if (inner) inner = LinearInValue{-inner->factor, -inner->offset};
    return inner;
  }
  if (e->operands.size() != 2) return std::nullopt;
  const auto a = AsLinear(e->operands[0], value), b = AsLinear(e->operands[1], value);
  if (!a || !b) return std::nullopt;
  const bool both = a->factor.defined() && b->factor.defined();
  switch (e->op) {
    case tensor::ExprOp::kAdd:
      return LinearInValue{both                  ? a->factor + b->factor
                           : a->factor.defined() ? a->factor
                                                 : b->factor,
                           a->offset + b->offset};
    case tensor::ExprOp::kSub:
      return LinearInValue{both                  ? a->factor - b->factor
                           : a->factor.defined() ? a->factor
                                                 : -b->factor,
                           a->offset - b->offset};
    case tensor::ExprOp::kMul:
      if (both) return std::nullopt;
      return a->factor.defined() ? LinearInValue{a->factor * b->offset, a->offset * b->offset}
                                 : LinearInValue{b->factor * a->offset, b->offset * a->offset};
    case tensor::ExprOp::kDiv:
      if (b->factor.defined()) return std::nullopt;
      return LinearInValue{a->factor / b->offset, a->offset / b->offset};
    default:
      return std::nullopt;
  }
}

/// The one constant that the anchor multiplies with, as a load at bare iterators.
std::optional<tensor::Expr> WeightsOf(const Graph& graph, const Node& anchor) {
  if (!IsAnchor(anchor) || anchor.stage.reduction != tensor::Reduction::kSum) return std::nullopt;
  const tensor::Expr& value = anchor.stage.value;
  if (value->op != tensor::ExprOp::kMul || !tensor::IsFloat(value->dtype)) return std::nullopt;
  const std::vector<tensor::Expr> loads = LoadsOf(value);
  if (loads.size() != 2) return std::nullopt;
  for (const tensor::Expr& load : loads) {
    if (graph.values[load->index].constant && BareIters(load)) return load;
  }
  return std::nullopt;
}

bool LoadsConstantsOnly(const Graph& graph, const tensor::Expr& e) {
  const std::vector<tensor::Expr> loads = LoadsOf(e);
  return std::all_of(loads.begin(), loads.end(),
                     [&](const tensor::Expr& load) { return graph.values[load->index].constant; });
}

/// Replaces the weights by weights * factor; false if the factor varies with more than the
/// weights' own output channels.
bool ScaleWeights(Graph& graph, Node& anchor, const tensor::Expr& weights,
                  const tensor::Expr& factor) {
  if (!LoadsConstantsOnly(graph, factor)) return false;
  std::vector<tensor::Expr> place(
      anchor.stage.iters.size());  // the anchor's iterators in weight space
  for (size_t d = 0; d < weights->operands.size(); ++d) {
    const tensor::Expr& index = weights->operands[d];
    if (index->op == tensor::ExprOp::kIter)
      place[index->index] = tensor::IterVar(static_cast<int>(d));
  }
  for (size_t i = 0; i < place.size(); ++i) {
    const bool varies = MentionsIter(factor, static_cast<int>(i));
    if (varies &&
        (!place[i].defined() || anchor.stage.iters[i].kind == tensor::IterKind::kReduction)) {
      return false;
    }
  }
  const std::vector<int64_t> shape = graph.values[weights->index].shape;
  std::vector<tensor::Expr> all;
  for (size_t d = 0; d < shape.size(); ++d) all.push_back(tensor::IterVar(static_cast<int>(d)));
  tensor::Stage stage;
  stage.name = graph.values[weights->index].name + ".scaled";
  stage.iters = SpatialIters(shape);
  stage.value =
      tensor::Load(weights->index, weights->dtype, all) * tensor::SubstituteIters(factor, place);
  tensor::HostTensor data = EvaluateStage(
      stage, [&](ValueId id) -> const tensor::HostTensor& { return *graph.values[id].constant; });
  const auto scaled = static_cast<ValueId>(graph.values.size());
  graph.values.push_back(
      {stage.name, data.dtype, shape, std::make_shared<const tensor::HostTensor>(std::move(data))});
  anchor.stage.value = RewriteLoads(anchor.stage.value, [&](const tensor::Expr& load) {
    return load->index == weights->index
               ? std::optional(tensor::Load(scaled, load->dtype, load->operands))
               : std::nullopt;
  });
  return true;
}

/// Reads a chain of elementwise nodes behind an anchor, as far as they are linear in its result,
/// as one linear function; folds its factor. Whether there was one to fold.
bool FoldBehind(Graph& graph, int anchor, const std::vector<std::vector<int>>& consumers,
                const std::vector<bool>& is_output) {
  const ValueId result = graph.nodes[anchor].output();
  const auto weights = WeightsOf(graph, graph.nodes[anchor]);
  if (!weights) return false;
  ValueId current = result;
  tensor::Expr so_far;  // the current value in terms of the anchor's result
  while (!is_output[current] && consumers[current].size() == 1) {
    Node& reader = graph.nodes[consumers[current][0]];
    if (reader.kind != NodeKind::kMap || !ReadsInPlace(graph, reader, current)) return false;
    const tensor::Expr value = RewriteLoads(reader.stage.value, [&](const tensor::Expr& load) {
      return load->index == current && so_far.defined() ? std::optional(so_far) : std::nullopt;
    });
    const auto linear = AsLinear(value, result);
    if (!linear || !linear->factor.defined()) return false;
    so_far = value;
    current = reader.output();
    if (linear->factor->op == tensor::ExprOp::kFloat && linear->factor->float_value == 1) continue;
    if (!ScaleWeights(graph, graph.nodes[anchor], *weights, linear->factor)) return false;
    std::vector<tensor::Expr> here;
    for (size_t d = 0; d < reader.stage.iters.size(); ++d)
      here.push_back(tensor::IterVar(static_cast<int>(d)));
    reader.stage.value = tensor::Load(result, value->dtype, here) + linear->offset;
    return true;
  }
  return false;
}

}  // namespace

void FoldScales(Graph& graph) {
  const std::vector<bool> is_output = graph.IsOutput();
  std::vector<std::vector<int>> consumers = graph.Consumers();
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    while (FoldBehind(graph, n, consumers, is_output)) consumers = graph.Consumers();
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
