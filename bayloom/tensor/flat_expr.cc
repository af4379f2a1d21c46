// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/flat_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace bayloom::tensor {

ScalarValue LoadScalar(DType dtype, const std::byte* at) {
  if (IsFloat(dtype)) return {.f = LoadFloat(dtype, at)};
  return {.i = LoadInt(dtype, at)};
}

void StoreScalar(DType dtype, std::byte* at, ScalarValue value) {
  if (IsFloat(dtype)) {
    StoreFloat(dtype, at, value.f);
  } else {
    StoreInt(dtype, at, value.i);
  }
}

ScalarValue CombineScalars(Reduction reduction, DType dtype, ScalarValue a, ScalarValue b) {
  ExprOp op = ExprOp::kAdd;
  if (reduction == Reduction::kProduct) op = ExprOp::kMul;
  if (reduction == Reduction::kMin) op = ExprOp::kMin;
  if (reduction == Reduction::kMax) op = ExprOp::kMax;
  if (IsFloat(dtype)) return {.f = RoundTo(dtype, ApplyFloat(op, a.f, b.f))};
  return {.i = ApplyInt(op, dtype, a.i, b.i)};
}

ScalarValue ScalarOf(const Expr& literal) {
  if (literal->op == ExprOp::kFloat) return {.f = literal->float_value};
  return {.i = literal->int_value};
}

LinearIndex::LinearIndex(const Buffer& buffer, std::span<const Expr> indices, int iter_count)
    : buffer_(&buffer) {
  for (size_t d = 0; d < indices.size(); ++d) {
    const std::optional<LinearForm> form = ToLinear(indices[d], iter_count);
    if (!form) throw std::logic_error("an index of " + buffer.name + " is not linear");
    int term_count = 0;
    for (int i = 0; i < iter_count; ++i) {
      if (form->coefficients[i] == 0) continue;
      terms_.push_back({i, form->coefficients[i]});
      ++term_count;
    }
    dimensions_.push_back({buffer.shape.at(d), form->constant, term_count});
  }
}

void LinearIndex::ThrowOutOfRange(const Buffer& buffer, int64_t index, int64_t extent) {
  throw std::logic_error(
      fmt::format("index {} of {} lies outside of [0, {})", index, buffer.name, extent));
}

FlatExpr::FlatExpr(const Expr& e, std::span<const Buffer> buffers, int iter_count)
    : buffers_(buffers), iter_count_(iter_count) {
  Compile(e, 0);
}

int FlatExpr::EmitJump(StepKind kind) {
  steps_.push_back({kind});
  return static_cast<int>(steps_.size()) - 1;
}

/// Appends steps that leave the value on top of `depth` values already on the stack.
void FlatExpr::Compile(const Expr& e, int depth) {
  stack_size_ = std::max(stack_size_, depth + 1);
  Step step{StepKind::kConstant, e->op};
  step.result = e->dtype;
  switch (e->op) {
    case ExprOp::kInt:
    case ExprOp::kFloat:
      step.constant = ScalarOf(e);
      steps_.push_back(step);
      return;
    case ExprOp::kIter:
      step.kind = StepKind::kIter;
      step.target = e->index;
      steps_.push_back(step);
      return;
    case ExprOp::kSelect: {
      Compile(e->operands[0], depth);
      const int to_otherwise = EmitJump(StepKind::kJumpUnless);
      Compile(e->operands[1], depth);
      const int to_end = EmitJump(StepKind::kJump);
      steps_[to_otherwise].target = static_cast<int>(steps_.size());
      Compile(e->operands[2], depth);
      steps_[to_end].target = static_cast<int>(steps_.size());
      return;
    }
    case ExprOp::kSize:
    case ExprOp::kLoad: {
      const bool linear =
          std::all_of(e->operands.begin(), e->operands.end(),
                      [&](const Expr& index) { return ToLinear(index, iter_count_).has_value(); });
      if (linear) {
        step.kind = StepKind::kLoadLinear;
        step.target = static_cast<int>(linear_loads_.size());
        const Buffer& buffer = buffers_[e->index];
        linear_loads_.push_back({e->index, LinearIndex(buffer, e->operands, iter_count_)});
        steps_.push_back(step);
        return;
      }
      step.kind = StepKind::kLoad;
      step.target = e->index;
      break;
    }
    case ExprOp::kCast:
      step.kind = StepKind::kCast;
      break;
    default:
      step.kind = e->operands.size() == 1 ? StepKind::kUnary : StepKind::kBinary;
  }
  for (size_t i = 0; i < e->operands.size(); ++i) {
    Compile(e->operands[i], depth + static_cast<int>(i));
  }
  step.dtype = e->operands[0]->dtype;
  steps_.push_back(step);
}

ScalarValue FlatExpr::ApplyUnary(const Step& step, ScalarValue a) {
  if (!IsFloat(step.dtype)) return {.i = ApplyInt(step.op, step.dtype, a.i)};
  if (step.result == DType::kBool) return {.i = CompareFloat(step.op, a.f)};
  return {.f = RoundTo(step.dtype, ApplyFloat(step.op, a.f))};
}

ScalarValue FlatExpr::ApplyBinary(const Step& step, ScalarValue a, ScalarValue b) {
  const bool compares = step.op >= ExprOp::kLess && step.op <= ExprOp::kEqual;
  if (IsFloat(step.dtype)) {
    if (compares) return {.i = CompareFloat(step.op, a.f, b.f)};
    return {.f = RoundTo(step.dtype, ApplyFloat(step.op, a.f, b.f))};
  }
  if (compares) return {.i = CompareInt(step.op, step.dtype, a.i, b.i)};
  return {.i = ApplyInt(step.op, step.dtype, a.i, b.i)};
}

ScalarValue FlatExpr::ApplyCast(const Step& step, ScalarValue a) {
  if (IsFloat(step.dtype)) {
    if (IsFloat(step.result)) return {.f = RoundTo(step.result, a.f)};
    return {.i = FloatToInt(step.result, a.f)};
  }
  if (IsFloat(step.result)) return {.f = RoundTo(step.result, IntToFloat(step.dtype, a.i))};
  return {.i = WrapTo(step.result, a.i)};
}

int64_t FlatExpr::PopPlace(BufferId id, ScalarValue*& top) const {
  const Buffer& buffer = buffers_[id];
  top -= buffer.shape.size();
  int64_t place = 0;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    const int64_t extent = buffer.shape[d], index = top[d].i;
    if (index < 0 || index >= extent) LinearIndex::ThrowOutOfRange(buffer, index, extent);
    place = place * extent + index;
  }
  return place;
}

}  // namespace bayloom::tensor
