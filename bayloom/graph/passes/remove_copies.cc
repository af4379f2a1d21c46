#include <unordered_map>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom {
namespace {

/// The value whose elements the node stores in the same row-major order, or -1. Extents of 1 do
/// not count: they may come, go and be read at index 0.
ValueId CopiedValue(const Graph& graph, const Node& node) {
  const Expr& value = node.stage.value;
  if (node.kind != NodeKind::kMap || value->op != ExprOp::kLoad) return -1;
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

}  // namespace

void RemoveCopies(Graph& graph) {
  std::vector<ValueId> replacement(graph.values.size());
  for (size_t v = 0; v < replacement.size(); ++v) replacement[v] = static_cast<ValueId>(v);
  std::vector<Node> nodes;
  std::unordered_map<ValueId, ValueId> shown;  // what each view shows
  for (Node& node : graph.nodes) {
    if (node.kind == NodeKind::kView) {
      node.source = replacement[node.source];
      // A view of a view is a view of what that shows.
      if (const auto earlier = shown.find(node.source); earlier != shown.end()) {
        node.source = earlier->second;
      }
      shown[node.output()] = node.source;
    } else {
      node.stage.value = RewriteLoads(node.stage.value, [&](const Expr& load) {
        return replacement[load->index] == load->index
                   ? std::nullopt
                   : std::optional(Load(replacement[load->index], load->dtype, load->operands));
      });
    }
    const ValueId source = node.kind == NodeKind::kView ? node.source : CopiedValue(graph, node);
    const ValueId output = node.output();
    if (source < 0) {
      nodes.push_back(std::move(node));
    } else if (graph.values[source].shape == graph.values[output].shape) {
      replacement[output] = source;
    } else if (node.kind == NodeKind::kView) {
      nodes.push_back(std::move(node));
    } else {
      const auto earlier = shown.find(source);
      const ValueId root = earlier == shown.end() ? source : earlier->second;
      replacement[output] = AddView(graph, nodes, root, graph.values[output].shape);
      shown[replacement[output]] = root;
    }
  }
  graph.nodes = std::move(nodes);
  for (GraphOutput& output : graph.outputs) output.value = replacement[output.value];
  RemoveDeadNodes(graph);
}

}  // namespace bayloom
