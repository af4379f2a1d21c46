// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products of quantized matrices with floats around them.
#include <fmt/format.h>

#include "bayloom/graph/internal/operators/apply.h"
#include "bayloom/graph/internal/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::DType;
using tensor::Expr;

/// The int32 product as floats: times the scales, which are scalars or belong to columns, plus a
/// bias.
tensor::Tensor Scaled(OperatorContext& context, const tensor::Tensor& product,
                      const std::vector<tensor::Tensor>& scales,
                      const std::optional<tensor::Tensor>& bias) {
  const tensor::DType type = scales[0].dtype();
  std::vector<tensor::Tensor> operands = {product};
  operands.insert(operands.end(), scales.begin(), scales.end());
  if (bias) operands.push_back(*bias);
  const tensor::Tensor y = Elementwise(context, "rescale", operands, [&](const Exprs& e) {
    Expr factor = e[1];
    for (size_t k = 2; k <= scales.size(); ++k) factor = factor * e[k];
    const Expr scaled = tensor::Cast(type, e[0]) * factor;
    return bias ? scaled + e.back() : scaled;
  });
  if (y.shape() != product.shape()) context.Refuse("scales or bias do not fit the product");
  return y;
}

void MatMulIntegerToFloat(OperatorContext& context) {
  const tensor::Tensor product = ApplyOperator(
      context, "MatMulInteger",
      {context.Input(0), context.Input(1), OptionalInput(context, 4), OptionalInput(context, 5)});
  context.SetOutput(
      0, Scaled(context, product, {context.Input(2), context.Input(3)}, OptionalInput(context, 6)));
}

/// A tensor of floats as 8-bit unsigned integers whose scale and zero point come from its extremes.
struct DynamicallyQuantized {
  tensor::Tensor values, scale, zero_point;
};

DynamicallyQuantized QuantizeDynamically(OperatorContext& context, const tensor::Tensor& x) {
  const std::vector<int> all = AllAxes(Rank(x));
  const tensor::Tensor low =
      ReduceAxes(context, "quantize.min", x, all, tensor::Reduction::kMin, Itself);
  const tensor::Tensor high =
      ReduceAxes(context, "quantize.max", x, all, tensor::Reduction::kMax, Itself);
  const tensor::Tensor scale =
      Elementwise(context, "quantize.scale", {low, high}, [](const Exprs& e) {
        const Expr zero = LiteralLike(0, e[0]);
        const Expr range = tensor::Max(e[1], zero) - tensor::Min(e[0], zero);
        const Expr step = range / LiteralLike(255, range);
        return tensor::Select(tensor::Equal(range, zero), LiteralLike(1, range), step);
      });
  const tensor::Tensor zero =
      Elementwise(context, "quantize.zero", {low, scale}, [](const Exprs& e) {
        const Expr start = -tensor::Min(e[0], LiteralLike(0, e[0])) / e[1];
        const Expr level = tensor::Unary(tensor::ExprOp::kRound, start);
        return tensor::Cast(DType::kUInt8, tensor::Max(tensor::Min(level, LiteralLike(255, level)),
                                                       LiteralLike(0, level)));
      });
  return {ApplyOperator(context, "QuantizeLinear", {x, scale, zero}), scale, zero};
}

void DynamicQuantizeMatMul(OperatorContext& context) {
  const DynamicallyQuantized a = QuantizeDynamically(context, context.Input(0));
  const tensor::Tensor product =
      ApplyOperator(context, "MatMulInteger",
                    {a.values, context.Input(1), a.zero_point, OptionalInput(context, 3)});
  context.SetOutput(
      0, Scaled(context, product, {a.scale, context.Input(2)}, OptionalInput(context, 4)));
}

/// Without a scale of the output the result is of floats.
void QGemm(OperatorContext& context) {
  const auto operand = [&](int input, const char* transpose) {
    const tensor::Tensor x = context.Input(input);
    if (Rank(x) != 2) context.Refuse("operands need 2 dimensions");
    return context.Int(transpose, 0) != 0 ? Permute(context, x, {1, 0}) : x;
  };
  tensor::Tensor product = ApplyOperator(context, "MatMulInteger",
                                         {operand(0, "transA"), operand(3, "transB"),
                                          OptionalInput(context, 2), OptionalInput(context, 5)});
  const std::vector<int64_t> shape = product.shape();
  if (context.HasInput(6)) product = ApplyOperator(context, "Add", {product, context.Input(6)});
  if (product.shape() != shape) context.Refuse("c does not broadcast to the result");
  std::vector<tensor::Tensor> scales = {context.Input(1), context.Input(4)};
  const double alpha = context.Float("alpha", 1.0f);
  if (alpha != 1) scales.push_back(Filled(context, alpha, scales[0].dtype(), {}));
  const tensor::Tensor y = Scaled(context, product, scales, std::nullopt);
  if (!context.HasInput(7)) return context.SetOutput(0, y);
  context.SetOutput(0, ApplyOperator(context, "QuantizeLinear",
                                     {y, context.Input(7), OptionalInput(context, 8)}));
}

}  // namespace

std::span<const Operator> QuantizedMatmulOperators() {
  static const Operator operators[] = {
      {"DynamicQuantizeMatMul", DynamicQuantizeMatMul, kDomain},
      {"MatMulIntegerToFloat", MatMulIntegerToFloat, kDomain},
      {"QGemm", QGemm, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
