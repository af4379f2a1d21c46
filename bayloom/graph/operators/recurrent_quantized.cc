// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// DynamicQuantizeLSTM of com.microsoft: weights of 8 bits; the input as a whole, and the state of
/// every step, are rounded to 256 levels between their extremes. Levels are multiplied as integers,
/// and the products scaled.
#include "bayloom/graph/operators/integer_products.h"
#include "bayloom/graph/operators/recurrence.h"

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

/// a = (levels - zero) * step, up to rounding.
struct Levels {
  tensor::Tensor levels;  ///< uint8
  tensor::Tensor step;    ///< one float
  tensor::Tensor zero;    ///< one uint8
};

/// The nearest of 256 levels, one of which stands for 0. `columns`: those that count.
Levels RoundToLevels(OperatorContext& context, const tensor::Tensor& a, int64_t columns) {
  GraphBuilder& builder = context.builder();
  const tensor::Tensor low = Extreme(context, a, columns, tensor::Reduction::kMin);
  const tensor::Tensor high = Extreme(context, a, columns, tensor::Reduction::kMax);
  const tensor::Expr none = tensor::FloatLiteral(0), greatest = tensor::FloatLiteral(255);
  const auto round = [](const tensor::Expr& x) { return tensor::Unary(tensor::ExprOp::kRound, x); };
  const auto level = [&](const tensor::Expr& rounded) {
    return tensor::Cast(tensor::DType::kUInt8, tensor::Max(none, tensor::Min(greatest, rounded)));
  };
  const tensor::Tensor step = builder.Map("quantize.scale", {}, [&](const Exprs&) {
    const tensor::Expr range = (high() - low()) / greatest;
    return tensor::Select(tensor::Equal(range, none), tensor::FloatLiteral(1), range);
  });
  const tensor::Tensor zero =
      builder.Map("quantize.zero", {}, [&](const Exprs&) { return level(round(-low() / step())); });
  const tensor::Tensor levels = builder.Map("quantize", a.shape(), [&](const Exprs& place) {
    return level(round(a.At(place) / step()) + ConvertTo(tensor::DType::kFloat32, zero()));
  });
  return {levels, step, zero};
}

/// Scales or zero points of the columns of a direction, [gates * width]: `x` has one element for
/// each direction, or one for each column of it.
tensor::Tensor OfColumns(OperatorContext& context, const tensor::Tensor& x,
                         const GateWeights& weights) {
  const int gates = LstmCell().gates;
  if (Rank(x) > 1) {
    return GateVector(context, x, weights.direction, 0, gates, weights.hidden, weights.width);
  }
  return context.builder().Map("pack", {gates * weights.width},
                               [&](const Exprs&) { return x(weights.direction); });
}

/// The integers of weights [directions, inner, gates * hidden]; what is added to fill lines is the
/// zero point.
IntegerOperand GateMatrixOf(OperatorContext& context, const GateWeights& weights) {
  const tensor::Tensor w = context.Input(weights.input);
  const int64_t hidden = weights.hidden, inner = w.shape()[1];
  const int gates = LstmCell().gates, zero_input = kFirstScale + 2 * (weights.input - 1) + 1;
  IntegerOperand matrix;
  if (context.HasInput(zero_input)) {
    matrix.zero = OfColumns(context, context.Input(zero_input), weights);
  }
  const tensor::Tensor packed =
      context.builder().Map("pack", {weights.inner, gates, weights.width}, [&](const Exprs& place) {
        const tensor::Expr level =
            w(weights.direction, place[0], place[1] * tensor::Expr(hidden) + place[2]);
        const tensor::Expr none =
            matrix.zero
                ? tensor::Cast(level->dtype,
                               (*matrix.zero)(place[1] * tensor::Expr(weights.width) + place[2]))
                : LiteralLike(0, level);
        return tensor::Select(place[2] < tensor::Expr(hidden) && place[0] < tensor::Expr(inner),
                              level, none);
      });
  matrix.integers = context.builder().View(packed, {weights.inner, gates * weights.width});
  return matrix;
}

GateProduct QuantizedGateProduct(OperatorContext& context, const GateWeights& weights) {
  const int64_t columns = context.Input(weights.input).shape()[1];
  const IntegerOperand matrix = GateMatrixOf(context, weights);
  const tensor::Tensor scales =
      OfColumns(context, context.Input(kFirstScale + 2 * (weights.input - 1)), weights);
  return [&context, matrix, scales, columns](const tensor::Tensor& a, int, int) {
    const Levels rounded = RoundToLevels(context, a, columns);
    const tensor::Tensor sums =
        IntegerMatrixProduct(context, {rounded.levels, rounded.zero}, matrix, std::nullopt);
    return context.builder().Map("rescale", sums.shape(), [&](const Exprs& place) {
      return tensor::Cast(tensor::DType::kFloat32, sums.At(place)) *
             (rounded.step() * scales(place[1]));
    });
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
