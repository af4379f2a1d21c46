// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/sliding_window.h"

#include <algorithm>
#include <optional>
#include <set>

#include "bayloom/graph/decoder/step_evaluator.h"
#include "bayloom/graph/decoder/tensor_lengths.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;

/// Tokens that are gone, in samples.
constexpr int64_t kGone = 77;

class WindowFinder {
 public:
  explicit WindowFinder(const Graph& graph) : graph_(graph) {}

  int64_t Find() {
    if (!FindPast() || !ReadInputs() || FollowsPastElsewhere()) return 0;
    const Symbol& past = graph_.symbols[static_cast<size_t>(past_->AsSymbol())];
    const int64_t longest = past.largest;
    int64_t window = 0;
    for (const Node& node : graph_.nodes) {
      const std::optional<size_t> row = ReducedRow(node);
      if (!row || node.stage.reduction != tensor::Reduction::kMax) continue;
      StepEvaluator evaluator = StepOf(longest, Counts().smallest, longest);
      window = std::max(window, longest - FirstSeen(evaluator, node, *row, longest) + 1);
    }
    if (window < 2 || window > longest) return 0;
    for (const int64_t count : {Counts().smallest, Counts().largest}) {
      for (const int64_t held : {window - 2, window - 1, window, (window + longest) / 2, longest}) {
        if (past.Has(held) && !Hides(window, held, count)) return 0;
      }
    }
    return window;
  }

 private:
  tensor::SizeRange Counts() const { return inputs_.taken.Range(graph_.symbols); }

  StepEvaluator StepOf(int64_t past, int64_t count, int64_t first) const {
    return StepEvaluator(graph_, inputs_, past, count, first);
  }

  /// Of outputs that are inputs and rows behind them.
  bool FindPast() {
    const std::vector<int> producers = graph_.Producers();
    for (const GraphOutput& output : graph_.outputs) {
      const Value& present = graph_.values[output.value];
      const int n = producers[output.value];
      if (n < 0 || graph_.nodes[n].IsAlias() || !tensor::IsFloat(present.dtype)) continue;
      for (const ValueId operand : OperandsOf(graph_.nodes[n])) {
        if (std::ranges::count(graph_.inputs, operand) == 0) continue;
        const Value& before = graph_.values[operand];
        for (size_t d = 0; d < before.shape.size() && IsOpen(before); ++d) {
          const Length past = LengthOf(graph_, before, d);
          if (past.AsConstant() || before.shape.size() != present.shape.size()) continue;
          const Length taken = LengthOf(graph_, present, d) - past;
          if (past.AsSymbol() < 0 || (past_ && (*past_ != past || taken_ != taken))) return false;
          past_ = past;
          taken_ = taken;
        }
      }
    }
    return past_.has_value();
  }

  bool ReadInputs() {
    Result<StepInputs> inputs = FindStepInputs(graph_, past_, taken_);
    if (!inputs) return false;
    inputs_ = *std::move(inputs);
    inputs_.past = past_;
    return std::ranges::none_of(inputs_.kinds, [](const auto& kind) {
      return kind == DecoderInput::kFirst || kind == DecoderInput::kLast ||
             kind == DecoderInput::kTotal;
    });
  }

  bool IsAll(ValueId size) const { return *graph_.values[size].size == *past_ + taken_; }

  /// Whether an iterator is over the rows of states. Those of reductions are compared with their
  /// number (ReduceWithin).
  bool IsRow(const Node& node, size_t i) const {
    const tensor::Iter& iter = node.stage.iters[i];
    if (iter.kind == tensor::IterKind::kSpatial) {
      return iter.bound.is_open() && IsAll(iter.bound.size);
    }
    bool is_row = false;
    tensor::Visit(node.stage.value, [&](const Expr& e) {
      is_row = is_row ||
               (e->op == tensor::ExprOp::kLess && IsIter(e->operands[0], static_cast<int>(i)) &&
                e->operands[1]->op == tensor::ExprOp::kSize && IsAll(e->operands[1]->index));
    });
    return is_row;
  }

  /// The iterator over the rows of states that a node combines.
  std::optional<size_t> ReducedRow(const Node& node) const {
    for (size_t i = 0; i < node.stage.iters.size(); ++i) {
      const bool is_reduced = node.stage.iters[i].kind == tensor::IterKind::kReduction;
      if (is_reduced && IsRow(node, i)) return i;
    }
    return std::nullopt;
  }

  bool FollowsPast(const Length& length) const {
    std::vector<int64_t> lengths, others;
    for (const Symbol& symbol : graph_.symbols) lengths.push_back(symbol.largest);
    others = lengths;
    others[static_cast<size_t>(past_->AsSymbol())] -= 1;
    return length.Evaluate(lengths) != length.Evaluate(others);
  }

  /// Whether numbers follow the length of the past that are not for its rows, as angles of
  /// rotations do that are computed from it.
  bool FollowsPastElsewhere() const {
    std::vector<bool> follows(graph_.values.size());
    for (const Node& node : graph_.nodes) {
      if (node.kind == NodeKind::kView) {
        follows[node.output()] = follows[node.source];
        continue;
      }
      bool own = false;
      tensor::Visit(node.stage.value, [&](const Expr& e) {
        own = own ||
              (e->op == tensor::ExprOp::kSize && FollowsPast(*graph_.values[e->index].size)) ||
              (e->op == tensor::ExprOp::kLoad && follows[e->index]);
      });
      bool is_of_rows = false;
      for (size_t i = 0; i < node.stage.iters.size(); ++i) is_of_rows |= IsRow(node, i);
      follows[node.output()] = own && !is_of_rows;
      if (follows[node.output()] && tensor::IsFloat(node.stage.value->dtype)) return true;
    }
    return false;
  }

  static Known At(StepEvaluator& step, const Node& node, size_t row, int64_t key, bool last) {
    std::vector<int64_t> place;
    for (const tensor::Iter& iter : node.stage.iters) {
      place.push_back(last ? step.ExtentOf(iter) - 1 : 0);
    }
    place[row] = key;
    return step.Of(node.stage.value, place);
  }

  static bool IsHidden(const Node& node, const Known& known) {
    if (node.stage.reduction == tensor::Reduction::kSum) return known.IsZero();
    return known.kind == Known::Kind::kLowest ||
           (known.kind == Known::Kind::kNumber && known.real < -1e30);
  }

  /// The first key of `keys` that the first query does not hide, as all before it are.
  static int64_t FirstSeen(StepEvaluator& step, const Node& node, size_t row, int64_t keys) {
    int64_t hidden = -1, seen = keys;
    while (seen - hidden > 1) {
      const int64_t middle = hidden + (seen - hidden) / 2;
      (IsHidden(node, At(step, node, row, middle, false)) ? hidden : seen) = middle;
    }
    return seen;
  }

  /// Whether no query of a step sees keys before the window of the first one, and all see the same
  /// ones when tokens before the past are gone.
  bool Hides(int64_t window, int64_t past, int64_t count) const {
    StepEvaluator step = StepOf(past, count, past), later = StepOf(past, count, past + kGone);
    const int64_t first = std::max<int64_t>(0, past - window + 1);
    for (const Node& node : graph_.nodes) {
      const std::optional<size_t> row = ReducedRow(node);
      if (!row) continue;
      for (const bool last : {false, true}) {
        for (const int64_t key : {int64_t{0}, first / 2, first - 1}) {
          const bool is_before = key >= 0 && key < first;
          if (is_before && !IsHidden(node, At(step, node, *row, key, last))) return false;
        }
        for (const int64_t key : {int64_t{0}, first, (first + past) / 2, past, past + count - 1}) {
          if (At(step, node, *row, key, last) != At(later, node, *row, key, last)) return false;
        }
      }
    }
    return true;
  }

  const Graph& graph_;
  std::optional<Length> past_;
  Length taken_ = 0;
  StepInputs inputs_;
};

}  // namespace

int64_t FindWindow(const Graph& graph) {
  return graph.symbols.empty() ? 0 : WindowFinder(graph).Find();
}

}  // namespace bayloom::graph
