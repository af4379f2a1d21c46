// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that ONNX defines as functions of others.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

/// 8-bit unsigned integers whose scale and zero point come from the extremes of the input.
void DynamicQuantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int> all = AllAxes(Rank(x));
  const tensor::Tensor low =
      ReduceAxes(context, "quantize.min", x, all, tensor::Reduction::kMin, Itself);
  const tensor::Tensor high =
      ReduceAxes(context, "quantize.max", x, all, tensor::Reduction::kMax, Itself);
  const tensor::Tensor scale =
      Elementwise(context, "quantize.scale", {low, high}, [](const Exprs& e) {
        const Expr zero = LiteralLike(0, e[0]);
        const Expr range = tensor::Max(e[1], zero) - tensor::Min(e[0], zero);
        return range / LiteralLike(255, range);
      });
  const tensor::Tensor zero_point =
      Elementwise(context, "quantize.zero", {low, scale}, [](const Exprs& e) {
        const Expr none = LiteralLike(0, e[0]);
        const Expr start =
            tensor::Select(tensor::Equal(e[1], none), none, -tensor::Min(e[0], none) / e[1]);
        const Expr level = tensor::Unary(tensor::ExprOp::kRound, start);
        return tensor::Cast(DType::kUInt8,
                            tensor::Max(tensor::Min(level, LiteralLike(255, level)), none));
      });
  // Where all elements are 0, so is the scale, and every scale quantizes them to the zero point.
  const tensor::Tensor divisor = Elementwise(context, "quantize.divisor", scale, [](const Expr& e) {
    return tensor::Select(tensor::Equal(e, LiteralLike(0, e)), LiteralLike(1, e), e);
  });
  context.SetOutput(0, ApplyOperator(context, "QuantizeLinear", {x, divisor, zero_point}));
  context.SetOutput(1, scale);
  context.SetOutput(2, zero_point);
}

/// (x - mean) / (standard deviation + 1e-9) over the axes.
void MeanVarianceNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int> axes = context.CheckAxes(context.Ints("axes", {0, 2, 3}), Rank(x));
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(x.shape()[axis]);
  const tensor::Tensor sum =
      ReduceAxes(context, "mvn.sum", x, axes, tensor::Reduction::kSum, Itself);
  const tensor::Tensor centred =
      context.builder().Map("mvn.centred", x.shape(), [&](const Exprs& s) {
        const Expr total = sum.At(Without(s, axes));
        return x.At(s) - total / LiteralLike(count, total);
      });
  const tensor::Tensor squares =
      ReduceAxes(context, "mvn.squares", centred, axes, tensor::Reduction::kSum,
                 [](const Expr& e) { return e * e; });
  context.SetOutput(0, context.builder().Map("mvn", x.shape(), [&](const Exprs& s) {
    const Expr total = squares.At(Without(s, axes));
    const Expr deviation = tensor::Unary(tensor::ExprOp::kSqrt, total / LiteralLike(count, total));
    return centred.At(s) / (deviation + LiteralLike(1e-9, total));
  }));
}

/// A depthwise convolution along [batch, channels, length] that reads what came before only; the
/// last kernel - 1 elements are the state of the next call.
void CausalConvWithState(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), weights = context.Input(1);
  if (Rank(x) != 3 || Rank(weights) != 3 || weights.shape()[2] < 1) {
    context.Refuse("input and weights need 3 dimensions");
  }
  const int64_t kept = weights.shape()[2] - 1, channels = x.shape()[1];
  tensor::Tensor padded =
      PadWith(context, x, {0, 0, kept}, {0, 0, 0}, tensor::Literal(0, x.dtype()));
  if (context.HasInput(3)) {
    if (context.Input(3).shape() != std::vector<int64_t>{x.shape()[0], channels, kept}) {
      context.Refuse("past_state does not fit input and weights");
    }
    padded = ApplyOperator(context, "Concat", {context.Input(3), x}, {{{"axis", int64_t{2}}}});
  }
  tensor::Tensor y = ApplyOperator(context, "Conv", {padded, weights, OptionalInput(context, 2)},
                                   {{{"group", channels}}});
  const std::string activation = context.String("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = Elementwise(context, "silu", y, [](const Expr& e) { return tensor::Silu(e); });
  } else if (activation != "none") {
    context.RefuseAttribute("activation", activation, "has to be none, silu or swish");
  }
  context.SetOutput(0, y);
  if (context.WantsOutput(1)) {
    context.SetOutput(1, LastAxisSlice(context, padded, x.shape()[2], kept));
  }
}

}  // namespace

std::span<const Operator> ComposedOperators() {
  static const Operator operators[] = {
      {"CausalConvWithState", CausalConvWithState},
      {"DynamicQuantizeLinear", DynamicQuantizeLinear},
      {"MeanVarianceNormalization", MeanVarianceNormalization},
  };
  return operators;
}

}  // namespace bayloom::graph
