// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/graph/open/open_number.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::graph {
namespace {

/// The first dimension of a group that has more than one element; the end if there is none.
int Leading(const std::vector<int64_t>& shape, int begin, int end) {
  while (begin < end && shape[begin] == 1) ++begin;
  return begin;
}

/// What a view shows is open where its source is and both are equally long.
std::vector<tensor::Bound> BoundsOfView(const std::vector<int64_t>& source,
                                        const std::vector<tensor::Bound>& bounds,
                                        const std::vector<int64_t>& shown) {
  std::vector<tensor::Bound> result(shown.size());
  if (bounds.empty()) return result;
  for (const DimGroup& group : MatchShapes(source, shown)) {
    const int from = Leading(source, group.a_begin, group.a_end);
    const int to = Leading(shown, group.b_begin, group.b_end);
    if (from == group.a_end || to == group.b_end || source[from] != shown[to]) continue;
    result[to] = bounds[from];
  }
  return result;
}

class BoundsFinder {
 public:
  explicit BoundsFinder(Graph& graph) : graph_(graph), bounds_(graph.values.size()) {
    for (size_t v = 0; v < graph.values.size(); ++v) {
      for (const ValueId size : graph.values[v].bounds) bounds_[v].push_back({size});
    }
  }

  void Run() {
    const tensor::KnownBounds known = {
        [this](ValueId value) -> const std::vector<tensor::Bound>& { return bounds_[value]; },
        [this](const tensor::Expr& e) { return SizeThatIs(e); }};
    const std::vector<bool> is_output = graph_.IsOutput();
    for (Node& node : graph_.nodes) {
      DropStale(node);
      std::vector<tensor::Bound> found;
      if (node.kind == NodeKind::kView) {
        found = BoundsOfView(graph_.values[node.source].shape, bounds_[node.source],
                             graph_.values[node.output()].shape);
      } else {
        if (node.kind != NodeKind::kCall) Infer(known, node.stage);
        for (const tensor::Iter& iter : node.stage.iters) {
          if (iter.kind == tensor::IterKind::kSpatial) found.push_back(iter.bound);
        }
      }
      const bool is_found = std::ranges::any_of(found, &tensor::Bound::is_open);
      if (is_output[node.output()] && !is_found) continue;  // it keeps what it has
      bounds_[node.output()] = found;
      Note(graph_.values[node.output()], found);
    }
  }

 private:
  ValueId SizeThatIs(const tensor::Expr& e) const {
    if (e->op == tensor::ExprOp::kSize) return e->index;
    if (e->op == tensor::ExprOp::kInt) return -1;
    const std::optional<Length> length = LengthOf(graph_, e);
    for (size_t v = 0; length && v < graph_.values.size(); ++v) {
      if (graph_.values[v].size == length) return static_cast<ValueId>(v);
    }
    return -1;
  }

  /// Whether the iterator is as long as its bound at its largest. Where it is shorter, as in a
  /// slice of the first elements, it is none of an open dimension.
  bool Fits(const tensor::Iter& iter) const {
    const tensor::Bound& bound = iter.bound;
    const int64_t largest =
        graph_.values[bound.size].size->Range(graph_.symbols).largest + bound.beyond;
    return (largest + bound.step - 1) / bound.step == iter.extent;
  }

  void Infer(const tensor::KnownBounds& known, tensor::Stage& stage) const {
    tensor::InferBounds(known, stage);
    for (tensor::Iter& iter : stage.iters) {
      if (iter.bound.is_open() && !Fits(iter)) iter.bound = {};
    }
  }

  /// Iterators whose extents were changed have other bounds than before. Those of reductions follow
  /// from what is neutral.
  void DropStale(Node& node) const {
    for (tensor::Iter& iter : node.stage.iters) {
      if (!iter.bound.is_open()) continue;
      if (iter.kind == tensor::IterKind::kReduction || !Fits(iter)) iter.bound = {};
    }
  }

  static void Note(Value& value, const std::vector<tensor::Bound>& found) {
    value.bounds.clear();
    if (std::ranges::none_of(found, &tensor::Bound::is_open)) return;
    for (const tensor::Bound& bound : found) {
      value.bounds.push_back(bound.step == 1 && bound.beyond == 0 ? bound.size : -1);
    }
  }

  Graph& graph_;
  std::vector<std::vector<tensor::Bound>> bounds_;  // by value
};

}  // namespace

void InferBounds(Graph& graph) {
  if (!graph.symbols.empty()) BoundsFinder(graph).Run();
}

}  // namespace bayloom::graph
