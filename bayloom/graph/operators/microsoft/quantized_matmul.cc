// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products of quantized matrices with floats around them.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::Expr;

/// The same where scales and bias are known.
std::optional<tensor::Tensor> ScaledByConstants(OperatorContext& context,
                                                const tensor::Tensor& product,
                                                const std::vector<tensor::Tensor>& scales,
                                                const std::optional<tensor::Tensor>& bias) {
  if (Rank(product) == 0) return std::nullopt;
  const int64_t columns = product.shape().back();
  const auto scale = ProductOfScales(context, scales, columns, 0);
  const bool fits =
      !bias || (context.builder().ConstantOf(*bias) && bias->dtype() == tensor::DType::kFloat32 &&
                bias->shape() == std::vector<int64_t>{columns});
  if (!scale || !fits) return std::nullopt;
  return WriteFloats(context, "rescale",
                     {.shape = product.shape(),
                      .terms = {{.integers = product, .scale = *scale}},
                      .offset = bias});
}

/// The int32 product as floats: times the scales, which are scalars or belong to columns, plus a
/// bias.
tensor::Tensor Scaled(OperatorContext& context, const tensor::Tensor& product,
                      const std::vector<tensor::Tensor>& scales,
                      const std::optional<tensor::Tensor>& bias) {
  if (const auto known = ScaledByConstants(context, product, scales, bias)) return *known;
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

void DynamicQuantizeMatMul(OperatorContext& context) {
  const std::vector<tensor::Tensor> a =  // levels, scale, zero point
      ApplyOperatorAll(context, "DynamicQuantizeLinear", {context.Input(0)}, 3);
  const tensor::Tensor product = ApplyOperator(
      context, "MatMulInteger", {a[0], context.Input(1), a[2], OptionalInput(context, 3)});
  context.SetOutput(0,
                    Scaled(context, product, {a[1], context.Input(2)}, OptionalInput(context, 4)));
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
