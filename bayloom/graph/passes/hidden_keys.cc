// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/hidden_keys.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;
using tensor::IterVar;

/// Scores below this leave no weight beside one that is not.
constexpr double kLowestScore = -1e30;
/// Factors of scores, so that what is below kLowestScore stays out of reach of others.
constexpr double kMinFactor = 1e-3, kMaxFactor = 1e3;

/// What an expression of rows and keys is at the places that a mask hides.
struct Hidden {
  enum class Kind { kAnything, kLowest, kZero };
  Kind kind = Kind::kAnything;
  Expr visible;            ///< where the mask hides nothing
  bool is_finite = false;  ///< lowest, but perhaps not minus infinity
};

class MaskFinder {
 public:
  MaskFinder(const Graph& graph, const AttentionPattern& pattern)
      : graph_(graph), pattern_(pattern), rows_(pattern.rows()) {
    values_[graph.nodes[pattern.scores].output()] = {};
    for (int n : pattern.between) values_[graph.nodes[n].output()] = {};
  }

  std::optional<std::vector<KeyRange>> Find() {
    for (int n : pattern_.between) {
      const Node& node = graph_.nodes[n];
      const Hidden hidden = HiddenOf(node.stage.value);
      if (node.kind == NodeKind::kReduce) {
        if (!IsNeutral(node.stage.reduction, hidden)) return std::nullopt;
        Need(hidden);
      } else if (ShapeOf(node).size() == static_cast<size_t>(rows_) + 1) {
        values_[node.output()] = hidden;
      }
    }
    const Hidden& weights = values_[graph_.nodes[pattern_.weights].output()];
    if (weights.kind != Hidden::Kind::kZero) return std::nullopt;
    Need(weights);
    if (is_finite_ && HasOtherMasks()) return std::nullopt;
    std::vector<KeyRange> ranges = Ranges();
    const bool sees_all = std::all_of(ranges.begin(), ranges.end(), [](const KeyRange& range) {
      return range.first < range.last;
    });
    if (is_finite_ && !sees_all) return std::nullopt;
    return ranges;
  }

 private:
  using Kind = Hidden::Kind;

  static bool IsNeutral(tensor::Reduction reduction, const Hidden& hidden) {
    return (reduction == tensor::Reduction::kMax && hidden.kind == Kind::kLowest) ||
           (reduction == tensor::Reduction::kSum && hidden.kind == Kind::kZero);
  }

  /// The keys that count here count everywhere.
  void Need(const Hidden& hidden) {
    is_finite_ = is_finite_ || hidden.is_finite;
    if (!visible_.defined()) {
      visible_ = hidden.visible;
    } else if (!tensor::StructurallyEqual(visible_, hidden.visible)) {
      visible_ = visible_ || hidden.visible;
    }
  }

  /// Known without inputs, by query and key.
  bool IsStatic(const Expr& e) const {
    bool is_static = true;
    tensor::Visit(e, [&](const Expr& inner) {
      if (inner->op == ExprOp::kSize) is_static = false;
      if (inner->op == ExprOp::kLoad) {
        is_static = is_static && graph_.values[inner->index].constant != nullptr;
      } else if (inner->op == ExprOp::kIter && inner->index < rows_ - 1) {
        is_static = is_static && RowExtent(inner->index) == 1;
      }
    });
    return is_static;
  }
  int64_t RowExtent(int row) const { return graph_.nodes[pattern_.scores].stage.iters[row].extent; }

  static bool IsLowestLiteral(const Expr& e) {
    return e->op == ExprOp::kFloat && e->float_value < kLowestScore;
  }
  static bool IsZeroLiteral(const Expr& e) {
    return e->op == ExprOp::kFloat && e->float_value == 0;
  }
  static bool IsFactor(const Expr& e) {
    return e->op == ExprOp::kFloat && e->float_value >= kMinFactor && e->float_value <= kMaxFactor;
  }

  Hidden HiddenOf(const Expr& e) const {
    if (IsLowestLiteral(e)) {
      return {Kind::kLowest, tensor::BoolLiteral(false), std::isfinite(e->float_value)};
    }
    if (IsZeroLiteral(e)) return {Kind::kZero, tensor::BoolLiteral(false)};
    switch (e->op) {
      case ExprOp::kLoad:
        return OfLoad(e);
      case ExprOp::kSelect:
        return OfSelect(e);
      case ExprOp::kAdd:
        return OfSum(HiddenOf(e->operands[0]), HiddenOf(e->operands[1]));
      case ExprOp::kSub:
        return OfSum(HiddenOf(e->operands[0]), {});
      case ExprOp::kMul:
        return OfProduct(e);
      case ExprOp::kDiv:
        return OfQuotient(e);
      case ExprOp::kExp:
        return OfExponential(HiddenOf(e->operands[0]));
      default:
        return {};
    }
  }

  /// A value of the attention, or a mask that is added.
  Hidden OfLoad(const Expr& load) const {
    if (const auto known = values_.find(load->index); known != values_.end()) {
      return load->operands.size() == static_cast<size_t>(rows_) + 1 ? known->second : Hidden{};
    }
    if (!IsStatic(load) || !tensor::IsFloat(load->dtype)) return {};
    return {Kind::kLowest, tensor::Literal(kLowestScore, load->dtype) < load, true};
  }

  Hidden OfSelect(const Expr& e) const {
    const Expr& chosen = e->operands[0];
    const Hidden then = HiddenOf(e->operands[1]), otherwise = HiddenOf(e->operands[2]);
    const Kind kind = then.kind == Kind::kAnything ? otherwise.kind : then.kind;
    const auto fits = [&](const Hidden& side) {
      return side.kind == kind || side.kind == Kind::kAnything;
    };
    if (kind == Kind::kAnything || !fits(then) || !fits(otherwise)) return {};
    const bool is_finite = then.is_finite || otherwise.is_finite;
    if (IsStatic(chosen)) {
      return {kind, (chosen && VisibleOf(then)) || (!chosen && VisibleOf(otherwise)), is_finite};
    }
    if (then.kind != otherwise.kind) return {};
    return {kind, VisibleOf(then) || VisibleOf(otherwise), is_finite};
  }
  static Expr VisibleOf(const Hidden& hidden) {
    return hidden.kind == Kind::kAnything ? tensor::BoolLiteral(true) : hidden.visible;
  }

  static Hidden OfSum(const Hidden& a, const Hidden& b) {
    if (a.kind != Kind::kLowest) return b.kind == Kind::kLowest ? b : Hidden{};
    if (b.kind != Kind::kLowest) return a;
    return {Kind::kLowest, a.visible && b.visible, a.is_finite || b.is_finite};
  }

  Hidden OfProduct(const Expr& e) const {
    const Hidden a = HiddenOf(e->operands[0]), b = HiddenOf(e->operands[1]);
    if (a.kind == Kind::kZero) return a;
    if (b.kind == Kind::kZero) return b;
    if (a.kind == Kind::kLowest && IsFactor(e->operands[1])) return a;
    if (b.kind == Kind::kLowest && IsFactor(e->operands[0])) return b;
    return {};
  }

  Hidden OfQuotient(const Expr& e) const {
    const Hidden a = HiddenOf(e->operands[0]);
    if (a.kind == Kind::kZero || (a.kind == Kind::kLowest && IsFactor(e->operands[1]))) return a;
    return {};
  }

  static Hidden OfExponential(Hidden hidden) {
    if (hidden.kind != Kind::kLowest) return {};
    hidden.kind = Kind::kZero;
    return hidden;
  }

  /// Whether something besides scores and constants decides what the weights are.
  bool HasOtherMasks() const {
    return std::any_of(pattern_.between.begin(), pattern_.between.end(), [&](int n) {
      const std::vector<ValueId> operands = OperandsOf(graph_.nodes[n]);
      return std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
        return !values_.contains(operand) && !graph_.values[operand].constant;
      });
    });
  }

  std::vector<KeyRange> Ranges() const {
    const std::vector<tensor::Iter>& iters = graph_.nodes[pattern_.scores].stage.iters;
    const int64_t queries = iters[rows_ - 1].extent, keys = iters[rows_].extent;
    std::vector<Expr> place(rows_ + 2, Expr(0));
    place[rows_ - 1] = IterVar(0);
    place[rows_] = IterVar(1);
    const Expr visible = tensor::SubstituteIters(visible_, place);
    const auto reduced = [&](tensor::Reduction reduction, const Expr& seen, int64_t unseen) {
      tensor::Stage stage;
      stage.iters = {{"q", queries, tensor::IterKind::kSpatial},
                     {"k", keys, tensor::IterKind::kReduction}};
      stage.reduction = reduction;
      stage.value = tensor::Select(visible, seen, Expr(unseen));
      return EvaluateStage(stage, [&](ValueId value) -> const tensor::HostTensor& {
        return *graph_.values[value].constant;
      });
    };
    const tensor::HostTensor first = reduced(tensor::Reduction::kMin, IterVar(1), keys);
    const tensor::HostTensor last = reduced(tensor::Reduction::kMax, IterVar(1) + Expr(1), 0);
    std::vector<KeyRange> ranges(queries);
    for (int64_t q = 0; q < queries; ++q) ranges[q] = {first.GetInt(q), last.GetInt(q)};
    return ranges;
  }

  const Graph& graph_;
  const AttentionPattern& pattern_;
  const int rows_;
  std::map<ValueId, Hidden> values_;  // of the attention; rows are anything
  Expr visible_;                      // undefined until something hides
  bool is_finite_ = false;
};

}  // namespace

std::optional<std::vector<KeyRange>> FindVisibleKeys(const Graph& graph,
                                                     const AttentionPattern& pattern) {
  return MaskFinder(graph, pattern).Find();
}

}  // namespace bayloom::graph
