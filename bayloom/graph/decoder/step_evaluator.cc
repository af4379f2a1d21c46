// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/step_evaluator.h"

#include <algorithm>
#include <cmath>

#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;
using Kind = Known::Kind;

constexpr double kLowestScore = -1e30;
/// Of a reduction, to be computed.
constexpr int64_t kMostTerms = 1 << 18;

Known Integer(int64_t value) { return {Kind::kNumber, value, 0}; }

Known Real(tensor::DType dtype, double value) {
  return {Kind::kNumber, 0, tensor::RoundTo(dtype, value)};
}

bool IsNumber(const Known& known) { return known.kind == Kind::kNumber; }

bool IsLow(const Known& known) {
  return known.kind == Kind::kLowest || (IsNumber(known) && known.real < kLowestScore);
}

Known Converted(const Known& from, tensor::DType before, tensor::DType after) {
  if (!IsNumber(from)) return tensor::IsFloat(after) ? from : Known{};
  if (tensor::IsFloat(before)) {
    return tensor::IsFloat(after) ? Real(after, from.real)
                                  : Integer(tensor::FloatToInt(after, from.real));
  }
  return tensor::IsFloat(after) ? Real(after, tensor::IntToFloat(before, from.integer))
                                : Integer(tensor::WrapTo(after, from.integer));
}

/// Of two operands, of which not both are numbers.
Known HalfKnown(ExprOp op, const Known& a, const Known& b) {
  const Known lowest = {Kind::kLowest};
  switch (op) {
    case ExprOp::kAdd:
      return IsLow(a) || IsLow(b) ? lowest : Known{};
    case ExprOp::kSub:
      return IsLow(a) && !IsLow(b) ? lowest : Known{};
    case ExprOp::kMin:
      return IsLow(a) || IsLow(b) ? lowest : Known{};
    case ExprOp::kMax:
      if (IsLow(a) && IsLow(b)) return lowest;
      return IsLow(a) && IsNumber(b) ? b : IsLow(b) && IsNumber(a) ? a : Known{};
    case ExprOp::kMul:
      if (a.IsZero() || b.IsZero()) return a.IsZero() ? a : b;
      return (IsLow(a) && b.real > 0) || (IsLow(b) && a.real > 0) ? lowest : Known{};
    case ExprOp::kDiv:
      return a.IsZero() ? a : IsLow(a) && b.real > 0 ? lowest : Known{};
    case ExprOp::kAnd:
      return a.IsZero() ? a : b.IsZero() ? b : Known{};
    case ExprOp::kOr: {
      const auto is_true = [](const Known& known) { return IsNumber(known) && known.integer != 0; };
      return is_true(a) ? a : is_true(b) ? b : Known{};
    }
    default:
      return {};
  }
}

Known Compared(const Expr& e, const Known& a, const Known& b) {
  const tensor::DType dtype = e->operands[0]->dtype;
  const bool holds = tensor::IsFloat(dtype)
                         ? tensor::CompareFloat(e->op, a.real, b.real)
                         : tensor::CompareInt(e->op, dtype, a.integer, b.integer);
  return Integer(holds ? 1 : 0);
}

bool IsComparison(ExprOp op) {
  return op == ExprOp::kLess || op == ExprOp::kLessEqual || op == ExprOp::kEqual ||
         op == ExprOp::kIsNan || op == ExprOp::kIsInf;
}

Known Applied(const Expr& e, const Known& a, const Known& b) {
  if (IsComparison(e->op)) return Compared(e, a, b);
  if (tensor::IsFloat(e->dtype)) return Real(e->dtype, tensor::ApplyFloat(e->op, a.real, b.real));
  const bool divides = e->op == ExprOp::kDiv || e->op == ExprOp::kFloorDiv ||
                       e->op == ExprOp::kFloorMod || e->op == ExprOp::kMod;
  if (divides && b.integer == 0) return {};
  return Integer(tensor::ApplyInt(e->op, e->dtype, a.integer, b.integer));
}

}  // namespace

int64_t FlatIndex(const std::vector<int64_t>& shape, const std::vector<int64_t>& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

std::vector<int64_t> IndexAt(const std::vector<int64_t>& shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

StepEvaluator::StepEvaluator(const Graph& graph, const StepInputs& inputs, int64_t past,
                             int64_t count, int64_t first)
    : graph_(graph),
      inputs_(inputs),
      past_(past),
      count_(count),
      first_(first),
      producers_(graph.Producers()) {
  for (const Symbol& symbol : graph.symbols) lengths_.push_back(symbol.largest);
  if (const int tokens = inputs.taken.AsSymbol(); tokens >= 0) lengths_[tokens] = count;
  if (inputs.past) lengths_[inputs.past->AsSymbol()] = past;
}

int64_t StepEvaluator::ExtentOf(const tensor::Iter& iter) const {
  if (!iter.bound.is_open()) return iter.extent;
  const int64_t size = graph_.values[iter.bound.size].size->Evaluate(lengths_) + iter.bound.beyond;
  return std::min(iter.extent, (size + iter.bound.step - 1) / iter.bound.step);
}

Known StepEvaluator::At(ValueId id, const std::vector<int64_t>& index) {
  const Value& value = graph_.values[id];
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= value.shape[d]) return {};
  }
  const int64_t flat = FlatIndex(value.shape, index);
  if (value.constant) {
    return tensor::IsFloat(value.dtype) ? Real(value.dtype, value.constant->Get(flat))
                                        : Integer(value.constant->GetInt(flat));
  }
  if (const auto known = known_.find({id, flat}); known != known_.end()) return known->second;
  Known result;
  if (producers_[id] >= 0) {
    result = OfNode(graph_.nodes[producers_[id]], index);
  } else if (const auto at = std::ranges::find(graph_.inputs, id); at != graph_.inputs.end()) {
    const auto& kind = inputs_.kinds[static_cast<size_t>(at - graph_.inputs.begin())];
    if (kind) result = OfInput(value, *kind, index);
  }
  return known_[{id, flat}] = result;
}

Known StepEvaluator::OfInput(const Value& value, DecoderInput kind,
                             const std::vector<int64_t>& index) const {
  const int64_t place = FlatIndex(value.shape, index);
  switch (kind) {
    case DecoderInput::kPositions:
      return Integer(first_ + place);
    case DecoderInput::kFirst:
      return Integer(first_);
    case DecoderInput::kLast:
      return Integer(first_ + count_ - 1);
    case DecoderInput::kTotal:
      return Integer(first_ + count_);
    case DecoderInput::kMask: {
      const int64_t one = place < past_ + count_ ? 1 : 0;
      return tensor::IsFloat(value.dtype) ? Real(value.dtype, static_cast<double>(one))
                                          : Integer(one);
    }
    default:
      return {};
  }
}

Known StepEvaluator::OfNode(const Node& node, const std::vector<int64_t>& index) {
  if (node.kind == NodeKind::kCall) return {};
  if (node.kind == NodeKind::kView) {
    const int64_t flat = FlatIndex(graph_.values[node.output()].shape, index);
    return At(node.source, IndexAt(graph_.values[node.source].shape, flat));
  }
  std::vector<int64_t> iters;
  size_t next = 0;
  bool reduces = false;
  for (const tensor::Iter& iter : node.stage.iters) {
    const bool is_spatial = iter.kind == tensor::IterKind::kSpatial;
    iters.push_back(is_spatial ? index[next++] : 0);
    reduces = reduces || !is_spatial;
  }
  return reduces ? Reduced(node, std::move(iters)) : Of(node.stage.value, iters);
}

Known StepEvaluator::Reduced(const Node& node, std::vector<int64_t> iters) {
  const std::vector<tensor::Iter>& all = node.stage.iters;
  const tensor::Reduction reduction = node.stage.reduction;
  const tensor::DType dtype = node.stage.value->dtype;
  int64_t terms = 1;
  for (const tensor::Iter& iter : all) {
    if (iter.kind == tensor::IterKind::kReduction) terms *= ExtentOf(iter);
  }
  const bool is_sum = reduction == tensor::Reduction::kSum;
  const bool is_max = reduction == tensor::Reduction::kMax;
  if (terms > kMostTerms || terms == 0 || !(is_sum || is_max)) return {};
  Known result;
  for (int64_t term = 0; term < terms; ++term) {
    int64_t rest = term;
    for (size_t i = all.size(); i-- > 0;) {
      if (all[i].kind != tensor::IterKind::kReduction) continue;
      iters[i] = rest % ExtentOf(all[i]);
      rest /= ExtentOf(all[i]);
    }
    const Known own = Of(node.stage.value, iters);
    if (own.kind == Kind::kNothing) return {};
    if (term == 0) {
      result = own;
    } else if (!IsNumber(own) || !IsNumber(result)) {
      result = HalfKnown(is_sum ? ExprOp::kAdd : ExprOp::kMax, result, own);
    } else if (tensor::IsFloat(dtype)) {
      result.real = is_sum ? result.real + own.real : std::max(result.real, own.real);
    } else {
      result.integer =
          is_sum ? result.integer + own.integer : std::max(result.integer, own.integer);
    }
  }
  return result;
}

std::optional<std::vector<int64_t>> StepEvaluator::IndicesOf(const Expr& load,
                                                             const std::vector<int64_t>& iters) {
  std::vector<int64_t> index;
  for (const Expr& operand : load->operands) {
    const Known known = Of(operand, iters);
    if (!IsNumber(known)) return std::nullopt;
    index.push_back(known.integer);
  }
  return index;
}

Known StepEvaluator::Of(const Expr& e, const std::vector<int64_t>& iters) {
  switch (e->op) {
    case ExprOp::kInt:
      return Integer(e->int_value);
    case ExprOp::kFloat:
      return Real(e->dtype, e->float_value);
    case ExprOp::kIter:
      return Integer(iters[static_cast<size_t>(e->index)]);
    case ExprOp::kSize:
      return Integer(graph_.values[e->index].size->Evaluate(lengths_));
    case ExprOp::kLoad: {
      const auto index = IndicesOf(e, iters);
      return index ? At(e->index, *index) : Known{};
    }
    case ExprOp::kCall:
      return {};
    default:
      return OfOperation(e, iters);
  }
}

Known StepEvaluator::OfOperation(const Expr& e, const std::vector<int64_t>& iters) {
  const Known a = Of(e->operands[0], iters);
  if (e->op == ExprOp::kSelect) {
    if (IsNumber(a)) return Of(e->operands[a.integer != 0 ? 1 : 2], iters);
    const Known then = Of(e->operands[1], iters);
    return then == Of(e->operands[2], iters) ? then : Known{};
  }
  if (e->op == ExprOp::kCast) return Converted(a, e->operands[0]->dtype, e->dtype);
  if (e->operands.size() == 1) {
    if (e->op == ExprOp::kExp && IsLow(a)) return Real(e->dtype, 0);
    return IsNumber(a) ? Applied(e, a, {}) : Known{};
  }
  const Known b = Of(e->operands[1], iters);
  return IsNumber(a) && IsNumber(b) ? Applied(e, a, b) : HalfKnown(e->op, a, b);
}

}  // namespace bayloom::graph
