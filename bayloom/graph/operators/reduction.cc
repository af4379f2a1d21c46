// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Reductions over axes, and the position of extremes.
#include <cmath>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

tensor::Expr Magnitude(const tensor::Expr& x) {
  return tensor::IsUnsigned(x->dtype) ? x : tensor::Unary(tensor::ExprOp::kAbs, x);
}
tensor::Expr Square(const tensor::Expr& x) { return x * x; }

/// The axes to reduce: an attribute, or from operator set 13 (ReduceSum) or 18 (the others) on
/// an input. None if the operator is to combine nothing: it applies its function to each element.
std::vector<int> ReducedAxes(OperatorContext& context, int rank) {
  std::vector<int64_t> axes = context.Ints("axes");
  if (context.HasInput(1)) axes = context.IntsInput(1);
  if (!axes.empty()) return context.CheckAxes(axes, rank);
  if (context.Int("noop_with_empty_axes", 0) != 0) return {};
  return AllAxes(rank);
}

double ElementsReduced(const tensor::Tensor& x, const std::vector<int>& axes) {
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(x.shape()[axis]);
  return count;
}

tensor::Expr MeanOf(const tensor::Expr& sum, double count) { return sum / LiteralLike(count, sum); }

/// Of integers their values as floats, for what is no integer before its end.
tensor::Tensor FloatInput(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  return tensor::IsFloat(x.dtype()) ? x : ConvertTo(context, tensor::DType::kFloat64, x);
}

/// Sets the result, in the type of the input, with the shape that the operator is to give it.
void SetReduced(OperatorContext& context, const tensor::Tensor& result,
                const std::vector<int>& axes) {
  const tensor::Tensor x = context.Input(0);
  const bool keep = context.Int("keepdims", 1) != 0;
  context.SetOutput(0, context.builder().View(ConvertTo(context, x.dtype(), result),
                                              ReducedShape(x.shape(), axes, keep)));
}

/// Reduces term(x), then applies `finish` to the result and the number of elements in it.
void ReduceOperator(OperatorContext& context, const tensor::Tensor& x, tensor::Reduction reduction,
                    tensor::Expr (*term)(const tensor::Expr&),
                    tensor::Expr (*finish)(const tensor::Expr&, double) = nullptr) {
  const std::vector<int> axes = ReducedAxes(context, Rank(x));
  tensor::Tensor result = ReduceAxes(context, context.label(), x, axes, reduction, term);
  if (finish) {
    const double count = ElementsReduced(x, axes);
    result = Elementwise(context, context.label() + ".finish", result,
                         [&](const tensor::Expr& e) { return finish(e, count); });
  }
  SetReduced(context, result, axes);
}
void ReduceOperator(OperatorContext& context, tensor::Reduction reduction,
                    tensor::Expr (*term)(const tensor::Expr&),
                    tensor::Expr (*finish)(const tensor::Expr&, double) = nullptr) {
  ReduceOperator(context, context.Input(0), reduction, term, finish);
}

void ReduceL1(OperatorContext& context) {
  ReduceOperator(context, tensor::Reduction::kSum, Magnitude);
}
/// Of truth values, through numbers.
void ReduceExtreme(OperatorContext& context, tensor::Reduction reduction) {
  if (context.Input(0).dtype() != tensor::DType::kBool) {
    return ReduceOperator(context, reduction, Itself);
  }
  ReduceOperator(
      context, reduction,
      [](const tensor::Expr& x) { return tensor::Cast(tensor::DType::kUInt8, x); },
      [](const tensor::Expr& x, double) { return ConvertTo(tensor::DType::kBool, x); });
}

void ReduceMax(OperatorContext& context) { ReduceExtreme(context, tensor::Reduction::kMax); }
void ReduceMin(OperatorContext& context) { ReduceExtreme(context, tensor::Reduction::kMin); }
void ReduceProd(OperatorContext& context) {
  ReduceOperator(context, tensor::Reduction::kProduct, Itself);
}
void ReduceSum(OperatorContext& context) {
  ReduceOperator(context, tensor::Reduction::kSum, Itself);
}
void ReduceSumSquare(OperatorContext& context) {
  ReduceOperator(context, tensor::Reduction::kSum, Square);
}
void ReduceMean(OperatorContext& context) {
  ReduceOperator(context, tensor::Reduction::kSum, Itself, MeanOf);
}
void ReduceL2(OperatorContext& context) {
  ReduceOperator(
      context, FloatInput(context), tensor::Reduction::kSum, Square,
      [](const tensor::Expr& sum, double) { return tensor::Unary(tensor::ExprOp::kSqrt, sum); });
}
void ReduceLogSum(OperatorContext& context) {
  ReduceOperator(
      context, FloatInput(context), tensor::Reduction::kSum, Itself,
      [](const tensor::Expr& sum, double) { return tensor::Unary(tensor::ExprOp::kLog, sum); });
}

/// log(sum(exp(x - max))) + max, which neither overflows nor underflows; without max where that is
/// infinite.
void ReduceLogSumExp(OperatorContext& context) {
  const tensor::Tensor x = FloatInput(context);
  const std::vector<int> axes = ReducedAxes(context, Rank(x));
  const tensor::Tensor largest =
      ReduceAxes(context, context.label() + ".max", x, axes, tensor::Reduction::kMax, Itself);
  const tensor::Tensor shift =
      Elementwise(context, context.label() + ".shift", largest, [](const tensor::Expr& e) {
        return tensor::Select(tensor::Unary(tensor::ExprOp::kIsInf, e), LiteralLike(0, e), e);
      });
  const tensor::Tensor sum = ReduceAxesAt(
      context, context.label() + ".sum", x.shape(), axes, tensor::Reduction::kSum,
      [&](const Exprs& place) {
        return tensor::Unary(tensor::ExprOp::kExp, x.At(place) - shift.At(Without(place, axes)));
      });
  const tensor::Tensor result =
      Elementwise(context, context.label(), {sum, shift},
                  [](const Exprs& e) { return tensor::Unary(tensor::ExprOp::kLog, e[0]) + e[1]; });
  SetReduced(context, result, axes);
}

void ArgOperator(OperatorContext& context, bool maximum) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", 0, static_cast<int>(x.shape().size()));
  const bool last_index = context.Int("select_last_index", 0) != 0;
  const bool keep = context.Int("keepdims", 1) != 0;
  const tensor::Tensor index = ArgExtreme(context, x, axis, maximum, last_index);
  context.SetOutput(0, context.builder().View(index, ReducedShape(x.shape(), {axis}, keep)));
}

void ArgMax(OperatorContext& context) { ArgOperator(context, true); }
void ArgMin(OperatorContext& context) { ArgOperator(context, false); }

}  // namespace

std::span<const Operator> ReductionOperators() {
  static const Operator operators[] = {
      {"ArgMax", ArgMax},
      {"ArgMin", ArgMin},
      {"ReduceL1", ReduceL1},
      {"ReduceL2", ReduceL2},
      {"ReduceLogSum", ReduceLogSum},
      {"ReduceLogSumExp", ReduceLogSumExp},
      {"ReduceMax", ReduceMax},
      {"ReduceMean", ReduceMean},
      {"ReduceMin", ReduceMin},
      {"ReduceProd", ReduceProd},
      {"ReduceSum", ReduceSum},
      {"ReduceSumSquare", ReduceSumSquare},
  };
  return operators;
}

}  // namespace bayloom::graph
