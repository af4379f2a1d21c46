// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <set>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Kernels expect what they read and write to begin at a multiple of this.

/// From the last concatenation to the first, so that one inside another becomes a slice of it.
class SliceJoiner {
 public:
  explicit SliceJoiner(Graph& graph)
      : graph_(graph),
        producers_(graph.Producers()),
        is_output_(graph.IsOutput()),
        seen_whole_(graph.values.size(), false) {
    for (const Node& node : graph.nodes) {
      if (node.kind != NodeKind::kView && node.kind != NodeKind::kSlice &&
          node.kind != NodeKind::kCall) {
        continue;
      }
      for (ValueId operand : OperandsOf(node)) seen_whole_[operand] = true;
      if (node.kind == NodeKind::kCall) seen_whole_[node.output()] = true;
    }
  }

  void Run() {
    NestPrefixes();
    for (int n = static_cast<int>(graph_.nodes.size()) - 1; n >= 0; --n) {
      const auto joined = AsConcatenation(graph_, graph_.nodes[n]);
      if (joined && Pays(n, *joined)) Join(n, *joined);
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (Node& copy : copies_[static_cast<int>(n)]) nodes.push_back(std::move(copy));
      nodes.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  /// A dense block joins all its layers' results again after every layer: each concatenation
  /// becomes that of the one before and what is new.
  void NestPrefixes() {
    std::vector<Concatenation> before;
    std::vector<ValueId> wholes;
    for (Node& node : graph_.nodes) {
      auto joined = AsConcatenation(graph_, node);
      if (!joined) continue;
      const std::vector<ValueId> parts = joined->parts;
      for (size_t k = before.size(); k-- > 0;) {
        if (before[k].axis != joined->axis || !IsPrefix(before[k].parts, parts)) continue;
        std::vector<ValueId> nested(parts.begin() + static_cast<int64_t>(before[k].parts.size()),
                                    parts.end());
        nested.insert(nested.begin(), wholes[k]);
        SetParts(graph_, node, joined->axis, nested);
        break;
      }
      before.push_back(*std::move(joined));
      wholes.push_back(node.output());
    }
  }

  /// Shorter, too: equal ones are left alone.
  static bool IsPrefix(const std::vector<ValueId>& prefix, const std::vector<ValueId>& parts) {
    return prefix.size() < parts.size() && std::equal(prefix.begin(), prefix.end(), parts.begin());
  }

  int64_t BytesOf(ValueId value) const {
    return graph_.values[value].ElementCount() * tensor::ByteSize(graph_.values[value].dtype);
  }

  /// Whether the value can be written where the concatenation wants it: it is computed, and only
  /// seen by readers that follow its indices.
  bool MayMove(ValueId value) const {
    const int producer = producers_[value];
    if (producer < 0 || is_output_[value] || seen_whole_[value] || moved_.contains(value))
      return false;
    const NodeKind kind = graph_.nodes[producer].kind;
    return kind != NodeKind::kView && kind != NodeKind::kSlice;
  }

  /// Every slice begins where vectors may, and more than half of the bytes need not be copied.
  bool Pays(int n, const Concatenation& joined) const {
    const ValueId whole = graph_.nodes[n].output();
    const std::vector<int64_t>& shape = graph_.values[whole].shape;
    int64_t step = tensor::ByteSize(graph_.values[whole].dtype);
    for (size_t d = static_cast<size_t>(joined.axis) + 1; d < shape.size(); ++d) step *= shape[d];
    int64_t free_bytes = 0;
    std::set<ValueId> parts;
    for (size_t k = 0; k < joined.parts.size(); ++k) {
      if (joined.starts[k] * step % target::kBufferAlignment != 0) return false;
      const bool first = parts.insert(joined.parts[k]).second;
      if (first && MayMove(joined.parts[k])) free_bytes += BytesOf(joined.parts[k]);
    }
    return 2 * free_bytes > BytesOf(whole);
  }

  void Join(int n, const Concatenation& joined) {
    std::vector<ValueId> parts;
    for (ValueId part : joined.parts) {
      parts.push_back(MayMove(part) ? part : Copy(n, part));
      moved_.insert(parts.back());
    }
    graph_.nodes[n].kind = NodeKind::kJoin;
    SetParts(graph_, graph_.nodes[n], joined.axis, parts);
  }

  ValueId Copy(int before, ValueId part) {
    const Value value = graph_.values[part];
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < value.shape.size(); ++d) {
      indices.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    Node copy = MakeMap(graph_, value.name + ".copy", "copy", value.shape,
                        tensor::Load(part, value.dtype, std::move(indices)));
    const ValueId id = copy.output();
    copies_[before].push_back(std::move(copy));
    return id;
  }

  Graph& graph_;
  std::vector<int> producers_;
  const std::vector<bool> is_output_;
  std::vector<bool> seen_whole_;
  std::set<ValueId> moved_;
  std::map<int, std::vector<Node>> copies_;  // by the node that they have to precede
};

}  // namespace

void JoinSlices(Graph& graph) { SliceJoiner(graph).Run(); }

}  // namespace bayloom::graph
