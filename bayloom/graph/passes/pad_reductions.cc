// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/graph/internal/passes/rewriting.h"
#include "bayloom/graph/passes/passes.h"

namespace bayloom::graph {
namespace {

/// Products of bytes that one instruction adds to a sum.
constexpr int64_t kProductsTogether = 4;

int64_t PaddedExtent(int64_t extent) {
  return (extent + kProductsTogether - 1) / kProductsTogether * kProductsTogether;
}

/// Whether the extent is no multiple, and becomes one by adding a third at most.
bool PaysToPad(int64_t extent) {
  const int64_t added = PaddedExtent(extent) - extent;
  return added > 0 && 3 * added <= extent;
}

bool Is(const tensor::Expr& e, int iter) {
  return e->op == tensor::ExprOp::kIter && e->index == iter;
}

/// The load in cast(load of bytes); undefined for other expressions.
tensor::Expr BytesIn(const tensor::Expr& e) {
  const bool is_cast = e->op == tensor::ExprOp::kCast && e->dtype == tensor::DType::kInt32;
  if (!is_cast || e->operands[0]->op != tensor::ExprOp::kLoad) return {};
  const tensor::Expr& load = e->operands[0];
  return tensor::IsInteger(load->dtype) && tensor::ByteSize(load->dtype) == 1 ? load
                                                                              : tensor::Expr();
}

/// A sum of products of computed and constant bytes along an iterator that is the last axis of the
/// computed ones.
struct ByteSum {
  tensor::Expr data, weights;  ///< loads
  int iter;
  size_t weights_axis;
};

/// Whether the iterator occurs in the load as a whole index, and in no other one.
std::optional<size_t> OnlyAxisOf(const tensor::Expr& load, int iter) {
  std::optional<size_t> axis;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    if (!MentionsIter(load->operands[d], iter)) continue;
    if (axis || !Is(load->operands[d], iter)) return std::nullopt;
    axis = d;
  }
  return axis;
}

std::optional<ByteSum> MatchByteSum(const Graph& graph, const Node& node) {
  const tensor::Expr& value = node.stage.value;
  if (!IsAnchor(node) || node.stage.reduction != tensor::Reduction::kSum ||
      value->op != tensor::ExprOp::kMul) {
    return std::nullopt;
  }
  ByteSum sum{BytesIn(value->operands[0]), BytesIn(value->operands[1]), -1, 0};
  if (!sum.data.defined() || !sum.weights.defined()) return std::nullopt;
  if (graph.values[sum.data->index].constant) std::swap(sum.data, sum.weights);
  if (graph.values[sum.data->index].constant || !graph.values[sum.weights->index].constant ||
      sum.data->operands.empty()) {
    return std::nullopt;
  }
  const tensor::Expr& last = sum.data->operands.back();
  if (last->op != tensor::ExprOp::kIter) return std::nullopt;
  sum.iter = last->index;
  const auto axis = OnlyAxisOf(sum.weights, sum.iter);
  const tensor::Iter& iter = node.stage.iters[sum.iter];
  if (iter.kind != tensor::IterKind::kReduction || !axis || !OnlyAxisOf(sum.data, sum.iter) ||
      graph.values[sum.data->index].shape.back() != iter.extent || !PaysToPad(iter.extent)) {
    return std::nullopt;
  }
  sum.weights_axis = *axis;
  return sum;
}

class ReductionPadder {
 public:
  explicit ReductionPadder(Graph& graph)
      : graph_(graph),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()),
        is_output_(graph.IsOutput()) {}

  void Run() {
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (const auto sum = MatchByteSum(graph_, graph_.nodes[n])) {
        Pad(graph_.nodes[n], *sum, nodes);
      }
      nodes.push_back(graph_.nodes[n]);
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  /// Nodes that have to precede the node are added to `before`, which has all others that do; they
  /// are not read any more.
  void Pad(Node& node, const ByteSum& sum, std::vector<Node>& before) {
    const int64_t extent = node.stage.iters[sum.iter].extent, padded = PaddedExtent(extent);
    ValueId data = sum.data->index;
    if (!WidenProducer(data, padded, before)) data = AddPadding(data, padded, before);
    const ValueId weights = PaddedWeights(sum.weights->index, sum.weights_axis, padded);
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      return std::optional(tensor::Load(load->index == sum.data->index ? data : weights,
                                        load->dtype, load->operands));
    });
    node.stage.iters[sum.iter].extent = padded;
  }

  /// Lets the one node that writes the value write zeros behind its last axis; false if others see
  /// the value, too.
  bool WidenProducer(ValueId value, int64_t padded, std::vector<Node>& nodes) {
    const int producer = producers_[value];
    if (producer < 0 || is_output_[value] || consumers_[value].size() != 1) return false;
    const auto node = std::ranges::find_if(
        nodes, [&](const Node& candidate) { return candidate.output() == value; });
    if (node == nodes.end() || node->kind != NodeKind::kMap) return false;
    const auto position = node - nodes.begin();
    const int last = static_cast<int>(node->stage.iters.size()) - 1;
    const ValueId operand = OperandAlong(*node, last);
    const bool follows = operand >= 0 && WidenProducer(operand, padded, nodes);
    Node& widened = nodes[position];
    if (!follows) widened.stage.value = Guarded(widened, last);
    widened.stage.iters[last].extent = padded;
    graph_.values[value].shape.back() = padded;
    return true;
  }

  /// The only value whose elements the iterator chooses, along its last axis; -1 if the node's
  /// value depends on the iterator in another way.
  ValueId OperandAlong(const Node& node, int iter) const {
    ValueId operand = -1;
    bool fits = true;
    const tensor::Expr rest = RewriteLoads(
        node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
          const auto axis = OnlyAxisOf(load, iter);
          if (!axis) return std::nullopt;
          fits &= operand < 0 && *axis + 1 == load->operands.size() &&
                  !graph_.values[load->index].constant;
          operand = load->index;
          return tensor::Literal(1, load->dtype);
        });
    return fits && !MentionsIter(rest, iter) ? operand : -1;
  }

  /// The node's value, and 0 behind the extent of the iterator.
  static tensor::Expr Guarded(const Node& node, int iter) {
    const tensor::Expr& value = node.stage.value;
    const tensor::Expr inside = tensor::IterVar(iter) < tensor::Expr(node.stage.iters[iter].extent);
    const bool is_padding = value->op == tensor::ExprOp::kSelect &&
                            LoadsOf(value->operands[0]).empty() &&
                            LoadsOf(value->operands[2]).empty();
    if (is_padding) {
      return tensor::Select(value->operands[0] && inside, value->operands[1], value->operands[2]);
    }
    return tensor::Select(inside, value, tensor::Literal(0, value->dtype));
  }

  ValueId AddPadding(ValueId value, int64_t padded, std::vector<Node>& nodes) {
    const Value from = graph_.values[value];
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < from.shape.size(); ++d) {
      indices.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    Node pad = MakeMap(graph_, from.name + ".padded", "pad", from.shape,
                       tensor::Load(value, from.dtype, std::move(indices)));
    const int last = static_cast<int>(from.shape.size()) - 1;
    pad.stage.value = Guarded(pad, last);
    pad.stage.iters[last].extent = padded;
    graph_.values[pad.output()].shape.back() = padded;
    nodes.push_back(pad);
    return pad.output();
  }

  ValueId PaddedWeights(ValueId weights, size_t axis, int64_t padded) {
    const Value from = graph_.values[weights];
    std::vector<int64_t> shape = from.shape;
    shape[axis] = padded;
    auto data = std::make_shared<const tensor::HostTensor>(PadWithZeros(*from.constant, shape));
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({from.name, from.dtype, shape, std::move(data)});
    return id;
  }

  Graph& graph_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
};

}  // namespace

void PadReductions(Graph& graph) {
  ReductionPadder(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
