// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

bool OnlyAddsUnits(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<int64_t> rest_from = from, rest_to = to;
  std::erase(rest_from, 1);
  std::erase(rest_to, 1);
  return rest_from == rest_to && from.size() < to.size();
}

/// The indices of the source of a view that only adds extents of 1.
std::vector<tensor::Expr> WithoutUnits(const std::vector<int64_t>& from,
                                       const std::vector<int64_t>& shown,
                                       const std::vector<tensor::Expr>& at) {
  std::vector<tensor::Expr> indices;
  size_t next = 0;
  for (int64_t extent : from) {
    if (extent == 1) {
      indices.push_back(0);
      continue;
    }
    while (shown[next] == 1) ++next;
    indices.push_back(at[next++]);
  }
  return indices;
}

/// The same of a view that merges dimensions, of a node that takes them apart again: an index of
/// merged dimensions is written as that of the two, such as 2 * i + j for j < 2. nullopt where one
/// is not, or none are merged.
std::optional<std::vector<tensor::Expr>> TakenApart(const std::vector<int64_t>& from,
                                                    const std::vector<int64_t>& shown,
                                                    const std::vector<tensor::Expr>& at,
                                                    const std::vector<tensor::Iter>& iters) {
  std::vector<tensor::Expr> indices(from.size(), tensor::Expr(0));
  bool merges = false;
  for (const DimGroup& group : MatchShapes(from, shown)) {
    int shown_as = -1, parts = 0;
    for (int d = group.b_begin; d < group.b_end; ++d) {
      if (shown[d] == 1) continue;
      if (shown_as >= 0) return std::nullopt;
      shown_as = d;
    }
    if (shown_as < 0) continue;
    const auto index = tensor::ToLinear(at[shown_as], static_cast<int>(iters.size()));
    if (!index || index->constant != 0) return std::nullopt;
    std::vector<int64_t> left = index->coefficients;
    int64_t stride = 1;
    for (int d = group.a_end; d-- > group.a_begin;) {
      if (from[d] == 1) continue;
      const auto iter = std::ranges::find(left, stride);
      if (iter == left.end()) return std::nullopt;
      const auto number = static_cast<int>(iter - left.begin());
      if (iters[number].extent != from[d]) return std::nullopt;
      indices[d] = tensor::IterVar(number);
      *iter = 0;
      merges = merges || ++parts > 1;
      stride *= from[d];
    }
    if (std::ranges::any_of(left, [](int64_t coefficient) { return coefficient != 0; })) {
      return std::nullopt;
    }
  }
  return merges ? std::optional(std::move(indices)) : std::nullopt;
}

/// Loads through views become loads of what the view shows, where the node sees that as it is.
void LookThroughViews(Graph& graph) {
  const std::vector<int> producers = graph.Producers();
  for (Node& node : graph.nodes) {
    if (node.kind != NodeKind::kMap && node.kind != NodeKind::kReduce) continue;
    node.stage.value = RewriteLoads(
        node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
          const int producer = producers[load->index];
          if (producer < 0 || graph.nodes[producer].kind != NodeKind::kView) return std::nullopt;
          const ValueId source = graph.nodes[producer].source;
          const std::vector<int64_t>& from = graph.values[source].shape;
          const std::vector<int64_t>& shown = graph.values[load->index].shape;
          const auto indices = OnlyAddsUnits(from, shown)
                                   ? std::optional(WithoutUnits(from, shown, load->operands))
                                   : TakenApart(from, shown, load->operands, node.stage.iters);
          return indices ? std::optional(tensor::Load(source, load->dtype, *indices))
                         : std::nullopt;
        });
  }
}

/// Rewrites a node to compute its result under another shape. Axes of the old shape that the new
/// one splits become affine in the new axes; axes that it merges must occur side by side in every
/// operand, which is then viewed with them merged.
class Reshaper {
 public:
  Reshaper(Graph& graph, const std::vector<int>& producers, const Node& node,
           const std::vector<int64_t>& shape)
      : graph_(graph),
        producers_(producers),
        node_(node),
        old_shape_(ShapeOf(node)),
        shape_(shape) {}

  /// The nodes to stand in for the old one: views of operands, the node itself (last) with a new
  /// output. nullopt if it cannot be done; then the graph is as before.
  std::optional<std::vector<Node>> Run(bool may_view_anchors) {
    may_view_anchors_ = may_view_anchors;
    const size_t values_before = graph_.values.size();
    if (!Plan()) return std::nullopt;
    bool fits = true;
    tensor::Expr value = RewriteLoads(node_.stage.value,
                                      [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
                                        const std::optional<tensor::Expr> merged = MergeLoad(load);
                                        fits &= merged.has_value();
                                        return merged;
                                      });
    const int old_rank = static_cast<int>(old_shape_.size());
    for (int i = 0; i < old_rank && fits; ++i) {
      fits = substitution_[i].defined() || !MentionsIter(value, i);
    }
    if (!fits) {
      graph_.values.resize(values_before);
      return std::nullopt;
    }
    for (tensor::Expr& e : substitution_) {
      if (!e.defined()) e = tensor::Expr(0);
    }
    Node result = node_;
    result.stage.value = tensor::SubstituteIters(value, substitution_);
    result.stage.iters = SpatialIters(shape_);
    result.stage.iters.insert(result.stage.iters.end(), node_.stage.iters.begin() + old_rank,
                              node_.stage.iters.end());
    result.stage.output = static_cast<ValueId>(graph_.values.size());
    const Value& old = graph_.values[node_.output()];
    graph_.values.push_back({old.name, old.dtype, shape_, nullptr});
    new_nodes_.push_back(std::move(result));
    return std::move(new_nodes_);
  }

 private:
  /// Old iterators that become one new one.
  struct Merge {
    std::vector<int> old_iters;  ///< those of extent above 1, in order
    int new_iter;
  };

  /// Decides per group of axes whether to split or to merge. New iterators are numbered after
  /// the node's old ones while both occur.
  bool Plan() {
    const int old_rank = static_cast<int>(old_shape_.size());
    const int old_count = static_cast<int>(node_.stage.iters.size());
    const int rank = static_cast<int>(shape_.size());
    substitution_.resize(old_count + old_count - old_rank + rank);
    for (int r = old_rank; r < old_count; ++r)
      substitution_[r] = tensor::IterVar(r - old_rank + rank);
    for (int s = 0; s < rank; ++s) substitution_[old_count + s] = tensor::IterVar(s);
    for (const DimGroup& group : MatchShapes(old_shape_, shape_)) {
      if (!PlanGroup(group)) return false;
    }
    return true;
  }

  bool PlanGroup(const DimGroup& group) {
    std::vector<int> wide_old;
    for (int i = group.a_begin; i < group.a_end; ++i) {
      if (old_shape_[i] > 1) {
        wide_old.push_back(i);
      } else {
        substitution_[i] = tensor::Expr(0);
        dropped_units_.insert(i);
      }
    }
    std::vector<int> wide_new;
    for (int s = group.b_begin; s < group.b_end; ++s) {
      if (shape_[s] > 1) wide_new.push_back(s);
    }
    if (wide_old.size() <= 1) {
      tensor::Expr position = 0;
      for (int s : wide_new) position = position * tensor::Expr(shape_[s]) + tensor::IterVar(s);
      if (!wide_old.empty()) substitution_[wide_old[0]] = position;
      return true;
    }
    if (wide_new.size() != 1) return false;
    merges_.push_back({wide_old, wide_new[0]});
    return true;
  }

  /// The load with merged axes merged and dropped axes dropped; nullopt if that is impossible.
  std::optional<tensor::Expr> MergeLoad(const tensor::Expr& load) {
    const std::vector<int64_t>& shape = graph_.values[load->index].shape;
    std::vector<int64_t> view_shape;
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < shape.size();) {
      const tensor::Expr& index = load->operands[d];
      const Merge* merge = MergeStartingAt(index);
      if (merge) {
        const auto end = MatchMerge(*load, shape, d, *merge);
        if (!end) return std::nullopt;
        int64_t extent = 1;
        for (; d < *end; ++d) extent *= shape[d];
        view_shape.push_back(extent);
        indices.push_back(
            tensor::IterVar(static_cast<int>(node_.stage.iters.size()) + merge->new_iter));
        continue;
      }
      const bool dropped = shape[d] == 1 && IsDropped(index, static_cast<int>(d));
      if (!dropped) {
        view_shape.push_back(shape[d]);
        indices.push_back(index);
      }
      ++d;
    }
    if (view_shape == shape) return load;
    const int producer = producers_[load->index];
    if (!may_view_anchors_ && producer >= 0 && IsAnchor(graph_.nodes[producer])) {
      return std::nullopt;
    }
    const ValueId view = AddView(graph_, new_nodes_, load->index, view_shape);
    return tensor::Load(view, load->dtype, std::move(indices));
  }

  /// Whether an index runs, or would run if broadcasting had not made it 0, with a dropped axis.
  bool IsDropped(const tensor::Expr& index, int dimension) const {
    return index->op == tensor::ExprOp::kIter
               ? dropped_units_.contains(index->index)
               : tensor::IsIntLiteral(index, 0) && dropped_units_.contains(dimension);
  }

  const Merge* MergeStartingAt(const tensor::Expr& index) const {
    for (const Merge& merge : merges_) {
      if (index->op == tensor::ExprOp::kIter && index->index == merge.old_iters[0]) return &merge;
    }
    return nullptr;
  }

  /// One past the last dimension if the load takes the merged iterators side by side and in
  /// whole from dimension d on.
  std::optional<size_t> MatchMerge(const tensor::ExprNode& load, const std::vector<int64_t>& shape,
                                   size_t d, const Merge& merge) const {
    for (int iter : merge.old_iters) {
      while (d < shape.size() && shape[d] == 1) ++d;
      const bool matches = d < shape.size() && shape[d] == old_shape_[iter] &&
                           load.operands[d]->op == tensor::ExprOp::kIter &&
                           load.operands[d]->index == iter;
      if (!matches) return std::nullopt;
      ++d;
    }
    return d;
  }

  Graph& graph_;
  const std::vector<int>& producers_;
  const Node& node_;
  const std::vector<int64_t> old_shape_, shape_;
  bool may_view_anchors_ = true;
  std::vector<tensor::Expr> substitution_;
  std::vector<Merge> merges_;
  std::set<int> dropped_units_;
  std::vector<Node> new_nodes_;
};

/// The shape that the node's result should have so that it reads the view's source as it is;
/// nullopt if the node does not read the view at its own place. A reduction's axes have to be
/// the same in both shapes.
std::optional<std::vector<int64_t>> ShapeBeforeView(const Graph& graph, const Node& node,
                                                    const Node& view) {
  if (!ReadsInPlace(graph, node, view.output())) return std::nullopt;
  const std::vector<int64_t>& shown = graph.values[view.output()].shape;
  const std::vector<int64_t>& before = graph.values[view.source].shape;
  const int spatial = static_cast<int>(ShapeOf(node).size());
  const int reduced = static_cast<int>(shown.size()) - spatial;
  const int kept = static_cast<int>(before.size()) - reduced;
  if (kept < 0 || !std::equal(shown.begin() + spatial, shown.end(), before.begin() + kept)) {
    return std::nullopt;
  }
  return std::vector<int64_t>(before.begin(), before.begin() + kept);
}

bool IsReshapable(const Node& node) {
  return node.kind == NodeKind::kMap || node.kind == NodeKind::kReduce;
}

/// Puts `nodes` (the last computing the result under a new shape) in the place of the node that
/// wrote `old_output`, which becomes a view of it.
void Replace(Graph& graph, std::vector<Node>& out, std::vector<Node> nodes, ValueId old_output) {
  Node view;
  view.op = "view";
  view.kind = NodeKind::kView;
  view.source = nodes.back().output();
  view.stage.name = nodes.back().stage.name;
  view.stage.output = old_output;
  std::move(nodes.begin(), nodes.end(), std::back_inserter(out));
  out.push_back(std::move(view));
  graph.values[old_output].constant = nullptr;
}

/// Nodes that read an anchor's result through a view, or that of elementwise nodes behind it,
/// compute in the anchor's shape instead.
class ViewSinker {
 public:
  explicit ViewSinker(Graph& graph) : graph_(graph), producers_(graph.Producers()) {}

  void Run() {
    for (const Node& node : graph_.nodes) {
      auto replacement = IsReshapable(node) ? BeforeView(node) : std::nullopt;
      if (replacement) {
        anchored_.insert(replacement->back().output());
        Replace(graph_, nodes_, *std::move(replacement), node.output());
      } else {
        if (IsAnchor(node) || FollowsInPlace(node)) anchored_.insert(node.output());
        nodes_.push_back(node);
      }
      producers_.resize(graph_.values.size(), -1);
      const Node& last = nodes_.back();
      if (last.kind == NodeKind::kView) views_[last.output()] = last;
    }
    graph_.nodes = std::move(nodes_);
  }

 private:
  std::optional<std::vector<Node>> BeforeView(const Node& node) {
    for (ValueId operand : OperandsOf(node)) {
      const auto view = views_.find(operand);
      if (view == views_.end() || !anchored_.contains(view->second.source)) continue;
      const auto shape = ShapeBeforeView(graph_, node, view->second);
      if (!shape) continue;
      if (auto nodes = Reshaper(graph_, producers_, node, *shape).Run(true)) return nodes;
    }
    return std::nullopt;
  }

  bool FollowsInPlace(const Node& node) const {
    if (node.kind != NodeKind::kMap) return false;
    const std::vector<ValueId> operands = OperandsOf(node);
    return std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
      return anchored_.contains(operand) && ReadsInPlace(graph_, node, operand);
    });
  }

  Graph& graph_;
  std::vector<int> producers_;
  std::vector<Node> nodes_;
  std::map<ValueId, Node> views_;  // by what they write
  std::set<ValueId> anchored_;
};

/// Who reads which value, while nodes are gone through from the last to the first.
class Readers {
 public:
  void Add(const Graph& graph, const Node& node) {
    for (ValueId operand : OperandsOf(node)) {
      const bool is_view = node.kind == NodeKind::kView;
      wishes_[operand].push_back(is_view ? std::optional(graph.values[node.output()].shape)
                                         : std::nullopt);
    }
  }

  /// The shape under which all readers want the value, if they are all views to one of fewer
  /// dimensions.
  std::optional<std::vector<int64_t>> WantedShape(const Graph& graph, ValueId value) const {
    const auto found = wishes_.find(value);
    if (found == wishes_.end() || !found->second[0]) return std::nullopt;
    const std::vector<int64_t>& wanted = *found->second[0];
    const bool agreed = std::all_of(found->second.begin(), found->second.end(),
                                    [&](const auto& wish) { return wish == wanted; });
    if (!agreed || wanted.size() >= graph.values[value].shape.size()) return std::nullopt;
    return wanted;
  }

 private:
  /// Per value and reader: the shape that the reader views it under, nullopt if it is no view.
  std::map<ValueId, std::vector<std::optional<std::vector<int64_t>>>> wishes_;
};

/// Nodes whose result is only wanted under a shape of fewer dimensions compute that.
void HoistViews(Graph& graph) {
  std::vector<int> producers = graph.Producers();
  const std::vector<bool> is_output = graph.IsOutput();
  std::vector<Node> reversed;  // what comes later, last first
  Readers readers;
  for (int n = static_cast<int>(graph.nodes.size()) - 1; n >= 0; --n) {
    const Node node = graph.nodes[n];
    const size_t later = reversed.size();
    std::optional<std::vector<Node>> replaced;
    if (IsReshapable(node) && !is_output[node.output()]) {
      if (const auto shape = readers.WantedShape(graph, node.output())) {
        replaced = Reshaper(graph, producers, node, *shape).Run(false);
      }
    }
    if (replaced) {
      std::vector<Node> nodes;
      Replace(graph, nodes, *std::move(replaced), node.output());
      std::move(nodes.rbegin(), nodes.rend(), std::back_inserter(reversed));
    } else {
      reversed.push_back(node);
    }
    for (size_t k = later; k < reversed.size(); ++k) readers.Add(graph, reversed[k]);
    producers.resize(graph.values.size(), -1);
  }
  graph.nodes.assign(reversed.rbegin(), reversed.rend());
}

}  // namespace

void NormalizeViews(Graph& graph) {
  RemoveCopies(graph);
  ViewSinker(graph).Run();
  RemoveCopies(graph);
  LookThroughViews(graph);
  RemoveDeadNodes(graph);
  HoistViews(graph);
  RemoveCopies(graph);
}

}  // namespace bayloom::graph
