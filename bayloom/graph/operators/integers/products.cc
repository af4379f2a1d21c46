// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Sums of products of integers with zero points.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bayloom/graph/operators/convolution.h"
#include "bayloom/graph/operators/integer_products.h"
#include "bayloom/graph/operators/matrix_product.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

bool IsAllZeros(OperatorContext& context, const tensor::Tensor& x) {
  const tensor::HostTensor* data = context.builder().ConstantOf(x);
  return data && std::ranges::all_of(data->data, [](std::byte b) { return b == std::byte{0}; });
}

/// The operand without a zero point that is 0.
IntegerOperand WithZeroIfAny(OperatorContext& context, const IntegerOperand& operand) {
  const bool none = !operand.zero || IsAllZeros(context, *operand.zero);
  return {operand.integers, none ? std::nullopt : operand.zero};
}

/// One element, or `count` of them under the shape [count, 1, ...] with so many ones.
tensor::Tensor ShapedParameter(OperatorContext& context, const tensor::Tensor& x, int64_t count,
                               int ones) {
  const int64_t given = CheckedElementCount(x.shape());
  if (given == 1) return context.builder().View(x, {});
  if (given != count) {
    context.Refuse(
        fmt::format("{} zero points, scales or biases where {} are needed", given, count));
  }
  std::vector<int64_t> shape = {count};
  shape.insert(shape.end(), ones, 1);
  return context.builder().View(x, shape);
}

tensor::Tensor SumOver(OperatorContext& context, const tensor::Tensor& x,
                       const std::vector<int>& axes, const std::vector<int64_t>& shape) {
  const tensor::Tensor sums =
      ReduceAxes(context, "levels.sum", x, axes, tensor::Reduction::kSum, AsInt32);
  return context.builder().View(sums, shape);
}

/// The integers minus their zero point, in 8 bits if they are known to fit, else in 16.
tensor::Tensor Centred(OperatorContext& context, const tensor::Tensor& integers,
                       const tensor::Tensor& zero) {
  const tensor::Tensor centred = Elementwise(
      context, "centre", {integers, zero},
      [](const Exprs& e) { return tensor::Cast(DType::kInt16, AsInt32(e[0]) - AsInt32(e[1])); });
  const tensor::HostTensor* known = context.builder().ConstantOf(centred);
  if (!known) return centred;
  for (int64_t i = 0; i < known->ElementCount(); ++i) {
    if (known->GetInt(i) < -128 || known->GetInt(i) > 127) return centred;
  }
  return ConvertTo(context, DType::kInt8, centred);
}

/// The sums of weights [out, in, kernel...] that an output channel multiplies with.
tensor::Tensor SumsOfChannels(OperatorContext& context, const tensor::Tensor& weights) {
  std::vector<int> axes = AllAxes(Rank(weights));
  axes.erase(axes.begin());
  std::vector<int64_t> shape(weights.shape().size() - 1, 1);
  shape[0] = weights.shape()[0];
  return SumOver(context, weights, axes, shape);
}

/// The sums along the axis that a matrix product sums over, with an extent of 1 there.
tensor::Tensor SumsOfLines(OperatorContext& context, const tensor::Tensor& x, int axis) {
  return SumOver(context, x, {axis}, ReducedShape(x.shape(), {axis}, true));
}

Expr TermOf(const Summand& summand, const Exprs& elements, size_t& next) {
  Expr term = AsInt32(elements[next++]);
  for (size_t k = 1; k < summand.tensors.size(); ++k) term = term * AsInt32(elements[next++]);
  const int64_t magnitude = std::abs(summand.factor);
  return magnitude == 1 ? term : term * tensor::IntLiteral(magnitude, DType::kInt32);
}

/// The sums plus the summands; all of them are operands of one elementwise node.
tensor::Tensor AddAll(OperatorContext& context, const tensor::Tensor& sums,
                      const std::vector<Summand>& summands) {
  std::vector<tensor::Tensor> operands = {sums};
  for (const Summand& summand : summands) {
    operands.insert(operands.end(), summand.tensors.begin(), summand.tensors.end());
  }
  return Elementwise(context, "centre", operands, [&](const Exprs& elements) {
    size_t next = 0;
    Expr result = elements[next++];
    for (const Summand& summand : summands) {
      const Expr term = TermOf(summand, elements, next);
      result = summand.factor < 0 ? result - term : result + term;
    }
    return result;
  });
}

tensor::Tensor ZeroConstant(OperatorContext& context) {
  return context.builder().Constant(context.label(), tensor::HostTensor::Zeros(DType::kInt32, {}));
}

}  // namespace

tensor::Tensor AddSummands(OperatorContext& context, const tensor::Tensor& sums,
                           const std::vector<Summand>& summands) {
  std::vector<Summand> known, others;
  for (const Summand& summand : summands) {
    const auto is_known = [&](const tensor::Tensor& t) { return context.builder().ConstantOf(t); };
    (std::ranges::all_of(summand.tensors, is_known) ? known : others).push_back(summand);
  }
  if (!known.empty()) {
    others.push_back({1, {AddAll(context, ZeroConstant(context), known)}});
  }
  if (others.empty()) return sums;
  const tensor::Tensor result = AddAll(context, sums, others);
  if (result.shape() != sums.shape()) context.Refuse("zero points or bias do not fit the result");
  return result;
}

tensor::Tensor IntegerConvolution(OperatorContext& context, const IntegerOperand& image,
                                  const IntegerOperand& kernel,
                                  const std::optional<tensor::Tensor>& bias) {
  const IntegerOperand x = WithZeroIfAny(context, image), w = WithZeroIfAny(context, kernel);
  tensor::Tensor weights = w.integers;
  const int behind = std::max(0, Rank(weights) - 2);
  if (w.zero && Rank(weights) > 0) {
    weights = Centred(context, weights,
                      ShapedParameter(context, *w.zero, weights.shape()[0], behind + 1));
  }
  std::optional<tensor::Tensor> zero;
  Expr fill = tensor::Literal(0, x.integers.dtype());
  if (x.zero) {
    zero = ShapedParameter(context, *x.zero, 1, 0);
    const Expr known = KnownScalar(context, *zero);
    fill = tensor::Cast(x.integers.dtype(), known.defined() ? known : (*zero)());
  }
  const tensor::Tensor sums = Convolve(context, x.integers, weights, fill);
  std::vector<Summand> summands;
  if (zero) summands.push_back({-1, {*zero, SumsOfChannels(context, weights)}});
  if (bias) {
    summands.push_back({1, {ShapedParameter(context, *bias, weights.shape()[0], behind)}});
  }
  return AddSummands(context, sums, summands);
}

tensor::Tensor IntegerMatrixProduct(OperatorContext& context, const IntegerOperand& left,
                                    const IntegerOperand& right,
                                    const std::optional<tensor::Tensor>& bias) {
  GraphBuilder& builder = context.builder();
  IntegerOperand a = WithZeroIfAny(context, left), b = WithZeroIfAny(context, right);
  if (Rank(a.integers) == 0 || Rank(b.integers) == 0) {
    context.Refuse("a scalar cannot be multiplied");
  }
  const bool row = Rank(a.integers) == 1, column = Rank(b.integers) == 1;
  if (row) a.integers = builder.View(a.integers, {1, a.integers.shape()[0]});
  if (column) b.integers = builder.View(b.integers, {b.integers.shape()[0], 1});
  const int64_t m = a.integers.shape()[Rank(a.integers) - 2], n = b.integers.shape().back();
  const int64_t k = a.integers.shape().back();
  if (a.zero) a.zero = ShapedParameter(context, *a.zero, m, 1);
  if (b.zero) b.zero = ShapedParameter(context, *b.zero, n, 0);
  if (b.zero && builder.ConstantOf(b.integers)) {
    const tensor::Tensor centred = Centred(context, b.integers, *b.zero);
    if (centred.dtype() == DType::kInt8) b = {centred, std::nullopt};
  }
  const tensor::Tensor sums = MatrixProduct(context, a.integers, b.integers);
  std::vector<Summand> summands;
  if (a.zero) {
    summands.push_back({-1, {*a.zero, SumsOfLines(context, b.integers, Rank(b.integers) - 2)}});
  }
  if (b.zero) {
    summands.push_back({-1, {*b.zero, SumsOfLines(context, a.integers, Rank(a.integers) - 1)}});
  }
  if (a.zero && b.zero) summands.push_back({k, {*a.zero, *b.zero}});
  if (bias) summands.push_back({1, {ShapedParameter(context, *bias, n, 0)}});
  const tensor::Tensor product = AddSummands(context, sums, summands);
  std::vector<int64_t> shape = product.shape();
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return builder.View(product, shape);
}

}  // namespace bayloom::graph
