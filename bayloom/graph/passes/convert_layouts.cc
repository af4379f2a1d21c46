// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/passes/sampled_channels.h"

namespace bayloom::graph {
namespace {

/// The order in which a value's axes are stored: stored axis j is logical axis order[j].
using Order = std::vector<int>;

Order Identity(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// What a reader asks of a value's order.
struct Demand {
  std::optional<Order> exact;
  int last = -1;  ///< this axis has to be the last one
};

bool Satisfies(const Order& order, const Demand& demand) {
  if (demand.exact) return order == *demand.exact;
  return demand.last < 0 || order.back() == demand.last;
}

Order WithLast(Order order, int axis) {
  order.erase(std::find(order.begin(), order.end(), axis));
  order.push_back(axis);
  return order;
}

bool IsReductionIter(const Node& node, int i) {
  return node.stage.iters[i].kind == tensor::IterKind::kReduction;
}

/// The spatial and reduction iterators that meet in one index of some load: positions of windows
/// and positions within windows.
struct WindowIters {
  std::set<int> positions, offsets;
};

WindowIters FindWindowIters(const Node& node) {
  WindowIters found;
  const int count = static_cast<int>(node.stage.iters.size());
  for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
    for (const tensor::Expr& index : load->operands) {
      const auto linear = tensor::ToLinear(index, count);
      if (!linear) continue;
      std::set<int> spatial, reduction;
      for (int i = 0; i < count; ++i) {
        if (linear->coefficients[i] != 0)
          (IsReductionIter(node, i) ? reduction : spatial).insert(i);
      }
      // Axis 1 is never a position: where it meets a reduction, it is a group of channels.
      const bool position = spatial.size() == 1 && reduction.size() == 1 && *spatial.begin() != 1;
      if (!position) continue;
      found.positions.insert(*spatial.begin());
      found.offsets.insert(*reduction.begin());
    }
  }
  return found;
}

/// Axes sorted by class, those of one class in the order they are in.
Order SortedBy(size_t rank, const std::function<int(int)>& class_of) {
  Order order = Identity(rank);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return class_of(a) < class_of(b); });
  return order;
}

/// Batch, positions, channels.
Order WindowOutputOrder(const Node& node, const WindowIters& window) {
  return SortedBy(ShapeOf(node).size(), [&](int axis) {
    return axis == 0 ? 0 : window.positions.contains(axis) ? 1 : 2;
  });
}

int FirstIter(const tensor::Expr& index, int count) {
  for (int i = 0; i < count; ++i) {
    if (MentionsIter(index, i)) return i;
  }
  return -1;
}

Order WindowDataOrder(const tensor::Expr& load, const WindowIters& window) {
  return SortedBy(load->operands.size(), [&](int axis) {
    if (axis == 0) return 0;
    for (int position : window.positions) {
      if (MentionsIter(load->operands[axis], position)) return 1;
    }
    return 2;
  });
}

/// [kernel..., input channels, output channels]
Order WindowWeightOrder(const Node& node, const tensor::Expr& load, const WindowIters& window) {
  const int count = static_cast<int>(node.stage.iters.size());
  return SortedBy(load->operands.size(), [&](int axis) {
    const int iter = FirstIter(load->operands[axis], count);
    if (iter < 0) return 1;
    return window.offsets.contains(iter) ? 0 : IsReductionIter(node, iter) ? 1 : 2;
  });
}

/// The axis of the load that runs with the last axis of the node's output, or -1.
int AxisOfLastIter(const Node& node, const tensor::Expr& load) {
  const int last = static_cast<int>(ShapeOf(node).size()) - 1;
  if (last < 0 || node.stage.iters[last].extent == 1) return -1;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    if (MentionsIter(load->operands[d], last)) return static_cast<int>(d);
  }
  return -1;
}

/// The order of a view's axes when its source is stored in `order`; nullopt if the view is no
/// mere renaming of axes then. Works in both directions.
std::optional<Order> OrderThroughView(const std::vector<int64_t>& from, const Order& order,
                                      const std::vector<int64_t>& to) {
  if (order == Identity(order.size())) return Identity(to.size());
  // Axes that come in groups have to stay together and in order; extents of 1 go anywhere.
  Order result;
  std::vector<int> place(from.size());
  for (size_t j = 0; j < order.size(); ++j) place[order[j]] = static_cast<int>(j);
  std::vector<std::pair<int, DimGroup>> placed;
  for (const DimGroup& group : MatchShapes(from, to)) {
    std::vector<int> wide;
    for (int d = group.a_begin; d < group.a_end; ++d) {
      if (from[d] > 1) wide.push_back(d);
    }
    // Everything stored between two axes of a group must be of extent 1.
    for (size_t k = 1; k < wide.size(); ++k) {
      if (place[wide[k]] < place[wide[k - 1]]) return std::nullopt;
      for (int j = place[wide[k - 1]] + 1; j < place[wide[k]]; ++j) {
        if (from[order[j]] > 1) return std::nullopt;
      }
    }
    const int at = !wide.empty()                 ? place[wide[0]]
                   : group.a_begin < group.a_end ? place[group.a_begin]
                                                 : -1;
    placed.emplace_back(at, group);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [at, group] : placed) {
    for (int d = group.b_begin; d < group.b_end; ++d) result.push_back(d);
  }
  return result;
}

class LayoutConverter {
 public:
  explicit LayoutConverter(Graph& graph)
      : graph_(graph), consumers_(graph.Consumers()), is_output_(graph.IsOutput()) {}

  void Run() {
    demands_.resize(graph_.values.size());
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) Ask(*node);
    for (const Value& value : graph_.values) orders_.push_back(Identity(value.shape.size()));
    for (const Node& node : graph_.nodes) {
      if (node.kind == NodeKind::kView) {
        ConvertView(node);
      } else if (node.kind == NodeKind::kSlice) {
        ConvertSlice(node);
      } else {
        ConvertNode(node);
      }
    }
    graph_.ReplaceOutputs([&](ValueId value) {
      if (graph_.values[value].constant) return value;
      return InOrder(value, Identity(orders_[value].size()));
    });
    graph_.nodes = std::move(nodes_);
    for (size_t v = 0; v < graph_.values.size(); ++v) graph_.values[v].shape = Stored(v);
  }

 private:
  bool IsComputed(ValueId value) const { return !graph_.values[value].constant; }

  /// Notes what a node wants of the values that it reads.
  void Ask(const Node& node) {
    if (node.kind == NodeKind::kView) {
      const Demand& wish = demands_[node.output()];
      if (!wish.exact || !IsComputed(node.source)) return;
      const auto order = OrderThroughView(graph_.values[node.output()].shape, *wish.exact,
                                          graph_.values[node.source].shape);
      if (order) demands_[node.source].exact = order;
      return;
    }
    const WindowIters window = FindWindowIters(node);
    const int channels = SampledChannels(node);
    for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
      if (!IsComputed(load->index) || load->operands.empty()) continue;
      Demand& demand = demands_[load->index];
      const int sampled = channels < 0 ? -1 : ChannelAxisOf(load, channels);
      if (sampled >= 0) demand.exact = WithLast(Identity(load->operands.size()), sampled);
      if (node.kind == NodeKind::kWindow) demand.exact = WindowDataOrder(load, window);
      if (node.kind == NodeKind::kMatmul) demand.last = AxisOfLastIter(node, load);
    }
  }

  void ConvertView(const Node& node) {
    const ValueId output = node.output();
    const std::vector<int64_t> from = graph_.values[node.source].shape;
    const std::vector<int64_t> to = graph_.values[output].shape;
    Node view = node;
    auto order = OrderThroughView(from, orders_[node.source], to);
    if (!order) {
      // Rather move the elements into an order that the reader likes than into any.
      Order before = Identity(from.size());
      if (const auto& wish = demands_[output].exact) {
        before = OrderThroughView(to, *wish, from).value_or(before);
      }
      view.source = InOrder(node.source, before);
      order = OrderThroughView(from, before, to);
    }
    orders_[output] = *order;
    nodes_.push_back(std::move(view));
  }

  /// Rows lie one after the other in row-major order only.
  void ConvertSlice(const Node& node) {
    Node slice = node;
    slice.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      const ValueId source = InOrder(load->index, Identity(load->operands.size()));
      return std::optional(tensor::Load(source, load->dtype, load->operands));
    });
    nodes_.push_back(std::move(slice));
  }

  void ConvertNode(const Node& node) {
    const WindowIters window = FindWindowIters(node);
    Node converted = node;
    converted.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      return std::optional(ConvertLoad(node, load, window));
    });
    const Order order = OutputOrder(node, window);
    PermuteOutput(converted, order);
    orders_[node.output()] = order;
    nodes_.push_back(std::move(converted));
  }

  tensor::Expr ConvertLoad(const Node& node, const tensor::Expr& load, const WindowIters& window) {
    const bool computed = IsComputed(load->index);
    const size_t rank = load->operands.size();
    Order order = computed && node.kind != NodeKind::kCall ? orders_[load->index] : Identity(rank);
    if (node.kind == NodeKind::kWindow) {
      order = computed ? WindowDataOrder(load, window) : WindowWeightOrder(node, load, window);
    } else if (node.kind == NodeKind::kMatmul && rank > 0) {
      const int last = AxisOfLastIter(node, load);
      if (!computed) order = MatmulConstantOrder(node, load);
      if (last >= 0 && order.back() != last) order = WithLast(Identity(rank), last);
    } else if (const int channels = SampledChannels(node); channels >= 0) {
      const int sampled = ChannelAxisOf(load, channels);
      if (sampled >= 0) order = WithLast(Identity(rank), sampled);
    }
    const ValueId value = computed ? InOrder(load->index, order) : Permuted(load->index, order);
    std::vector<tensor::Expr> indices;
    for (int axis : order) indices.push_back(load->operands[axis]);
    return tensor::Load(value, load->dtype, std::move(indices));
  }

  /// Reduction axes before the others, as far as they are side by side: [..., k, n].
  static Order MatmulConstantOrder(const Node& node, const tensor::Expr& load) {
    const int last = AxisOfLastIter(node, load);
    if (last < 0) return Identity(load->operands.size());
    return WithLast(Identity(load->operands.size()), last);
  }

  Order OutputOrder(const Node& node, const WindowIters& window) const {
    const size_t rank = ShapeOf(node).size();
    if (node.kind == NodeKind::kWindow) return WindowOutputOrder(node, window);
    if (node.kind == NodeKind::kMatmul) return MatmulOutputOrder(node);
    if (node.kind == NodeKind::kCall || IsState(node)) return Identity(rank);
    const int channels = SampledChannels(node);
    if (channels >= 0) return WithLast(Identity(rank), channels);
    const Demand& demand = demands_[node.output()];
    if (demand.exact) return *demand.exact;
    const Order following = FollowingOrder(node);
    if (Satisfies(following, demand)) return following;
    return WithLast(Identity(rank), demand.last);
  }

  /// An input with elements behind it stays in the order of the input, whose memory it shares
  /// (JoinStates).
  bool IsState(const Node& node) const {
    const tensor::Expr& value = node.stage.value;
    const bool is_choice = is_output_[node.output()] && !graph_.symbols.empty() &&
                           value->op == tensor::ExprOp::kSelect;
    return is_choice && value->operands[1]->op == tensor::ExprOp::kLoad &&
           std::ranges::count(graph_.inputs, value->operands[1]->index) > 0;
  }

  /// If a product is only transposed, it is written in the order of the transposed result.
  Order MatmulOutputOrder(const Node& node) const {
    const ValueId output = node.output();
    const size_t rank = ShapeOf(node).size();
    if (is_output_[output] || consumers_[output].size() != 1) return Identity(rank);
    const Node& reader = graph_.nodes[consumers_[output][0]];
    const bool moves =
        reader.kind == NodeKind::kMap && reader.stage.value->op == tensor::ExprOp::kLoad &&
        reader.stage.iters.size() == rank && ReadsElementwise(graph_, reader, output);
    if (!moves) return Identity(rank);
    Order order(rank, -1);
    const auto iters = *BareIters(reader.stage.value);
    for (size_t d = 0; d < rank; ++d) {
      if (iters[d] < 0) return Identity(rank);
      order[iters[d]] = static_cast<int>(d);
    }
    return order.back() == static_cast<int>(rank) - 1 ? order : Identity(rank);
  }

  /// Output axes in the order in which the largest operand stores what they index.
  Order FollowingOrder(const Node& node) const {
    const size_t rank = ShapeOf(node).size();
    tensor::Expr leader;
    for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
      if (!IsComputed(load->index)) continue;
      const auto size = [&](const tensor::Expr& e) {
        return graph_.values[e->index].ElementCount();
      };
      if (!leader.defined() || size(load) > size(leader)) leader = load;
    }
    if (!leader.defined()) return Identity(rank);
    const Order& stored = orders_[leader->index];
    // What only moves elements follows even that, so as to move nothing.
    const bool moves = node.stage.value->op == tensor::ExprOp::kLoad;
    if (stored == Identity(stored.size()) && !moves) return Identity(rank);
    std::vector<double> position(rank, -1);
    for (size_t j = 0; j < stored.size(); ++j) {
      for (size_t axis = 0; axis < rank; ++axis) {
        if (position[axis] < 0 &&
            MentionsIter(leader->operands[stored[j]], static_cast<int>(axis))) {
          position[axis] = static_cast<double>(j);
        }
      }
    }
    for (size_t axis = 0; axis < rank; ++axis) {  // axes that the leader lacks stay where they are
      if (position[axis] < 0) position[axis] = axis == 0 ? -0.5 : position[axis - 1];
    }
    Order order = Identity(rank);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return position[a] < position[b]; });
    return order;
  }

  static void PermuteOutput(Node& node, const Order& order) {
    std::vector<tensor::Iter> iters = node.stage.iters;
    std::vector<tensor::Expr> moved;
    for (size_t i = 0; i < iters.size(); ++i) moved.push_back(tensor::IterVar(static_cast<int>(i)));
    for (size_t j = 0; j < order.size(); ++j) {
      node.stage.iters[j] = iters[order[j]];
      moved[order[j]] = tensor::IterVar(static_cast<int>(j));
    }
    node.stage.value = tensor::SubstituteIters(node.stage.value, moved);
  }

  /// The value stored in `order`: itself, or a copy made once.
  ValueId InOrder(ValueId value, const Order& order) {
    if (orders_[value] == order) return value;
    const auto known = copies_.find({value, order});
    if (known != copies_.end()) return known->second;
    const Value& from = graph_.values[value];
    std::vector<tensor::Expr> indices;
    for (int axis : orders_[value]) {
      const auto at = std::find(order.begin(), order.end(), axis) - order.begin();
      indices.push_back(tensor::IterVar(static_cast<int>(at)));
    }
    std::vector<int64_t> shape;
    for (int axis : order) shape.push_back(from.shape[axis]);
    Node copy = MakeMap(graph_, from.name + ".transposed", "transpose", shape,
                        tensor::Load(value, from.dtype, std::move(indices)));
    const ValueId id = copy.output();
    copies_[{value, order}] = id;
    // The copy's logical shape is its stored shape.
    orders_.push_back(Identity(shape.size()));
    demands_.emplace_back();
    nodes_.push_back(std::move(copy));
    return id;
  }

  /// A constant with its axes reordered.
  ValueId Permuted(ValueId value, const Order& order) {
    if (order == Identity(order.size())) return value;
    const auto known = copies_.find({value, order});
    if (known != copies_.end()) return known->second;
    tensor::Stage stage;
    std::vector<int64_t> shape;
    std::vector<tensor::Expr> indices(order.size());
    for (size_t j = 0; j < order.size(); ++j) {
      shape.push_back(graph_.values[value].shape[order[j]]);
      indices[order[j]] = tensor::IterVar(static_cast<int>(j));
    }
    stage.name = graph_.values[value].name;
    stage.iters = SpatialIters(shape);
    stage.value = tensor::Load(value, graph_.values[value].dtype, std::move(indices));
    tensor::HostTensor data = EvaluateStage(stage, [&](ValueId id) -> const tensor::HostTensor& {
      return *graph_.values[id].constant;
    });
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({stage.name, data.dtype, shape,
                             std::make_shared<const tensor::HostTensor>(std::move(data))});
    orders_.push_back(Identity(shape.size()));
    demands_.emplace_back();
    copies_[{value, order}] = id;
    return id;
  }

  std::vector<int64_t> Stored(size_t value) const {
    std::vector<int64_t> shape;
    for (int axis : orders_[value]) shape.push_back(graph_.values[value].shape[axis]);
    return shape;
  }

  Graph& graph_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
  std::vector<Demand> demands_;
  std::vector<Order> orders_;
  std::vector<Node> nodes_;
  std::map<std::pair<ValueId, Order>, ValueId> copies_;
};

}  // namespace

void ConvertLayouts(Graph& graph) {
  LayoutConverter(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
