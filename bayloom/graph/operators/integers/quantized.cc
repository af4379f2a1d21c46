// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// ONNX's products of quantized tensors.
#include <algorithm>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/integer_products.h"
#include "bayloom/graph/operators/quantization.h"

namespace bayloom::graph {
namespace {

IntegerOperand Operand(OperatorContext& context, int integers, int zero) {
  return {context.Input(integers), OptionalInput(context, zero)};
}

void ConvInteger(OperatorContext& context) {
  context.SetOutput(
      0, IntegerConvolution(context, Operand(context, 0, 2), Operand(context, 1, 3), std::nullopt));
}

void QLinearConv(OperatorContext& context) {
  const tensor::Tensor y = IntegerConvolution(context, Operand(context, 0, 2),
                                              Operand(context, 3, 5), OptionalInput(context, 8));
  context.SetOutput(0, Requantize(context, y, {1, 4}, 6, 7, 1));
}

/// Zero points may be given per row of the left and per column of the right operand.
void MatMulInteger(OperatorContext& context) {
  context.SetOutput(0, IntegerMatrixProduct(context, Operand(context, 0, 2), Operand(context, 1, 3),
                                            std::nullopt));
}

void QLinearMatMul(OperatorContext& context) {
  const tensor::Tensor y =
      IntegerMatrixProduct(context, Operand(context, 0, 2), Operand(context, 3, 5), std::nullopt);
  context.SetOutput(0, Requantize(context, y, {1, 4}, 6, 7, std::max(0, Rank(y) - 1)));
}

}  // namespace

std::span<const Operator> QuantizedProductOperators() {
  static const Operator operators[] = {
      {"ConvInteger", ConvInteger},
      {"MatMulInteger", MatMulInteger},
      {"QLinearConv", QLinearConv},
      {"QLinearMatMul", QLinearMatMul},
  };
  return operators;
}

}  // namespace bayloom::graph
