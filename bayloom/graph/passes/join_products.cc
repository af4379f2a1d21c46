// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// A matrix product and the elementwise node that will be fused with it, if there is one: positions
/// in the graph's nodes.
using Chain = std::vector<int>;

/// The values of another chain that stand for those of the first one.
using Counterparts = std::map<ValueId, ValueId>;

class ProductJoiner {
 public:
  explicit ProductJoiner(Graph& graph)
      : graph_(graph), consumers_(graph.Consumers()), is_output_(graph.IsOutput()) {}

  void Run() {
    std::map<int, std::vector<Node>> joined;  // in place of the node at this position
    std::set<int> replaced;
    for (const std::vector<Chain>& parts : FindParts()) {
      if (parts.size() < 2) continue;
      int first = parts[0].back();
      for (const Chain& part : parts) {
        first = std::min(first, part.back());
        replaced.insert(part.begin(), part.end());
      }
      joined.emplace(first, Join(parts));
    }
    std::vector<Node> nodes;
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      if (const auto found = joined.find(n); found != joined.end()) {
        std::ranges::move(found->second, std::back_inserter(nodes));
      } else if (!replaced.contains(n)) {
        nodes.push_back(std::move(graph_.nodes[n]));
      }
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  const Node& NodeAt(int n) const { return graph_.nodes[n]; }

  /// Chains, those together that may be parts of one.
  std::vector<std::vector<Chain>> FindParts() const {
    std::vector<std::vector<Chain>> groups;
    std::map<std::vector<ValueId>, std::vector<size_t>> of_matrix;  // groups
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      const std::optional<Chain> chain = ChainFrom(n);
      if (!chain) continue;
      std::vector<ValueId> matrix = OperandsOf(NodeAt(n));
      std::erase_if(matrix, [&](ValueId id) { return graph_.values[id].constant != nullptr; });
      std::vector<size_t>& candidates = of_matrix[std::move(matrix)];
      const auto group = std::ranges::find_if(
          candidates, [&](size_t g) { return CounterpartsIn(groups[g][0], *chain).has_value(); });
      if (group != candidates.end()) {
        groups[*group].push_back(*chain);
      } else {
        candidates.push_back(groups.size());
        groups.push_back({*chain});
      }
    }
    return groups;
  }

  /// The chain that begins with a product that may be part of a larger one.
  std::optional<Chain> ChainFrom(int n) const {
    const Node& product = NodeAt(n);
    if (product.kind != NodeKind::kMatmul || product.group >= 0 || !IsOfOneConstant(product)) {
      return std::nullopt;
    }
    Chain chain = {n};
    const int reader = FusedReader(n);
    if (reader >= 0 && ReadsInPlace(graph_, NodeAt(reader), product.output())) {
      chain.push_back(reader);
    }
    // What else would be fused with it could not be fused with all parts.
    if (FusedReader(chain.back()) >= 0) return std::nullopt;
    if (!MayBePart(NodeAt(chain.back()).output())) return std::nullopt;
    return chain;
  }

  /// The node behind it that would be fused with it; -1 if there is none.
  int FusedReader(int n) const {
    const ValueId value = NodeAt(n).output();
    if (is_output_[value] || consumers_[value].size() != 1) return -1;
    const int reader = consumers_[value][0];
    const bool is_fused = NodeAt(reader).kind == NodeKind::kMap && NodeAt(reader).group < 0 &&
                          ReadsElementwise(graph_, NodeAt(reader), value);
    return is_fused ? reader : -1;
  }

  /// Whether it multiplies floats that are computed by constants.
  bool IsOfOneConstant(const Node& product) const {
    const std::vector<ValueId> factors = OperandsOf(product);
    return factors.size() == 2 && tensor::IsFloat(graph_.values[product.output()].dtype) &&
           (graph_.values[factors[0]].constant == nullptr) !=
               (graph_.values[factors[1]].constant == nullptr);
  }

  /// Whether the value can be a part of another one: neither is it an output or part of a
  /// concatenation already, nor would it begin where kernels may not read.
  bool MayBePart(ValueId value) const {
    const Value& part = graph_.values[value];
    const bool is_joined = std::ranges::any_of(
        consumers_[value], [&](int n) { return NodeAt(n).kind == NodeKind::kJoin; });
    return !is_output_[value] && !is_joined &&
           part.ElementCount() * tensor::ByteSize(part.dtype) % target::kBufferAlignment == 0;
  }

  /// Which values of `other` stand for those of `first`, if both compute the same of the same
  /// values but for constants; nullopt if they do not.
  std::optional<Counterparts> CounterpartsIn(const Chain& first, const Chain& other) const {
    if (first.size() != other.size()) return std::nullopt;
    Counterparts counterparts;
    for (size_t i = 0; i < first.size(); ++i) {
      const Node &a = NodeAt(first[i]), &b = NodeAt(other[i]);
      if (!RunAlike(graph_, a, b) || !AddConstants(a, b, counterparts)) return std::nullopt;
      const tensor::Expr renamed =
          RewriteLoads(a.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
            const auto found = counterparts.find(load->index);
            if (found == counterparts.end()) return std::nullopt;
            return tensor::Load(found->second, load->dtype, load->operands);
          });
      if (!tensor::StructurallyEqual(renamed, b.stage.value)) return std::nullopt;
      counterparts[a.output()] = b.output();
    }
    return counterparts;
  }

  /// Constants that both read in the same place stand for each other. False if they cannot.
  bool AddConstants(const Node& a, const Node& b, Counterparts& counterparts) const {
    const std::vector<ValueId> of_a = OperandsOf(a), of_b = OperandsOf(b);
    if (of_a.size() != of_b.size()) return false;
    for (size_t i = 0; i < of_a.size(); ++i) {
      const Value &x = graph_.values[of_a[i]], &y = graph_.values[of_b[i]];
      if (!x.constant || !y.constant) continue;
      if (x.dtype != y.dtype || x.shape != y.shape) return false;
      if (counterparts.try_emplace(of_a[i], of_b[i]).first->second != of_b[i]) return false;
    }
    return true;
  }

  /// The chain with all parts along a new first axis, and the parts as slices of it.
  std::vector<Node> Join(const std::vector<Chain>& parts) {
    std::vector<Counterparts> counterparts;
    for (const Chain& part : parts) counterparts.push_back(*CounterpartsIn(parts[0], part));
    std::map<ValueId, ValueId> whole;  // what has the values of all parts
    std::vector<Node> nodes;
    for (const int n : parts[0]) {
      for (const ValueId operand : OperandsOf(NodeAt(n))) {
        if (!graph_.values[operand].constant || whole.contains(operand)) continue;
        std::vector<ValueId> all;
        for (const Counterparts& of_part : counterparts) all.push_back(of_part.at(operand));
        if (std::ranges::any_of(all, [&](ValueId id) { return id != operand; })) {
          whole.emplace(operand, Stacked(all));
        }
      }
      nodes.push_back(WithParts(NodeAt(n), std::ssize(parts), whole));
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      nodes.push_back(Part(parts[p].back(), nodes[parts[0].size() - 1].output(), p));
    }
    return nodes;
  }

  /// A constant with these ones after one another.
  ValueId Stacked(const std::vector<ValueId>& parts) {
    const Value& first = graph_.values[parts[0]];
    std::vector<int64_t> shape = first.shape;
    shape.insert(shape.begin(), std::ssize(parts));
    auto data = std::make_shared<tensor::HostTensor>(tensor::HostTensor::Zeros(first.dtype, shape));
    auto place = data->data.begin();
    for (const ValueId part : parts) {
      place = std::ranges::copy(graph_.values[part].constant->data, place).out;
    }
    Value stacked{first.name, first.dtype, std::move(shape), std::move(data)};
    graph_.values.push_back(std::move(stacked));
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  /// The node for all parts; `whole` gets its output.
  Node WithParts(Node node, int64_t count, std::map<ValueId, ValueId>& whole) {
    const auto iter_count = static_cast<int>(node.stage.iters.size());
    std::vector<tensor::Expr> moved;
    for (int i = 0; i < iter_count; ++i) moved.push_back(tensor::IterVar(i + 1));
    node.stage.value =
        RewriteLoads(tensor::SubstituteIters(node.stage.value, moved),
                     [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
                       const auto found = whole.find(load->index);
                       if (found == whole.end()) return std::nullopt;
                       std::vector<tensor::Expr> place = load->operands;
                       place.insert(place.begin(), tensor::IterVar(0));
                       return tensor::Load(found->second, load->dtype, std::move(place));
                     });
    node.stage.iters.insert(node.stage.iters.begin(), {"part", count, tensor::IterKind::kSpatial});
    Value value = graph_.values[node.output()];
    value.shape.insert(value.shape.begin(), count);
    if (!value.bounds.empty()) value.bounds.insert(value.bounds.begin(), -1);
    graph_.values.push_back(std::move(value));
    const auto output = static_cast<ValueId>(graph_.values.size()) - 1;
    whole[node.output()] = output;
    node.stage.output = output;
    return node;
  }

  /// The last value of a chain as a part of all chains' values.
  Node Part(int last, ValueId all, size_t part) const {
    const Value& value = graph_.values[NodeAt(last).output()];
    Node node{.op = "slice", .kind = NodeKind::kSlice};
    node.stage.name = NodeAt(last).stage.name;
    node.stage.output = NodeAt(last).output();
    node.stage.iters = SpatialIters(value.shape);
    std::vector<tensor::Expr> place = {tensor::Expr(static_cast<int64_t>(part))};
    for (size_t d = 0; d < value.shape.size(); ++d) {
      place.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    node.stage.value = tensor::Load(all, value.dtype, std::move(place));
    return node;
  }

  Graph& graph_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
};

}  // namespace

void JoinProducts(Graph& graph) {
  ProductJoiner(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
