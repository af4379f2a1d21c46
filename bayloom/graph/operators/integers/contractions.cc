// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Convolutions and matrix products of dequantized tensors, as sums of products of their integers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/graph/operators/integer_operators.h"
#include "bayloom/graph/operators/integer_products.h"
#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

using tensor::DType;

/// Whether no sum over so many products of bytes is too large for 32 bits.
bool FitsSum(int64_t products) {
  constexpr int64_t kLargestProduct = 255 * 255;
  return products <= std::numeric_limits<int32_t>::max() / kLargestProduct;
}

/// Scale and zero point are one number, or one for each slice of the axis.
bool IsUniformAlong(const ScaledTerm& term, int axis) {
  const auto fits = [&](const tensor::Tensor& x) {
    return CheckedElementCount(x.shape()) == 1 ||
           (Rank(x) == Rank(term.integers) - axis && x.shape()[0] == term.integers.shape()[axis]);
  };
  return axis < Rank(term.integers) && fits(term.scale) && (!term.zero || fits(*term.zero));
}

/// A bias, as integers with the product's scale if it is one of those, else as floats.
struct Bias {
  std::optional<tensor::Tensor> integers, floats;
};

/// Quantizers round the scale of a bias from the product of the other two.
bool AreAboutEqual(const tensor::HostTensor& a, const tensor::HostTensor& b) {
  constexpr double kTolerance = 1e-6;
  for (int64_t i = 0; i < std::max(a.ElementCount(), b.ElementCount()); ++i) {
    const double x = a.Get(a.ElementCount() == 1 ? 0 : i), y = b.Get(b.ElementCount() == 1 ? 0 : i);
    if (std::abs(x - y) > kTolerance * std::abs(y)) return false;
  }
  return true;
}

/// Input number `i`, if it is absent or known, with `count` elements, in which case those are
/// [count, 1, ...] with so many ones; nullopt otherwise.
std::optional<Bias> ReadBias(OperatorContext& context, int i, const tensor::Tensor& scale,
                             int64_t count, int ones) {
  if (!context.HasInput(i)) return Bias{};
  const tensor::Tensor given = context.Input(i);
  const bool fits = CheckedElementCount(given.shape()) == count &&
                    (Rank(given) == 0 || given.shape().back() == count);
  if (!context.ConstantInput(i) || given.dtype() != DType::kFloat32 || !fits) return std::nullopt;
  const auto sum = SumInput(context, i);
  if (sum && sum->terms.size() == 1 && !sum->offset && !sum->IsClipped()) {
    const ScaledTerm& term = sum->terms[0];
    GraphBuilder& builder = context.builder();
    if (term.integers.dtype() == DType::kInt32 &&
        AreAboutEqual(*builder.ConstantOf(term.scale), *builder.ConstantOf(scale))) {
      return Bias{term.integers, std::nullopt};
    }
  }
  std::vector<int64_t> shape = {count};
  shape.insert(shape.end(), ones, 1);
  return Bias{std::nullopt, context.builder().View(given, shape)};
}

void SetResult(OperatorContext& context, const tensor::Tensor& integers,
               const tensor::Tensor& scale, const Bias& bias) {
  context.SetOutput(0, WriteFloats(context, "rescale",
                                   {.shape = integers.shape(),
                                    .terms = {{.integers = integers, .scale = scale}},
                                    .offset = bias.floats}));
}

IntegerOperand OperandOf(const ScaledTerm& term) { return {term.integers, term.zero}; }

ScaledTerm Transposed(OperatorContext& context, const ScaledTerm& term) {
  ScaledTerm transposed = term;
  transposed.integers = Permute(context, term.integers, {1, 0});
  return transposed;
}

/// a * b + bias (input number `bias`), with columns of b that may have scales of their own, along
/// the axis `columns` of b as it was.
bool Multiply(OperatorContext& context, const ScaledTerm& a, const ScaledTerm& b, int bias) {
  const int64_t n = Rank(b.integers) == 1 ? 1 : b.integers.shape().back();
  const auto scale = ProductOfScales(context, {a.scale, b.scale}, n, 0);
  if (!scale || !FitsSum(a.integers.shape().back())) return false;
  const auto added = ReadBias(context, bias, *scale, n, 0);
  if (!added) return false;
  SetResult(context, IntegerMatrixProduct(context, OperandOf(a), OperandOf(b), added->integers),
            *scale, *added);
  return true;
}

}  // namespace

bool ConvOnIntegers(OperatorContext& context) {
  const auto x = BytesInput(context, 0), weights = BytesInput(context, 1);
  if (!x || !weights || !x->IsUniform() || Rank(weights->integers) < 3) return false;
  if (!IsUniformAlong(*weights, 0)) return false;
  const std::vector<int64_t>& shape = weights->integers.shape();
  const int ones = Rank(weights->integers) - 2;
  const int64_t channels = shape[0], elements = CheckedElementCount(shape);
  const auto scale = ProductOfScales(context, {x->scale, weights->scale}, channels, ones);
  if (!scale || channels == 0 || !FitsSum(elements / channels)) return false;
  const auto bias = ReadBias(context, 2, *scale, channels, ones);
  if (!bias) return false;
  SetResult(context,
            IntegerConvolution(context, OperandOf(*x), OperandOf(*weights), bias->integers), *scale,
            *bias);
  return true;
}

bool MatMulOnIntegers(OperatorContext& context) {
  const auto a = BytesInput(context, 0), b = BytesInput(context, 1);
  constexpr int kNoBias = 2;
  if (!a || !b || Rank(a->integers) == 0 || !a->IsUniform()) return false;
  if (!b->IsUniform() && (Rank(b->integers) < 2 || !IsUniformAlong(*b, Rank(b->integers) - 1))) {
    return false;
  }
  return Multiply(context, *a, *b, kNoBias);
}

bool GemmOnIntegers(OperatorContext& context) {
  auto a = BytesInput(context, 0), b = BytesInput(context, 1);
  const bool scales = context.Float("alpha", 1.0F) != 1 || context.Float("beta", 1.0F) != 1;
  if (!a || !b || scales || Rank(a->integers) != 2 || Rank(b->integers) != 2) return false;
  const bool transpose_b = context.Int("transB", 0) != 0;
  if (!a->IsUniform() || !IsUniformAlong(*b, transpose_b ? 0 : 1)) return false;
  if (context.Int("transA", 0) != 0) a = Transposed(context, *a);
  if (transpose_b) b = Transposed(context, *b);
  return Multiply(context, *a, *b, 2);
}

}  // namespace bayloom::graph
