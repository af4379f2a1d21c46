// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// The value whose elements the node stores in the same row-major order, or -1. Extents of 1 do
/// not count: they may come, go and be read at index 0.
ValueId CopiedValue(const Graph& graph, const Node& node) {
  const tensor::Expr& value = node.stage.value;
  if (node.kind != NodeKind::kMap || value->op != tensor::ExprOp::kLoad) return -1;
  const auto iters = BareIters(value);
  if (!iters) return -1;
  int next = 0;
  const int count = static_cast<int>(node.stage.iters.size());
  const auto skip_units = [&] {
    while (next < count && node.stage.iters[next].extent == 1) ++next;
  };
  const std::vector<int64_t>& shape = graph.values[value->index].shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    skip_units();
    if (next == count || (*iters)[d] != next || node.stage.iters[next].extent != shape[d]) {
      return -1;
    }
    ++next;
  }
  skip_units();
  return next == count ? value->index : -1;
}

/// The sizes that bound a value, in the order of its open dimensions.
std::vector<ValueId> OpenSizes(const Value& value) {
  std::vector<ValueId> sizes = value.bounds;
  std::erase(sizes, -1);
  return sizes;
}

/// Whether an element takes longer to compute than to load. Of what does not, every reader has its
/// own: padding, for one, that is part of a convolution.
bool TakesLong(const tensor::Expr& value) {
  bool takes_long = false;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    takes_long = takes_long || tensor::IsTranscendental(e->op) || e->op == tensor::ExprOp::kSqrt ||
                 (e->op == tensor::ExprOp::kDiv && tensor::IsFloat(e->dtype));
  });
  return takes_long;
}

bool IsWorthSharing(const Graph& graph, const Node& node) {
  if (node.group >= 0 || node.IsAlias() || node.kind == NodeKind::kCall) return false;
  return node.kind != NodeKind::kMap || graph.values[node.output()].ElementCount() == 1 ||
         TakesLong(node.stage.value);
}

/// Whether nodes of one kind that read the same values compute the same.
bool AreEqual(const Graph& graph, const Node& a, const Node& b) {
  return RunAlike(graph, a, b) && tensor::StructurallyEqual(a.stage.value, b.stage.value);
}

class CopyRemover {
 public:
  explicit CopyRemover(Graph& graph)
      : graph_(graph), is_output_(graph.IsOutput()), replacement_(graph.values.size()) {
    std::iota(replacement_.begin(), replacement_.end(), 0);
  }

  void Run() {
    for (Node& node : graph_.nodes) {
      const ValueId copied = node.kind == NodeKind::kView ? replacement_[node.source]
                                                          : CopiedValue(graph_, Redirect(node));
      if (copied >= 0 && ShowsAll(node, copied)) {
        Show(node, copied);
      } else if (const ValueId equal = FindEqual(node); equal >= 0) {
        replacement_[node.output()] = equal;
      } else {
        nodes_.push_back(std::move(node));
      }
    }
    graph_.nodes = std::move(nodes_);
    graph_.ReplaceOutputs([&](ValueId value) { return replacement_[value]; });
  }

 private:
  /// Whether an output shows all that there is of the value, and not as many as are found of it.
  bool ShowsAll(const Node& node, ValueId copied) const {
    return node.kind == NodeKind::kView || !is_output_[node.output()] ||
           OpenSizes(graph_.values[node.output()]) == OpenSizes(graph_.values[copied]);
  }

  /// Lets the node read what has taken its operands' places.
  const Node& Redirect(Node& node) const {
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      const ValueId value = replacement_[load->index];
      return value == load->index ? std::nullopt
                                  : std::optional(tensor::Load(value, load->dtype, load->operands));
    });
    return node;
  }

  /// What an earlier node computes that computes the same; -1 if there is none.
  ValueId FindEqual(const Node& node) {
    if (!IsWorthSharing(graph_, node)) return -1;
    std::vector<size_t>& earlier =
        by_operands_[{node.kind, node.stage.reduction, OperandsOf(node)}];
    for (size_t other : earlier) {
      if (AreEqual(graph_, nodes_[other], node)) return nodes_[other].output();
    }
    earlier.push_back(nodes_.size());
    return -1;
  }

  /// Makes the node's output another name for the copied value: that value itself, a view of the
  /// same shape that is there already, or a new one. A view of a view is a view of what that
  /// shows.
  void Show(const Node& node, ValueId copied) {
    const auto view = shown_.find(copied);
    const ValueId root = view == shown_.end() ? copied : view->second;
    const ValueId output = node.output();
    const std::vector<int64_t> shape = graph_.values[output].shape;
    if (shape == graph_.values[root].shape) {
      replacement_[output] = root;
      return;
    }
    const auto [known, is_new] = views_.emplace(std::pair(root, shape), output);
    if (is_new && graph_.values[root].constant) {
      known->second = AddView(graph_, nodes_, root, shape);
    } else if (is_new) {
      Node shows;
      shows.op = "view";
      shows.kind = NodeKind::kView;
      shows.source = root;
      shows.stage.name = node.stage.name;
      shows.stage.output = output;
      nodes_.push_back(std::move(shows));
      shown_[output] = root;
    }
    replacement_[output] = known->second;
  }

  Graph& graph_;
  const std::vector<bool> is_output_;
  std::vector<ValueId> replacement_;  // what stands in for a value
  std::vector<Node> nodes_;
  std::map<ValueId, ValueId> shown_;  // what each view shows
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> views_;
  std::map<std::tuple<NodeKind, tensor::Reduction, std::vector<ValueId>>, std::vector<size_t>>
      by_operands_;  // positions in nodes_
};

}  // namespace

void RemoveCopies(Graph& graph) {
  CopyRemover(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
