// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// DynamicQuantizeLSTM of com.microsoft: weights of 8 bits; the input as a whole, and the state of
/// every step, are rounded to 256 levels between their extremes.
///
/// onnxruntime multiplies the levels as integers and scales the products. Here what is multiplied
/// are the rounded values themselves, in float: the same up to the rounding of float.
#include "bayloom/graph/internal/operators/recurrence.h"

namespace bayloom::graph {
namespace {

constexpr int kFirstScale = 8;  // of input 1; then its zero point, and the same of input 2

/// The least and the greatest of the elements in the first columns, and 0.
tensor::Tensor Extreme(OperatorContext& context, const tensor::Tensor& a, int64_t columns,
                       tensor::Reduction reduction) {
  return context.builder().Reduce("quantize.extreme", {}, {{"r", a.shape()[0]}, {"k", columns}},
                                  reduction, [&](const Exprs&, const Exprs& r) {
                                    return tensor::Combine(reduction, a(r[0], r[1]),
                                                           tensor::FloatLiteral(0));
                                  });
}

/// The nearest of 256 levels, one of which is 0. `columns`: those that count.
tensor::Tensor RoundToLevels(OperatorContext& context, const tensor::Tensor& a, int64_t columns) {
  const tensor::Tensor low = Extreme(context, a, columns, tensor::Reduction::kMin);
  const tensor::Tensor high = Extreme(context, a, columns, tensor::Reduction::kMax);
  const auto round = [](const tensor::Expr& x) { return tensor::Unary(tensor::ExprOp::kRound, x); };
  const tensor::Expr zero = tensor::FloatLiteral(0), greatest = tensor::FloatLiteral(255);
  return context.builder().Map("quantize", a.shape(), [&](const Exprs& place) {
    const tensor::Expr range = (high() - low()) / greatest;
    const tensor::Expr step =
        tensor::Select(tensor::Equal(range, zero), tensor::FloatLiteral(1), range);
    const tensor::Expr level_of_zero =
        round(tensor::Max(zero, tensor::Min(greatest, zero - low() / step)));
    const tensor::Expr level = round(a.At(place) / step) + level_of_zero;
    return (tensor::Max(zero, tensor::Min(greatest, level)) - level_of_zero) * step;
  });
}

/// Weights [directions, inner, gates * hidden] of some gates, as the floats that they stand for.
/// Scales and zero points: one per direction, or one per column of it.
tensor::Tensor GateMatrixOf(OperatorContext& context, const GateWeights& weights, int first,
                            int gates) {
  const tensor::Tensor w = context.Input(weights.input);
  const int scale_input = kFirstScale + 2 * (weights.input - 1);
  const tensor::Tensor scale = context.Input(scale_input);
  const int64_t hidden = weights.hidden, inner = w.shape()[1];
  const auto parameter = [&](const tensor::Tensor& x, const tensor::Expr& column) {
    return x.shape().size() == 1 ? x(weights.direction) : x(weights.direction, column);
  };
  const tensor::Tensor packed =
      context.builder().Map("pack", {weights.inner, gates, weights.width}, [&](const Exprs& place) {
        const tensor::Expr column =
            (place[1] + tensor::Expr(first)) * tensor::Expr(hidden) + place[2];
        tensor::Expr level =
            ConvertTo(tensor::DType::kFloat32, w(weights.direction, place[0], column));
        if (context.HasInput(scale_input + 1)) {
          level = level - ConvertTo(tensor::DType::kFloat32,
                                    parameter(context.Input(scale_input + 1), column));
        }
        return tensor::Select(place[2] < tensor::Expr(hidden) && place[0] < tensor::Expr(inner),
                              level * parameter(scale, column), tensor::FloatLiteral(0));
      });
  return context.builder().View(packed, {weights.inner, gates * weights.width});
}

GateProduct QuantizedGateProduct(OperatorContext& context, const GateWeights& weights) {
  const int64_t columns = context.Input(weights.input).shape()[1];
  const tensor::Tensor packed = GateMatrixOf(context, weights, 0, LstmCell().gates);
  return [&context, packed, columns](const tensor::Tensor& a, int, int) {
    return Contract(context, RoundToLevels(context, a, columns), packed);
  };
}

void CheckParameters(OperatorContext& context, int input, int64_t directions, int64_t columns) {
  for (int i = input; i < input + 2; ++i) {
    if (!context.HasInput(i) && i > input) continue;
    const bool per_column = context.Input(i).shape().size() > 1;
    CheckInputShape(
        context, i,
        per_column ? std::vector<int64_t>{directions, columns} : std::vector<int64_t>{directions});
  }
}

}  // namespace

void ImportDynamicQuantizeLstm(OperatorContext& context) {
  const std::vector<int64_t> x = context.Input(0).shape(), recurrent = context.Input(2).shape();
  if (recurrent.size() != 3 || x.size() != 3) context.Refuse("inputs 0 and 2 need 3 dimensions");
  const int64_t hidden = HiddenSize(context, recurrent[1]), columns = LstmCell().gates * hidden;
  const int64_t directions = context.String("direction", "forward") == "bidirectional" ? 2 : 1;
  CheckInputShape(context, 1, {directions, x[2], columns});
  CheckInputShape(context, 2, {directions, hidden, columns});
  CheckParameters(context, kFirstScale, directions, columns);
  CheckParameters(context, kFirstScale + 2, directions, columns);
  ImportRecurrent(context, LstmCell(), hidden, QuantizedGateProduct);
}

}  // namespace bayloom::graph
