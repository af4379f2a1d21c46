// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <numeric>
#include <utility>

#include "bayloom/graph/internal/passes/rewriting.h"
#include "bayloom/graph/passes/passes.h"

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

class CopyRemover {
 public:
  explicit CopyRemover(Graph& graph) : graph_(graph), replacement_(graph.values.size()) {
    std::iota(replacement_.begin(), replacement_.end(), 0);
  }

  void Run() {
    for (Node& node : graph_.nodes) {
      const ValueId copied = node.kind == NodeKind::kView ? replacement_[node.source]
                                                          : CopiedValue(graph_, Redirect(node));
      if (copied < 0) {
        nodes_.push_back(std::move(node));
      } else {
        Show(node, copied);
      }
    }
    graph_.nodes = std::move(nodes_);
    for (GraphOutput& output : graph_.outputs) output.value = replacement_[output.value];
  }

 private:
  /// Lets the node read what has taken its operands' places.
  const Node& Redirect(Node& node) const {
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      const ValueId value = replacement_[load->index];
      return value == load->index ? std::nullopt
                                  : std::optional(tensor::Load(value, load->dtype, load->operands));
    });
    return node;
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
  std::vector<ValueId> replacement_;  // what stands in for a value
  std::vector<Node> nodes_;
  std::map<ValueId, ValueId> shown_;  // what each view shows
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> views_;
};

}  // namespace

void RemoveCopies(Graph& graph) {
  CopyRemover(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
