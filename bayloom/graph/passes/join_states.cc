// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/open/open_number.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

/// An output that is an input's elements and others behind them.
struct Appending {
  int node;  ///< that writes it
  ValueId past;
  int axis;
  Expr start;   ///< the size that says how long the past is
  Expr behind;  ///< the elements behind it
};

/// What a conversion converts, or the expression itself.
const Expr& WithoutCast(const Expr& e) { return e->op == ExprOp::kCast ? e->operands[0] : e; }

/// The number in this type, without converting it twice.
Expr CastOnce(tensor::DType dtype, const Expr& e) {
  const Expr& inner = WithoutCast(e);
  return inner->dtype == dtype ? inner : tensor::Cast(dtype, e);
}

std::vector<Expr> Iterators(size_t count) {
  std::vector<Expr> all;
  for (size_t i = 0; i < count; ++i) all.push_back(tensor::IterVar(static_cast<int>(i)));
  return all;
}

/// An index that is so many times an iterator, and a length.
struct Shifted {
  int iters;
  Length by;
};

std::optional<Shifted> AsShifted(const Graph& graph, const Expr& e, int iter) {
  if (IsIter(e, iter)) return Shifted{1, 0};
  const bool is_sum = e->op == ExprOp::kAdd || e->op == ExprOp::kSub;
  if (!is_sum) {
    const std::optional<Length> length = LengthOf(graph, e);
    return length ? std::optional(Shifted{0, *length}) : std::nullopt;
  }
  const auto a = AsShifted(graph, e->operands[0], iter);
  const auto b = AsShifted(graph, e->operands[1], iter);
  if (!a || !b) return std::nullopt;
  return e->op == ExprOp::kAdd ? Shifted{a->iters + b->iters, a->by + b->by}
                               : Shifted{a->iters - b->iters, a->by - b->by};
}

/// The element behind the past at a place along the axis that is counted from its end.
Expr CountedFrom(const Graph& graph, const Expr& behind, const Appending& appending,
                 std::vector<Expr> place) {
  place[appending.axis] = place[appending.axis] + appending.start;
  return RewriteLoads(tensor::SubstituteIters(behind, place), [&](const Expr& load) {
    std::vector<Expr> indices = load->operands;
    for (Expr& index : indices) {
      const std::optional<Shifted> shifted = AsShifted(graph, index, appending.axis);
      if (shifted && shifted->iters == 1 && shifted->by == Length(0)) {
        index = tensor::IterVar(appending.axis);
      }
    }
    return std::optional(tensor::Load(load->index, load->dtype, std::move(indices)));
  });
}

class StateJoiner {
 public:
  explicit StateJoiner(Graph& graph)
      : graph_(graph), producers_(graph.Producers()), consumers_(graph.Consumers()) {}

  void Run() {
    for (const GraphOutput& output : graph_.outputs) ReadThroughViews(Unrounded(output.value));
    consumers_ = graph_.Consumers();
    for (GraphOutput& output : graph_.outputs) {
      if (std::optional<Appending> appending = AsAppending(output)) {
        StoreNarrow(*appending, output);
        Join(*appending);
      }
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (auto& [before, node] : added_) {
        if (before == static_cast<int>(n)) nodes.push_back(std::move(node));
      }
      nodes.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(nodes);
    RemoveDeadNodes(graph_);
  }

 private:
  bool IsInput(ValueId value) const { return std::ranges::count(graph_.inputs, value) > 0; }

  bool IsOutput(ValueId value) const {
    return std::ranges::count(graph_.outputs, value, &GraphOutput::value) > 0;
  }

  /// Of a value that is another one's elements, each rounded, the other one: in models with narrow
  /// states, what is read is wide (wide_floats.h).
  ValueId Unrounded(ValueId value) const {
    const int n = producers_[value];
    if (n < 0 || !IsNarrowFloat(graph_.values[value].dtype)) return value;
    const Node& node = graph_.nodes[n];
    const Expr& e = node.stage.value;
    const bool rounds = node.kind == NodeKind::kMap && e->op == ExprOp::kCast &&
                        e->operands[0]->op == ExprOp::kLoad &&
                        ReadsInPlace(graph_, node, e->operands[0]->index);
    return rounds ? e->operands[0]->index : value;
  }

  std::optional<Appending> AsAppending(const GraphOutput& output) const {
    const ValueId present = Unrounded(output.value);
    const int n = producers_[present];
    if (n < 0 || graph_.nodes[n].kind != NodeKind::kMap) return std::nullopt;
    const Expr& value = graph_.nodes[n].stage.value;
    if (value->op != ExprOp::kSelect || value->operands[0]->op != ExprOp::kLess) {
      return std::nullopt;
    }
    const Expr &place = value->operands[0]->operands[0], &end = value->operands[0]->operands[1];
    const Expr& load = WithoutCast(value->operands[1]);
    if (place->op != ExprOp::kIter || load->op != ExprOp::kLoad) return std::nullopt;
    const Appending appending{n, load->index, place->index, end, value->operands[2]};
    return IsState(appending, output) ? std::optional(appending) : std::nullopt;
  }

  bool IsState(const Appending& a, const GraphOutput& output) const {
    const bool is_known = std::ranges::count(graph_.states, a.past, &State::past) > 0;
    if (!IsInput(a.past) || IsOutput(a.past) || is_known) return false;
    if (graph_.values[a.past].dtype != graph_.values[output.value].dtype) return false;
    const ValueId present = Unrounded(output.value);
    const auto names = std::ranges::count_if(graph_.outputs, [&](const GraphOutput& other) {
      return other.value == present || other.value == output.value;
    });
    if (names > 1 || (present != output.value && !consumers_[output.value].empty())) return false;
    const Node& node = graph_.nodes[a.node];
    const std::optional<Length> start = LengthOf(graph_, a.start);
    const auto axis = static_cast<size_t>(a.axis);
    const ValueId bound = graph_.values[a.past].BoundOf(axis);
    const bool begins = start && bound >= 0 && *start == *graph_.values[bound].size &&
                        graph_.values[output.value].BoundOf(axis) >= 0;
    return begins && ReadsPast(node, a) &&
           HasAlignedRows(output.value, a.axis, StoredType(output.value, a.axis)) &&
           AreReadInPlace(a.past) && AreReadInPlace(present);
  }

  /// Whether the past's elements are where they are in the past.
  bool ReadsPast(const Node& node, const Appending& a) const {
    const Expr& load = WithoutCast(node.stage.value->operands[1]);
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const int iter = static_cast<int>(d);
      const bool is_same = IsIter(load->operands[d], iter) || node.stage.iters[d].extent == 1;
      if (!is_same) return false;
      const bool is_as_long = graph_.values[a.past].shape[d] == node.stage.iters[d].extent;
      if (iter != a.axis && !is_as_long) return false;
    }
    return load->operands.size() == node.stage.iters.size();
  }

  /// Whether each row of elements of this type begins where kernels expect what they write.
  bool HasAlignedRows(ValueId present, int axis, tensor::DType dtype) const {
    const std::vector<int64_t>& shape = graph_.values[present].shape;
    const int64_t row = std::accumulate(shape.begin() + axis + 1, shape.end(),
                                        tensor::ByteSize(dtype), std::multiplies<>());
    return row % target::kBufferAlignment == 0;
  }

  /// The type that the elements of a state have in memory: the one that is wanted, if its rows are
  /// aligned. QuantizeStates makes integers of float16.
  tensor::DType StoredType(ValueId present, int axis) const {
    const tensor::DType dtype = graph_.values[present].dtype;
    if (!tensor::IsFloat(dtype)) return dtype;
    tensor::DType wanted = graph_.state_type.value_or(dtype);
    if (wanted == tensor::DType::kInt8) wanted = tensor::DType::kFloat16;
    return HasAlignedRows(present, axis, wanted) ? wanted : dtype;
  }

  /// What reads an open output under another shape reads the output itself, where indices allow it:
  /// rows of a state lie apart as those of no view do.
  void ReadThroughViews(ValueId value) {
    if (!IsOpen(graph_.values[value])) return;
    for (const int n : consumers_[value]) {
      const ValueId view = graph_.nodes[n].output();
      if (graph_.nodes[n].kind != NodeKind::kView) continue;
      for (const int reader : consumers_[view]) ReadThroughView(value, view, graph_.nodes[reader]);
    }
  }

  void ReadThroughView(ValueId value, ValueId view, Node& reader) const {
    if (reader.IsAlias() || reader.kind == NodeKind::kCall) return;
    const std::vector<int64_t>&shape = graph_.values[value].shape,
          &shown = graph_.values[view].shape;
    reader.stage.value =
        RewriteLoads(reader.stage.value, [&](const Expr& load) -> std::optional<Expr> {
          if (load->index != view) return std::nullopt;
          auto indices = IndicesBehindView(shape, shown, load->operands);
          if (!indices) return std::nullopt;
          return tensor::Load(value, load->dtype, *std::move(indices));
        });
  }

  /// Whether all readers take single elements of it, wherever they lie.
  bool AreReadInPlace(ValueId value) const {
    return std::ranges::all_of(consumers_[value], [&](int n) {
      const Node& reader = graph_.nodes[n];
      const bool is_unread =
          reader.IsAlias() && consumers_[reader.output()].empty() && !IsOutput(reader.output());
      return is_unread || (!reader.IsAlias() && reader.kind != NodeKind::kCall);
    });
  }

  /// What is appended to a past becomes an output in the type in which it is stored.
  void StoreNarrow(Appending& a, GraphOutput& output) {
    const tensor::DType stored = StoredType(output.value, a.axis);
    Node& node = graph_.nodes[a.node];
    const ValueId present = node.output();
    if (present != output.value) {
      graph_.values[present].bounds = graph_.values[output.value].bounds;
      graph_.values[present].name = graph_.values[output.value].name;
      output.value = present;
    }
    for (const ValueId value : {a.past, present}) {
      for (const int reader : consumers_[value]) ReadAs(stored, value, graph_.nodes[reader]);
      graph_.values[value].dtype = stored;
    }
    const Expr chosen = node.stage.value;
    a.behind = CastOnce(stored, chosen->operands[2]);
    const Expr past = tensor::Load(a.past, stored, LoadsOf(chosen->operands[1]).front()->operands);
    node.stage.value = tensor::Select(chosen->operands[0], past, a.behind);
  }

  static void ReadAs(tensor::DType stored, ValueId value, Node& reader) {
    if (reader.IsAlias()) return;  // nothing reads those (AreReadInPlace)
    reader.stage.value =
        RewriteLoads(reader.stage.value, [&](const Expr& load) -> std::optional<Expr> {
          if (load->index != value || load->dtype == stored) return std::nullopt;
          return tensor::Cast(load->dtype, tensor::Load(value, stored, load->operands));
        });
  }

  void Join(const Appending& a) {
    const Length start = *LengthOf(graph_, a.start);
    const ValueId fresh = Fresh(a, start);
    Node& node = graph_.nodes[a.node];
    const ValueId present = node.output();
    std::vector<Expr> index = Iterators(node.stage.iters.size());
    const Expr is_past = index[a.axis] < a.start;
    index[a.axis] = index[a.axis] - a.start;
    const Expr added = tensor::Load(fresh, graph_.values[fresh].dtype, std::move(index));
    node.stage.value = tensor::Select(is_past, node.stage.value->operands[1], added);
    node.kind = NodeKind::kJoin;
    Value memory = graph_.values[present];
    memory.name += ".state";
    memory.shape[a.axis] = std::max(memory.shape[a.axis], graph_.state_room);
    memory.bounds.clear();
    graph_.values.push_back(std::move(memory));
    const auto id = static_cast<ValueId>(graph_.values.size()) - 1;
    graph_.states.push_back({a.past, present, id, a.axis, start});
  }

  /// A value with the elements behind the past, which is computed where they belong.
  ValueId Fresh(const Appending& a, const Length& start) {
    const Value present = graph_.values[graph_.nodes[a.node].output()];
    const Length whole = *graph_.values[present.BoundOf(static_cast<size_t>(a.axis))].size;
    std::vector<int64_t> shape = present.shape;
    shape[a.axis] = (whole - start).Range(graph_.symbols).largest;
    Node node = MakeMap(graph_, present.name + ".added", "append", shape,
                        CountedFrom(graph_, a.behind, a, Iterators(shape.size())));
    TakeIn(a.node, node);
    const ValueId fresh = node.output();
    added_.emplace_back(a.node, std::move(node));
    return fresh;
  }

  /// What only the node `reader` has read, element by element, becomes part of what is added.
  void TakeIn(int reader, Node& node) {
    const std::vector<Expr> loads = LoadsOf(node.stage.value);
    if (loads.size() != 1 || WithoutCast(node.stage.value)->op != ExprOp::kLoad) return;
    const ValueId source = loads[0]->index;
    const int producer = producers_[source];
    const bool is_only_reader =
        consumers_[source] == std::vector<int>{reader} && !IsOutput(source) && producer >= 0;
    if (!is_only_reader || !ReadsElementwise(graph_, node, source)) return;
    Node& before = graph_.nodes[producer];
    if (before.kind != NodeKind::kMap || before.group >= 0) return;
    const Expr taken = tensor::SubstituteIters(before.stage.value, loads[0]->operands);
    node.stage.value = CastOnce(node.stage.value->dtype, taken);
    node.op = before.op + "+" + node.op;
  }

  Graph& graph_;
  const std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<std::pair<int, Node>> added_;  // with the node that they have to precede
};

}  // namespace

void JoinStates(Graph& graph) {
  if (!graph.symbols.empty()) StateJoiner(graph).Run();
}

}  // namespace bayloom::graph
