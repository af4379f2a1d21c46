// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Sums and bounds of tensors that are sums of scaled integers.
#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/graph/operators/integer_operators.h"
#include "bayloom/graph/operators/layer_numbers.h"
#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

/// More terms are stored as floats before they are added.
constexpr size_t kMaxTerms = 4;

/// A sum whose terms need no more than one number for all zero points.
bool IsAddable(const ScaledSum& sum) {
  return !sum.IsClipped() && std::ranges::all_of(sum.terms, [](const ScaledTerm& term) {
    return !term.zero || term.IsUniform();
  });
}

/// The sum with a constant of one element, or one for each of the last axis, added.
std::optional<ScaledSum> PlusConstant(OperatorContext& context, ScaledSum sum, int constant) {
  const tensor::Tensor x = context.Input(constant);
  const int64_t count = CheckedElementCount(x.shape());
  const bool fits = count == 1 ? Rank(x) <= static_cast<int>(sum.shape.size())
                               : Rank(x) == 1 && !sum.shape.empty() && sum.shape.back() == count;
  if (!context.ConstantInput(constant) || !fits || sum.offset) return std::nullopt;
  sum.offset = x;
  return sum;
}

std::optional<ScaledSum> Plus(OperatorContext& context, ScaledSum a, const ScaledSum& b) {
  if ((a.offset && b.offset) || a.terms.size() + b.terms.size() > kMaxTerms) return std::nullopt;
  a.shape = BroadcastShape(context, {a.shape, b.shape});
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  if (b.offset) a.offset = b.offset;
  return a;
}

void SetSum(OperatorContext& context, ScaledSum sum) {
  context.SetOutput(0, WriteFloats(context, context.label(), std::move(sum)));
}

/// The bounds of what has bounds already.
bool SetClipped(OperatorContext& context, float low, float high) {
  std::optional<ScaledSum> sum = SumInput(context, 0);
  if (!sum || !(low <= high)) return false;
  sum->low = std::clamp(sum->low, low, high);
  sum->high = std::clamp(sum->high, low, high);
  SetSum(context, *std::move(sum));
  return true;
}

/// A bound of Clip: an input, or before operator set 11 an attribute. nullopt: not known.
std::optional<float> BoundOf(OperatorContext& context, int input, const char* attribute,
                             float otherwise) {
  if (context.opset() < 11) return context.Float(attribute, otherwise);
  if (!context.HasInput(input)) return otherwise;
  const tensor::HostTensor* data = context.ConstantInput(input);
  if (!data || data->ElementCount() != 1) return std::nullopt;
  return static_cast<float>(data->Get(0));
}

}  // namespace

bool AddOnIntegers(OperatorContext& context) {
  const auto a = SumInput(context, 0), b = SumInput(context, 1);
  if ((!a && !b) || (a && !IsAddable(*a)) || (b && !IsAddable(*b))) return false;
  std::optional<ScaledSum> sum = a && b ? Plus(context, *a, *b)
                                 : a    ? PlusConstant(context, *a, 1)
                                        : PlusConstant(context, *b, 0);
  if (!sum) return false;
  SetSum(context, *std::move(sum));
  return true;
}

bool MulOnIntegers(OperatorContext& context) {
  tensor::Tensor x = context.Input(0), constant = context.Input(1);
  if (context.ConstantInput(0)) std::swap(x, constant);
  const auto is_number = [](const tensor::Tensor& t) {
    return t.dtype() == tensor::DType::kFloat32 && CheckedElementCount(t.shape()) == 1;
  };
  const tensor::HostTensor* factor = context.builder().ConstantOf(constant);
  if (!factor || context.builder().ConstantOf(x) || !is_number(x) || !is_number(constant)) {
    return false;
  }
  LayerNumbers numbers;
  const size_t number = numbers.Add(factor->Get(0));
  numbers.Write(context);
  const std::vector<int64_t> shape = BroadcastShape(context, {x.shape(), constant.shape()});
  context.SetOutput(0, context.builder().Map(context.label(), shape, [&](const Exprs& place) {
    return BroadcastAt(x, place) * numbers.At(number);
  }));
  return true;
}

bool ReluOnIntegers(OperatorContext& context) {
  return SetClipped(context, 0, std::numeric_limits<float>::infinity());
}

bool ClipOnIntegers(OperatorContext& context) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!SumInput(context, 0)) return false;
  const auto low = BoundOf(context, 1, "min", -kInfinity);
  const auto high = BoundOf(context, 2, "max", kInfinity);
  return low && high && SetClipped(context, *low, *high);
}

}  // namespace bayloom::graph
