// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Products of elements of this type that one instruction adds to a sum; 1: there is none.
int64_t ProductsTogether(tensor::DType dtype) {
  if (tensor::IsInteger(dtype) && tensor::ByteSize(dtype) == 1) return 4;
  return dtype == tensor::DType::kBFloat16 ? 2 : 1;
}

int64_t PaddedExtent(int64_t extent, int64_t together) {
  return (extent + together - 1) / together * together;
}

/// Whether the extent is no multiple, and becomes one by adding a third at most.
bool PaysToPad(int64_t extent, int64_t together) {
  const int64_t added = PaddedExtent(extent, together) - extent;
  return added > 0 && 3 * added <= extent;
}

bool Is(const tensor::Expr& e, int iter) {
  return e->op == tensor::ExprOp::kIter && e->index == iter;
}

/// The load in cast(load of narrow elements); undefined for other expressions.
tensor::Expr NarrowLoadIn(const tensor::Expr& e) {
  const bool is_cast = e->op == tensor::ExprOp::kCast && tensor::ByteSize(e->dtype) == 4;
  if (!is_cast || e->operands[0]->op != tensor::ExprOp::kLoad) return {};
  const tensor::Expr& load = e->operands[0];
  const bool is_product = tensor::IsFloat(load->dtype) == tensor::IsFloat(e->dtype);
  return is_product && ProductsTogether(load->dtype) > 1 ? load : tensor::Expr();
}

/// A sum of products of narrow elements that is to have more terms along an iterator, which are
/// zero.
struct NarrowSum {
  tensor::Expr data, weights;  ///< loads; the weights are constants, or computed as well
  int iter;
  size_t data_axis, weights_axis;  ///< along which the iterator moves
  int64_t extent;                  ///< of the iterator, then
  int64_t data_extent;             ///< of the data's axis, at least
  /// The terms that are added read no data: without an instruction, they are left out again.
  bool reads_nothing = false;
};

/// The only axis whose index mentions the iterator.
std::optional<size_t> AxisMentioning(const tensor::Expr& load, int iter) {
  std::optional<size_t> axis;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    if (!MentionsIter(load->operands[d], iter)) continue;
    if (axis) return std::nullopt;
    axis = d;
  }
  return axis;
}

/// The same, where the iterator is the whole index.
std::optional<size_t> OnlyAxisOf(const tensor::Expr& load, int iter) {
  const std::optional<size_t> axis = AxisMentioning(load, iter);
  return axis && Is(load->operands[*axis], iter) ? axis : std::nullopt;
}

/// Along the data's last axis: channels that are all summed up.
std::optional<NarrowSum> AlongChannels(const Graph& graph, const Node& node,
                                       const tensor::Expr& data, const tensor::Expr& weights) {
  const tensor::Expr& last = data->operands.back();
  if (last->op != tensor::ExprOp::kIter) return std::nullopt;
  const tensor::Iter& iter = node.stage.iters[last->index];
  const int64_t together = ProductsTogether(data->dtype);
  const auto data_axis = OnlyAxisOf(data, last->index);
  const auto weights_axis = OnlyAxisOf(weights, last->index);
  if (iter.kind != tensor::IterKind::kReduction || !data_axis || !weights_axis ||
      graph.values[data->index].shape.back() != iter.extent || !PaysToPad(iter.extent, together)) {
    return std::nullopt;
  }
  const int64_t padded = PaddedExtent(iter.extent, together);
  return NarrowSum{data, weights, last->index, *data_axis, *weights_axis, padded, padded};
}

/// The greatest value of an index that is linear in the iterators, one of which has this extent.
std::optional<int64_t> GreatestIndex(const tensor::Expr& index,
                                     const std::vector<tensor::Iter>& iters, int iter,
                                     int64_t extent) {
  const auto form = tensor::ToLinear(index, static_cast<int>(iters.size()));
  if (!form) return std::nullopt;
  int64_t greatest = form->constant;
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t count = static_cast<int>(i) == iter ? extent : iters[i].extent;
    greatest += std::max<int64_t>(form->coefficients[i], 0) * (count - 1);
  }
  return greatest;
}

/// Along the rows of a kernel, where every channel is by itself: an instruction's lanes are
/// channels, and what it sums up are elements above each other. Putting those together pays where
/// the kernel has several columns.
std::optional<NarrowSum> AlongTaps(const Node& node, const tensor::Expr& data,
                                   const tensor::Expr& weights) {
  const std::vector<tensor::Iter>& iters = node.stage.iters;
  const int channel = static_cast<int>(ShapeOf(node).size()) - 1;
  const int iter_count = static_cast<int>(iters.size());
  if (!Is(data->operands.back(), channel) || !OnlyAxisOf(weights, channel)) return std::nullopt;
  const auto kernel_axes = std::count_if(iters.begin() + channel + 1, iters.end(),
                                         [](const tensor::Iter& iter) { return iter.extent > 1; });
  if (kernel_axes < 2) return std::nullopt;
  for (int i = channel + 1; i < iter_count; ++i) {
    const auto data_axis = AxisMentioning(data, i), weights_axis = OnlyAxisOf(weights, i);
    if (iters[i].extent == 1 || !data_axis || !weights_axis) continue;
    const int64_t padded = PaddedExtent(iters[i].extent, ProductsTogether(data->dtype));
    const auto greatest = GreatestIndex(data->operands[*data_axis], iters, i, padded);
    if (padded == iters[i].extent || !greatest) return std::nullopt;
    return NarrowSum{data, weights, i, *data_axis, *weights_axis, padded, *greatest + 1, true};
  }
  return std::nullopt;
}

/// Whether the node makes so many products of each element that copying them is nothing beside it.
bool IsReadOften(const Graph& graph, const Node& node, const tensor::Expr& load) {
  constexpr int64_t kMinProducts = 16;
  int64_t elements = kMinProducts;
  for (int64_t extent : graph.values[load->index].shape) elements *= extent;
  return PointsOf(node) >= elements;
}

std::optional<NarrowSum> MatchNarrowSum(const Graph& graph, const Node& node) {
  const tensor::Expr& value = node.stage.value;
  if (!IsAnchor(node) || node.stage.reduction != tensor::Reduction::kSum ||
      value->op != tensor::ExprOp::kMul) {
    return std::nullopt;
  }
  const tensor::Expr a = NarrowLoadIn(value->operands[0]), b = NarrowLoadIn(value->operands[1]);
  if (!a.defined() || !b.defined() || a->index == b->index) return std::nullopt;
  const bool is_bytes = tensor::IsInteger(a->dtype);
  if (ProductsTogether(a->dtype) != ProductsTogether(b->dtype)) return std::nullopt;
  for (const auto& [data, weights] : {std::pair(a, b), std::pair(b, a)}) {
    if (graph.values[data->index].constant || data->operands.empty()) continue;
    const bool known = graph.values[weights->index].constant != nullptr;
    if (!known && (!is_bytes || node.group >= 0 || !IsReadOften(graph, node, weights))) continue;
    if (auto sum = AlongChannels(graph, node, data, weights)) return sum;
    if (!known || !is_bytes) continue;
    if (auto sum = AlongTaps(node, data, weights)) return sum;
  }
  return std::nullopt;
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
      if (const auto sum = MatchNarrowSum(graph_, graph_.nodes[n])) {
        Pad(graph_.nodes[n], *sum, nodes);
      }
      nodes.push_back(graph_.nodes[n]);
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  /// Nodes that have to precede the node are added to `before`, which has all others that do; they
  /// are not read any more.
  void Pad(Node& node, const NarrowSum& sum, std::vector<Node>& before) {
    const ValueId data = Extended(sum.data->index, sum.data_axis, sum.data_extent, before);
    const ValueId weights = Extended(sum.weights->index, sum.weights_axis, sum.extent, before);
    const tensor::Expr is_term =
        tensor::IterVar(sum.iter) < tensor::Expr(node.stage.iters[sum.iter].extent);
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      if (load->index != sum.data->index) {
        return std::optional(tensor::Load(weights, load->dtype, load->operands));
      }
      const tensor::Expr element = tensor::Load(data, load->dtype, load->operands);
      if (!sum.reads_nothing) return std::optional(element);
      return std::optional(tensor::Select(is_term, element, tensor::Literal(0, load->dtype)));
    });
    node.stage.iters[sum.iter].extent = sum.extent;
  }

  /// The value, or what holds it with more elements along the axis, of at least this extent.
  ValueId Extended(ValueId value, size_t axis, int64_t extent, std::vector<Node>& nodes) {
    if (graph_.values[value].shape[axis] >= extent) return value;
    if (graph_.values[value].constant) return PaddedConstant(value, axis, extent);
    if (WidenProducer(value, axis, extent, nodes)) return value;
    return AddPadding(value, axis, extent, nodes);
  }

  /// Lets the one node that writes the value write zeros behind an axis; false if others see the
  /// value, too, or if the node would not follow elementwise what it reads any more.
  bool WidenProducer(ValueId value, size_t axis, int64_t extent, std::vector<Node>& nodes) {
    const int producer = producers_[value];
    if (producer < 0 || is_output_[value] || consumers_[value].size() != 1) return false;
    const auto node = std::ranges::find_if(
        nodes, [&](const Node& candidate) { return candidate.output() == value; });
    if (node == nodes.end() || node->kind != NodeKind::kMap) return false;
    const auto position = node - nodes.begin();
    const int iter = static_cast<int>(axis);
    const auto operand = OperandAlong(*node, iter);
    const bool follows = operand && WidenProducer(operand->value, operand->axis, extent, nodes);
    const bool is_last = axis + 1 == node->stage.iters.size();
    if (!follows && !is_last && !IsPadding(node->stage.value)) return false;
    Node& widened = nodes[position];
    if (!follows) widened.stage.value = Guarded(widened, iter);
    widened.stage.iters[iter].extent = extent;
    graph_.values[value].shape[axis] = extent;
    return true;
  }

  struct Operand {
    ValueId value;
    size_t axis;
  };
  /// The only value whose elements the iterator chooses, as a whole index; nullopt if the node's
  /// value depends on the iterator in another way.
  std::optional<Operand> OperandAlong(const Node& node, int iter) const {
    std::optional<Operand> operand;
    bool fits = true;
    const tensor::Expr rest = RewriteLoads(
        node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
          const auto axis = OnlyAxisOf(load, iter);
          if (!axis) return std::nullopt;
          fits &= !operand && !graph_.values[load->index].constant;
          operand = {load->index, *axis};
          return tensor::Literal(1, load->dtype);
        });
    return fits && !MentionsIter(rest, iter) ? operand : std::nullopt;
  }

  /// Whether the value is something, or by a condition on indices something that is not computed.
  static bool IsPadding(const tensor::Expr& value) {
    return value->op == tensor::ExprOp::kSelect && LoadsOf(value->operands[0]).empty() &&
           LoadsOf(value->operands[2]).empty();
  }

  /// The node's value, and 0 or its padding behind the extent of the iterator.
  static tensor::Expr Guarded(const Node& node, int iter) {
    const tensor::Expr& value = node.stage.value;
    const tensor::Expr inside = tensor::IterVar(iter) < tensor::Expr(node.stage.iters[iter].extent);
    if (IsPadding(value)) {
      return tensor::Select(value->operands[0] && inside, value->operands[1], value->operands[2]);
    }
    return tensor::Select(inside, value, tensor::Literal(0, value->dtype));
  }

  ValueId AddPadding(ValueId value, size_t axis, int64_t extent, std::vector<Node>& nodes) {
    const Value from = graph_.values[value];
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < from.shape.size(); ++d) {
      indices.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    Node pad = MakeMap(graph_, from.name + ".padded", "pad", from.shape,
                       tensor::Load(value, from.dtype, std::move(indices)));
    pad.stage.value = Guarded(pad, static_cast<int>(axis));
    pad.stage.iters[axis].extent = extent;
    graph_.values[pad.output()].shape[axis] = extent;
    nodes.push_back(pad);
    return pad.output();
  }

  ValueId PaddedConstant(ValueId constant, size_t axis, int64_t extent) {
    const Value from = graph_.values[constant];
    std::vector<int64_t> shape = from.shape;
    shape[axis] = extent;
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
