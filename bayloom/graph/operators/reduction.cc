// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Reductions over axes, and the position of extremes.
#include <utility>

#include "bayloom/graph/operators/found_axes.h"

namespace bayloom::graph {
namespace {

tensor::Expr Magnitude(const tensor::Expr& x) {
  return tensor::IsUnsigned(x->dtype) ? x : tensor::Unary(tensor::ExprOp::kAbs, x);
}
tensor::Expr Square(const tensor::Expr& x) { return x * x; }

/// The axes that an operator reduces: an attribute, or from operator set 13 (ReduceSum) or 18 (the
/// others) on an input, which may be known at run time only. None if the operator is to combine
/// nothing: it applies its function to each element.
class Reducer {
 public:
  Reducer(OperatorContext& context, std::vector<int64_t> shape)
      : context_(context), shape_(std::move(shape)) {
    if (HasFoundAxes(context, 1)) {
      found_ = ElementsOf(context, 1);
      return;
    }
    const std::vector<int64_t> given =
        context.HasInput(1) ? KnownAxes(context, 1) : context.Ints("axes");
    const int rank = static_cast<int>(shape_.size());
    if (!given.empty()) {
      axes_ = context.CheckAxes(given, rank);
    } else if (context.Int("noop_with_empty_axes", 0) == 0) {
      axes_ = AllAxes(rank);
    }
  }

  /// What `term` is at places of the shape, combined.
  tensor::Tensor Over(const std::string& suffix, tensor::Reduction reduction,
                      const std::function<tensor::Expr(const Exprs&)>& term) const {
    const std::string op = context_.label() + suffix;
    return found_.empty() ? ReduceAxesAt(context_, op, shape_, axes_, reduction, term)
                          : ReduceFoundAxes(context_, op, shape_, found_, reduction, term);
  }

  /// Where what was combined for a place of the shape is.
  Exprs ReducedPlace(const Exprs& place) const {
    return found_.empty() ? Without(place, axes_) : place;
  }

  /// How many elements are combined.
  tensor::Expr Count(tensor::DType dtype) const {
    double known = 1;
    for (int axis : axes_) known *= static_cast<double>(shape_[static_cast<size_t>(axis)]);
    tensor::Expr count = tensor::Literal(known, dtype);
    for (size_t d = 0; d < shape_.size() && !found_.empty(); ++d) {
      const tensor::Expr is_reduced = IsAmong(found_, static_cast<int64_t>(d), std::ssize(shape_));
      const tensor::Expr extent = tensor::Cast(dtype, tensor::Expr(shape_[d]));
      count = count * tensor::Select(is_reduced, extent, tensor::Literal(1, dtype));
    }
    return count;
  }

  /// Sets the result, in the type of the input, with the shape that the operator is to give it.
  void SetOutput(const tensor::Tensor& result) const {
    const tensor::Tensor converted = ConvertTo(context_, context_.Input(0).dtype(), result);
    const bool keep = context_.Int("keepdims", 1) != 0;
    if (found_.empty()) {
      return context_.SetOutput(
          0, context_.builder().View(converted, ReducedShape(shape_, axes_, keep)));
    }
    context_.SetOutput(0, keep ? ShortenFoundAxes(context_, converted, found_)
                               : SqueezeFoundAxes(context_, converted, found_));
  }

 private:
  OperatorContext& context_;
  std::vector<int64_t> shape_;
  std::vector<int> axes_;
  Exprs found_;  // in place of axes_
};

tensor::Expr MeanOf(const tensor::Expr& sum, const tensor::Expr& count) { return sum / count; }

/// Of integers their values as floats, for what is no integer before its end.
tensor::Tensor FloatInput(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  return tensor::IsFloat(x.dtype()) ? x : ConvertTo(context, tensor::DType::kFloat64, x);
}

using Term = tensor::Expr (*)(const tensor::Expr&);
using Finish = tensor::Expr (*)(const tensor::Expr& combined, const tensor::Expr& count);

/// Reduces term(x), then applies `finish` to the result and the number of elements in it.
void ReduceOperator(OperatorContext& context, const tensor::Tensor& x, tensor::Reduction reduction,
                    Term term, Finish finish = nullptr) {
  const Reducer reducer(context, x.shape());
  tensor::Tensor result =
      reducer.Over("", reduction, [&](const Exprs& place) { return term(x.At(place)); });
  if (finish) {
    result = Elementwise(context, context.label() + ".finish", result,
                         [&](const tensor::Expr& e) { return finish(e, reducer.Count(e->dtype)); });
  }
  reducer.SetOutput(result);
}
void ReduceOperator(OperatorContext& context, tensor::Reduction reduction, Term term,
                    Finish finish = nullptr) {
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
      [](const tensor::Expr& x, const tensor::Expr&) {
        return ConvertTo(tensor::DType::kBool, x);
      });
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
  ReduceOperator(context, FloatInput(context), tensor::Reduction::kSum, Square,
                 [](const tensor::Expr& sum, const tensor::Expr&) {
                   return tensor::Unary(tensor::ExprOp::kSqrt, sum);
                 });
}
void ReduceLogSum(OperatorContext& context) {
  ReduceOperator(context, FloatInput(context), tensor::Reduction::kSum, Itself,
                 [](const tensor::Expr& sum, const tensor::Expr&) {
                   return tensor::Unary(tensor::ExprOp::kLog, sum);
                 });
}

/// log(sum(exp(x - max))) + max, which neither overflows nor underflows; without max where that is
/// infinite.
void ReduceLogSumExp(OperatorContext& context) {
  const tensor::Tensor x = FloatInput(context);
  const Reducer reducer(context, x.shape());
  const tensor::Tensor largest = reducer.Over(".max", tensor::Reduction::kMax,
                                              [&](const Exprs& place) { return x.At(place); });
  const tensor::Tensor shift =
      Elementwise(context, context.label() + ".shift", largest, [](const tensor::Expr& e) {
        return tensor::Select(tensor::Unary(tensor::ExprOp::kIsInf, e), LiteralLike(0, e), e);
      });
  const tensor::Tensor sum = reducer.Over(".sum", tensor::Reduction::kSum, [&](const Exprs& place) {
    return tensor::Unary(tensor::ExprOp::kExp, x.At(place) - shift.At(reducer.ReducedPlace(place)));
  });
  const tensor::Tensor result =
      Elementwise(context, context.label(), {sum, shift},
                  [](const Exprs& e) { return tensor::Unary(tensor::ExprOp::kLog, e[0]) + e[1]; });
  reducer.SetOutput(result);
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
