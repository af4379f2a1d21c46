// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::Iter;
using tensor::IterKind;
using tensor::IterVar;
using tensor::Reduction;
using Exprs = std::vector<Expr>;

/// A row is in the nearest cache when its other extreme is looked for. Combining the lanes of short
/// ones takes longer than that saves.
constexpr int64_t kMinRow = 512;
constexpr int64_t kMaxRow = 4096;
/// Of less, a second-level cache holds all when the second pass begins.
constexpr int64_t kMinElements = int64_t{1} << 18;

/// The minimum and the maximum over all elements of the same tensor.
struct Extremes {
  size_t low, high;  ///< nodes
  size_t outer;      ///< iterators that count rows; the others run within one
};

bool ReducesEverything(const Node& node, Reduction reduction) {
  return node.kind == NodeKind::kReduce && node.group < 0 && node.stage.reduction == reduction &&
         tensor::IsFloat(node.stage.value->dtype) &&
         std::ranges::all_of(node.stage.iters, [](const Iter& iter) {
           return iter.kind == IterKind::kReduction || iter.extent == 1;
         });
}

/// How many iterators count rows; nullopt if there are no rows of a good length.
std::optional<size_t> OuterIters(const std::vector<Iter>& iters) {
  int64_t row = 1;
  size_t outer = iters.size();
  while (outer > 0 && row < kMinRow) row *= iters[--outer].extent;
  int64_t rows = 1;
  for (size_t i = 0; i < outer; ++i) rows *= iters[i].extent;
  const bool counts = kMinRow <= row && row <= kMaxRow && kMinElements <= rows * row;
  return counts && outer > 0 ? std::optional(outer) : std::nullopt;
}

std::optional<Extremes> PairOf(const Graph& graph, size_t low, size_t high) {
  const Node &a = graph.nodes[low], &b = graph.nodes[high];
  if (!ReducesEverything(a, Reduction::kMin) || !ReducesEverything(b, Reduction::kMax)) {
    return std::nullopt;
  }
  const auto same = [](const Iter& i, const Iter& j) {
    return i.extent == j.extent && i.kind == j.kind;
  };
  if (!std::ranges::equal(a.stage.iters, b.stage.iters, same) ||
      !tensor::StructurallyEqual(a.stage.value, b.stage.value)) {
    return std::nullopt;
  }
  const std::optional<size_t> outer = OuterIters(a.stage.iters);
  return outer ? std::optional(Extremes{low, high, *outer}) : std::nullopt;
}

/// Writes, in place of both nodes,
///
///     low[rows], high[rows] = minimum and maximum of each row       one task with
///     bounds[rows, 0] = -low[rows], bounds[rows, 1] = high[rows]    this as its result
///     extremes[s] = maximum over rows of bounds[rows, s]
///
/// A minimum is the maximum of negative numbers: negation does not round.
class ExtremesWriter {
 public:
  ExtremesWriter(Graph& graph, const Extremes& found, int group)
      : graph_(graph), found_(found), group_(group), name_(graph.nodes[found.low].stage.name) {
    const std::vector<Iter>& iters = graph.nodes[found.low].stage.iters;
    rows_.assign(iters.begin(), iters.begin() + static_cast<int64_t>(found.outer));
    for (Iter& iter : rows_) iter.kind = IterKind::kSpatial;
  }

  std::vector<Node> Write() {
    const ValueId low = WriteRows(graph_.nodes[found_.low], ".rows");
    const ValueId high = WriteRows(graph_.nodes[found_.high], ".rows");
    const ValueId bounds = WriteBounds(low, high);
    const ValueId extremes = WriteExtremes(bounds);
    Show(graph_.nodes[found_.low], -At(extremes, {Expr(0)}));
    Show(graph_.nodes[found_.high], At(extremes, {Expr(1)}));
    return std::move(nodes_);
  }

 private:
  Expr At(ValueId value, Exprs place) const {
    return tensor::Load(value, graph_.values[value].dtype, std::move(place));
  }
  Exprs Rows() const {
    Exprs place;
    for (size_t i = 0; i < rows_.size(); ++i) place.push_back(IterVar(static_cast<int>(i)));
    return place;
  }

  ValueId Add(Node node, const std::string& name) {
    node.stage.name = name;
    node.stage.output = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({name, node.stage.value->dtype, ShapeOf(node), nullptr});
    nodes_.push_back(std::move(node));
    return nodes_.back().output();
  }

  ValueId WriteRows(const Node& whole, const std::string& suffix) {
    Node node = whole;
    node.op += suffix;
    node.group = group_;
    std::copy(rows_.begin(), rows_.end(), node.stage.iters.begin());
    for (size_t i = rows_.size(); i < node.stage.iters.size(); ++i) {
      node.stage.iters[i].kind = IterKind::kReduction;
    }
    return Add(std::move(node), whole.stage.name + suffix);
  }

  ValueId WriteBounds(ValueId low, ValueId high) {
    Node node;
    node.op = "bounds";
    node.group = group_;
    node.stage.iters = rows_;
    node.stage.iters.push_back({"side", 2, IterKind::kSpatial});
    const Expr side = IterVar(static_cast<int>(rows_.size()));
    node.stage.value =
        tensor::Select(tensor::Equal(side, Expr(0)), -At(low, Rows()), At(high, Rows()));
    return Add(std::move(node), name_ + ".bounds");
  }

  ValueId WriteExtremes(ValueId bounds) {
    Node node;
    node.op = "extremes";
    node.kind = NodeKind::kReduce;
    node.stage.reduction = Reduction::kMax;
    node.stage.iters = {{"side", 2, IterKind::kSpatial}};
    Exprs place;
    for (const Iter& row : rows_) {
      node.stage.iters.push_back({row.name, row.extent, IterKind::kReduction});
      place.push_back(IterVar(static_cast<int>(place.size()) + 1));
    }
    place.push_back(IterVar(0));
    node.stage.value = At(bounds, std::move(place));
    return Add(std::move(node), name_ + ".extremes");
  }

  /// Has the node hand on what is computed elsewhere.
  void Show(const Node& whole, Expr value) {
    Node node = whole;
    node.kind = NodeKind::kMap;
    node.stage.reduction = Reduction::kNone;
    std::erase_if(node.stage.iters,
                  [](const Iter& iter) { return iter.kind == IterKind::kReduction; });
    node.stage.value = std::move(value);
    nodes_.push_back(std::move(node));
  }

  Graph& graph_;
  const Extremes& found_;
  const int group_;
  const std::string name_;
  std::vector<Iter> rows_;
  std::vector<Node> nodes_;
};

std::optional<Extremes> FindPair(const Graph& graph) {
  const size_t count = graph.nodes.size();
  for (size_t low = 0; low < count; ++low) {
    if (!ReducesEverything(graph.nodes[low], Reduction::kMin)) continue;
    for (size_t high = 0; high < count; ++high) {
      if (auto found = PairOf(graph, low, high)) return found;
    }
  }
  return std::nullopt;
}

/// What reads an extreme reads where it lies: a load and a negation are no work of their own.
void ReadInPlace(Graph& graph, ValueId value, const Expr& element) {
  for (Node& node : graph.nodes) {
    if (node.IsAlias() || node.kind == NodeKind::kCall || node.output() == value) continue;
    node.stage.value = RewriteLoads(node.stage.value, [&](const Expr& load) {
      return load->index == value ? std::optional(element) : std::nullopt;
    });
  }
}

}  // namespace

void JoinExtremes(Graph& graph) {
  int group = 0;
  for (const Node& node : graph.nodes) group = std::max(group, node.group + 1);
  bool any = false;
  while (const auto found = FindPair(graph)) {
    std::vector<Node> written = ExtremesWriter(graph, *found, group++).Write();
    const std::vector<Node> shown(written.end() - 2, written.end());
    const auto [first, last] = std::minmax(found->low, found->high);
    graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(last));
    graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(first));
    graph.nodes.insert(graph.nodes.begin() + static_cast<int64_t>(first),
                       std::make_move_iterator(written.begin()),
                       std::make_move_iterator(written.end()));
    for (const Node& node : shown) ReadInPlace(graph, node.output(), node.stage.value);
    any = true;
  }
  if (any) RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
