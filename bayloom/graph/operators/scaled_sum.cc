// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/scaled_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/graph/operators/layer_numbers.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

/// A constant as a factor or summand of elements: a layer's number, or a tensor.
struct Parameter {
  std::optional<size_t> number;
  std::optional<tensor::Tensor> tensor;

  Expr At(const LayerNumbers& numbers, const Exprs& place) const {
    return number ? numbers.At(*number) : BroadcastAt(*tensor, place);
  }
};

double OnlyElement(OperatorContext& context, const tensor::Tensor& constant) {
  const tensor::HostTensor& data = *context.builder().ConstantOf(constant);
  return tensor::IsFloat(data.dtype) ? data.Get(0) : static_cast<double>(data.GetInt(0));
}

Parameter MakeParameter(OperatorContext& context, LayerNumbers& numbers,
                        const tensor::Tensor& constant) {
  if (CheckedElementCount(constant.shape()) != 1) return {std::nullopt, constant};
  return {numbers.Add(OnlyElement(context, constant)), std::nullopt};
}

Expr AsFloat(const Expr& e) { return tensor::Cast(DType::kFloat32, e); }

Expr Rounded(const Expr& e) { return tensor::Unary(tensor::ExprOp::kRound, e); }

std::pair<int64_t, int64_t> RangeOf(DType dtype) {
  return {tensor::NeutralElement(tensor::Reduction::kMax, dtype)->int_value,
          tensor::NeutralElement(tensor::Reduction::kMin, dtype)->int_value};
}

/// The level, zero point added, in the range [low, high].
Expr Clamped(const Expr& level, DType dtype, int64_t low, int64_t high) {
  const Expr above = tensor::Max(level, LiteralLike(static_cast<double>(low), level));
  return tensor::Cast(dtype, tensor::Min(above, LiteralLike(static_cast<double>(high), level)));
}

/// The level of a bound of the real numbers: quantization keeps the order.
int64_t LevelOf(float bound, const Quantization& to) {
  const auto [least, greatest] = RangeOf(to.dtype);
  const double level = std::nearbyint(bound / to.scale) + static_cast<double>(to.zero);
  return static_cast<int64_t>(
      std::clamp(level, static_cast<double>(least), static_cast<double>(greatest)));
}

/// The sum over the target's scale. Zero points and offset come in one summand.
class RequantizedSum {
 public:
  RequantizedSum(OperatorContext& context, const ScaledSum& sum, const Quantization& to)
      : sum_(sum) {
    const double scale = to.scale;
    double shift = 0;
    for (const ScaledTerm& term : sum.terms) {
      const tensor::Tensor factor = MapConstant(context, term.scale, [&](double x) {
        return static_cast<double>(static_cast<float>(x) / to.scale);
      });
      factors_.push_back(MakeParameter(context, numbers_, factor));
      if (term.zero) shift -= OnlyElement(context, *term.zero) * OnlyElement(context, factor);
    }
    if (sum.offset) {
      const tensor::Tensor offset =
          MapConstant(context, *sum.offset, [&](double x) { return x / scale + shift; });
      offset_ = MakeParameter(context, numbers_, offset);
    } else if (shift != 0) {
      offset_ = {numbers_.Add(shift), std::nullopt};
    }
    zero_ = numbers_.Add(static_cast<double>(to.zero));
    numbers_.Write(context);
  }

  /// Not yet rounded, without the zero point.
  Expr LevelAt(const Exprs& place) const {
    Expr level;
    for (size_t k = 0; k < factors_.size(); ++k) {
      const Expr scaled =
          AsFloat(BroadcastAt(sum_.terms[k].integers, place)) * factors_[k].At(numbers_, place);
      level = level.defined() ? level + scaled : scaled;
    }
    return offset_ ? level + offset_->At(numbers_, place) : level;
  }
  Expr Zero() const { return numbers_.At(zero_); }

 private:
  const ScaledSum& sum_;
  LayerNumbers numbers_;
  std::vector<Parameter> factors_;
  std::optional<Parameter> offset_;
  size_t zero_;
};

/// Whether the integers are what quantization gives.
bool IsQuantized(OperatorContext& context, const ScaledSum& sum, const Quantization& to) {
  if (sum.terms.size() != 1 || sum.offset || sum.IsClipped()) return false;
  const ScaledTerm& term = sum.terms[0];
  if (!term.IsUniform() || term.integers.dtype() != to.dtype) return false;
  const double zero = term.zero ? OnlyElement(context, *term.zero) : 0;
  return term.integers.shape() == sum.shape &&
         static_cast<float>(OnlyElement(context, term.scale)) == to.scale &&
         zero == static_cast<double>(to.zero);
}

/// Whether one number holds what the zero points add to the sum.
bool HasOneShift(const ScaledSum& sum) {
  return std::ranges::all_of(sum.terms,
                             [](const ScaledTerm& term) { return !term.zero || term.IsUniform(); });
}

tensor::Tensor QuantizeFloats(OperatorContext& context, const tensor::Tensor& x,
                              const Quantization& to) {
  LayerNumbers numbers;
  const size_t scale = numbers.Add(to.scale), zero = numbers.Add(static_cast<double>(to.zero));
  numbers.Write(context);
  const auto [low, high] = RangeOf(to.dtype);
  return context.builder().Map("quantize", x.shape(), [&](const Exprs& place) {
    const Expr level = Rounded(AsFloat(x.At(place)) / numbers.At(scale));
    return Clamped(level + numbers.At(zero), to.dtype, low, high);
  });
}

}  // namespace

bool ScaledTerm::IsUniform() const {
  return CheckedElementCount(scale.shape()) == 1 &&
         (!zero || CheckedElementCount(zero->shape()) == 1);
}

bool ScaledSum::IsClipped() const { return std::isfinite(low) || std::isfinite(high); }

void KnownFloats::Note(const tensor::Tensor& floats, ScaledSum sum) {
  sums_.insert_or_assign(floats.id(), std::move(sum));
}

void KnownFloats::Note(const tensor::Tensor& floats, JoinedFloats joined) {
  joined_.insert_or_assign(floats.id(), std::move(joined));
}

void KnownFloats::Note(const tensor::Tensor& floats, BlockFloats blocks) {
  blocks_.insert_or_assign(floats.id(), std::move(blocks));
}

void KnownFloats::Note(const tensor::Tensor& floats, RepeatedFloats repeated) {
  repeated_.insert_or_assign(floats.id(), std::move(repeated));
}

const RepeatedFloats* KnownFloats::FindRepeated(const tensor::Tensor& floats) const {
  const auto found = repeated_.find(floats.id());
  return found == repeated_.end() ? nullptr : &found->second;
}

const BlockFloats* KnownFloats::FindBlocks(const tensor::Tensor& floats) const {
  const auto found = blocks_.find(floats.id());
  return found == blocks_.end() ? nullptr : &found->second;
}

const ScaledSum* KnownFloats::FindSum(const tensor::Tensor& floats) const {
  const auto found = sums_.find(floats.id());
  return found == sums_.end() ? nullptr : &found->second;
}

const JoinedFloats* KnownFloats::FindJoined(const tensor::Tensor& floats) const {
  const auto found = joined_.find(floats.id());
  return found == joined_.end() ? nullptr : &found->second;
}

std::optional<ScaledSum> SumInput(OperatorContext& context, int i) {
  if (!context.HasInput(i)) return std::nullopt;
  const ScaledSum* sum = context.builder().known_floats().FindSum(context.Input(i));
  return sum ? std::optional(*sum) : std::nullopt;
}

std::optional<ScaledTerm> BytesInput(OperatorContext& context, int i) {
  const std::optional<ScaledSum> sum = SumInput(context, i);
  if (!sum || sum->terms.size() != 1 || sum->offset || sum->IsClipped()) return std::nullopt;
  return sum->terms[0].IsOfBytes() ? std::optional(sum->terms[0]) : std::nullopt;
}

tensor::Tensor WriteFloats(OperatorContext& context, const std::string& op, ScaledSum sum) {
  LayerNumbers numbers;
  std::vector<Parameter> scales;
  std::vector<std::optional<Parameter>> zeros;
  for (const ScaledTerm& term : sum.terms) {
    scales.push_back(MakeParameter(context, numbers, term.scale));
    zeros.push_back(std::nullopt);
    if (term.zero) zeros.back() = MakeParameter(context, numbers, *term.zero);
  }
  std::optional<Parameter> offset;
  if (sum.offset) offset = MakeParameter(context, numbers, *sum.offset);
  numbers.Write(context);
  const tensor::Tensor floats = context.builder().Map(op, sum.shape, [&](const Exprs& place) {
    Expr value;
    for (size_t k = 0; k < scales.size(); ++k) {
      Expr level = AsFloat(BroadcastAt(sum.terms[k].integers, place));
      if (zeros[k]) level = level - AsFloat(zeros[k]->At(numbers, place));
      const Expr scaled = level * scales[k].At(numbers, place);
      value = value.defined() ? value + scaled : scaled;
    }
    if (offset) value = value + offset->At(numbers, place);
    if (std::isfinite(sum.low)) value = tensor::Max(value, LiteralLike(sum.low, value));
    if (std::isfinite(sum.high)) value = tensor::Min(value, LiteralLike(sum.high, value));
    return value;
  });
  context.builder().known_floats().Note(floats, std::move(sum));
  return floats;
}

tensor::Tensor Quantize(OperatorContext& context, const ScaledSum& sum, const Quantization& to) {
  if (IsQuantized(context, sum, to)) return sum.terms[0].integers;
  const RequantizedSum requantized(context, sum, to);
  const int64_t high = LevelOf(sum.high, to);
  // The level of 0 differs from layer to layer; before the zero point is added, it is 0 in all.
  const bool from_zero = sum.low == 0 && LevelOf(0, to) > RangeOf(to.dtype).first;
  const int64_t low = from_zero ? RangeOf(to.dtype).first : LevelOf(sum.low, to);
  return context.builder().Map("requantize", sum.shape, [&](const Exprs& place) {
    Expr level = Rounded(requantized.LevelAt(place));
    if (from_zero) level = tensor::Max(level, LiteralLike(0, level));
    return Clamped(level + requantized.Zero(), to.dtype, low, high);
  });
}

tensor::Tensor Quantize(OperatorContext& context, const tensor::Tensor& x, const Quantization& to) {
  const KnownFloats& known = context.builder().known_floats();
  const ScaledSum* sum = known.FindSum(x);
  if (sum && HasOneShift(*sum)) return Quantize(context, ScaledSum(*sum), to);
  const JoinedFloats* joined = known.FindJoined(x);
  if (!joined) return QuantizeFloats(context, x, to);
  const JoinedFloats floats = *joined;
  std::vector<tensor::Tensor> parts;
  for (const tensor::Tensor& part : floats.parts) parts.push_back(Quantize(context, part, to));
  return Concatenate(context, parts, floats.axis);
}

bool IsScale(OperatorContext& context, const tensor::Tensor& scale) {
  const tensor::HostTensor* data = context.builder().ConstantOf(scale);
  if (!data || data->dtype != DType::kFloat32) return false;
  // Within these, a product of two scales over a third is a number again.
  constexpr double kLeast = 1e-30, kGreatest = 1e30;
  const int64_t count = data->ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    const double x = data->Get(i);
    const bool is_none = count > 1 && x == 0;  // the weights of a channel that is all zeros
    if (!is_none && !(x >= kLeast && x <= kGreatest)) return false;
  }
  return count > 0;
}

std::optional<tensor::Tensor> ProductOfScales(OperatorContext& context,
                                              const std::vector<tensor::Tensor>& scales,
                                              int64_t count, int ones) {
  int64_t elements = 1;
  for (const tensor::Tensor& scale : scales) {
    const int64_t given = CheckedElementCount(scale.shape());
    if ((given != 1 && given != count) || !IsScale(context, scale)) return std::nullopt;
    elements = std::max(elements, given);
  }
  std::vector<int64_t> shape;
  if (elements > 1) shape = {count};
  if (elements > 1) shape.insert(shape.end(), ones, 1);
  tensor::HostTensor product = tensor::HostTensor::Zeros(DType::kFloat32, shape);
  for (int64_t i = 0; i < elements; ++i) {
    float factor = 1;
    for (const tensor::Tensor& scale : scales) {
      const tensor::HostTensor& data = *context.builder().ConstantOf(scale);
      factor *= static_cast<float>(data.Get(data.ElementCount() == 1 ? 0 : i));
    }
    product.Set(i, factor);
  }
  return context.builder().Constant(context.label() + ".scale", std::move(product));
}

tensor::Tensor MapConstant(OperatorContext& context, const tensor::Tensor& constant,
                           const std::function<double(double)>& function) {
  const tensor::HostTensor& data = *context.builder().ConstantOf(constant);
  tensor::HostTensor mapped = tensor::HostTensor::Zeros(DType::kFloat32, data.shape);
  for (int64_t i = 0; i < data.ElementCount(); ++i) mapped.Set(i, function(data.Get(i)));
  return context.builder().Constant(context.label() + ".scale", std::move(mapped));
}

}  // namespace bayloom::graph
