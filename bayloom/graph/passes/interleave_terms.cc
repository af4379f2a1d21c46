// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::IterVar;

/// Neighbouring terms of a sum of bfloat16 that one instruction adds to each lane.
constexpr int64_t kTermsTogether = 2;

/// The load in a factor of bfloat16; undefined for other factors.
Expr BFloatLoad(const Expr& factor) {
  if (factor->op != tensor::ExprOp::kCast) return {};
  const Expr& load = factor->operands[0];
  const bool is_load = load->op == tensor::ExprOp::kLoad && !load->operands.empty();
  return is_load && load->dtype == tensor::DType::kBFloat16 ? load : Expr();
}

/// A product whose last reduction walks through a copy that is vectorized along another axis.
struct InterleavedProduct {
  ValueId copy;
  int copy_node;
  int copy_axis;  ///< along which the reduction walks
};

class TermInterleaver {
 public:
  explicit TermInterleaver(Graph& graph)
      : graph_(graph),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()),
        is_output_(graph.IsOutput()) {}

  void Run() {
    for (Node& node : graph_.nodes) {
      const auto found = Match(node);
      if (!found) continue;
      InterleaveCopy(*found);
      InterleaveProduct(node, *found);
    }
  }

 private:
  std::optional<InterleavedProduct> Match(const Node& node) const {
    const Expr& value = node.stage.value;
    if (node.group < 0 || !IsAnchor(node) || node.stage.reduction != tensor::Reduction::kSum ||
        value->op != tensor::ExprOp::kMul || node.stage.iters.back().extent % kTermsTogether != 0) {
      return std::nullopt;
    }
    const Expr a = BFloatLoad(value->operands[0]), b = BFloatLoad(value->operands[1]);
    if (!a.defined() || !b.defined()) return std::nullopt;
    for (const auto& [rows, copy] : {std::pair(a, b), std::pair(b, a)}) {
      if (auto found = MatchFactors(node, rows, copy)) return found;
    }
    return std::nullopt;
  }

  /// The rows' terms lie next to each other, the copy's lanes do.
  std::optional<InterleavedProduct> MatchFactors(const Node& node, const Expr& rows,
                                                 const Expr& copy) const {
    const int term = static_cast<int>(node.stage.iters.size()) - 1;
    const int producer = producers_[copy->index];
    if (!IsIter(rows->operands.back(), term) || producer < 0 || is_output_[copy->index] ||
        consumers_[copy->index].size() != 1) {
      return std::nullopt;
    }
    const Node& from = graph_.nodes[producer];
    if (from.kind != NodeKind::kMap || from.group != node.group) return std::nullopt;
    std::optional<int> axis;
    for (int d = 0; d < static_cast<int>(copy->operands.size()); ++d) {
      if (!MentionsIter(copy->operands[d], term)) continue;
      if (axis || !IsIter(copy->operands[d], term)) return std::nullopt;
      axis = d;
    }
    if (!axis || *axis + 1 == static_cast<int>(copy->operands.size())) return std::nullopt;
    return InterleavedProduct{copy->index, producer, *axis};
  }

  /// Cuts an iterator into one over pairs, which takes its place, and one within a pair, which
  /// comes last. The result is what stands for it in expressions.
  static Expr CutIntoPairs(Node& node, int iter, tensor::IterKind kind) {
    std::vector<tensor::Iter>& iters = node.stage.iters;
    iters[iter].extent /= kTermsTogether;
    iters.push_back({"pair", kTermsTogether, kind});
    const int last = static_cast<int>(iters.size()) - 1;
    return IterVar(iter) * Expr(kTermsTogether) + IterVar(last);
  }

  static std::vector<Expr> Substitution(const Node& node, int iter, Expr with) {
    std::vector<Expr> places;
    for (int i = 0; i + 1 < static_cast<int>(node.stage.iters.size()); ++i) {
      places.push_back(IterVar(i));
    }
    places[iter] = std::move(with);
    return places;
  }

  void InterleaveCopy(const InterleavedProduct& found) {
    Node& node = graph_.nodes[found.copy_node];
    const Expr term = CutIntoPairs(node, found.copy_axis, tensor::IterKind::kSpatial);
    node.stage.value =
        tensor::SubstituteIters(node.stage.value, Substitution(node, found.copy_axis, term));
    graph_.values[found.copy].shape = ShapeOf(node);
  }

  void InterleaveProduct(Node& node, const InterleavedProduct& found) const {
    const int iter = static_cast<int>(node.stage.iters.size()) - 1;
    const Expr term = CutIntoPairs(node, iter, tensor::IterKind::kReduction);
    node.stage.value =
        RewriteLoads(tensor::SubstituteIters(node.stage.value, Substitution(node, iter, term)),
                     [&](const Expr& load) -> std::optional<Expr> {
                       if (load->index != found.copy) return std::nullopt;
                       std::vector<Expr> place = load->operands;
                       place[found.copy_axis] = IterVar(iter);
                       place.push_back(IterVar(iter + 1));
                       return tensor::Load(load->index, load->dtype, std::move(place));
                     });
  }

  Graph& graph_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
};

}  // namespace

void InterleaveTerms(Graph& graph) { TermInterleaver(graph).Run(); }

}  // namespace bayloom::graph
