// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Random tensors. Each element is a function of the seed and the element's index, so that every
/// run of a model, and every machine, draws the same numbers; those that depend on no input are
/// constants of the imported graph. Without the attribute `seed` the name of the node's output
/// takes its place. The numbers differ from other runtimes', as ONNX allows.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/operators/apply.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::ExprOp;

Expr Unsigned(uint64_t value) {
  return tensor::IntLiteral(static_cast<int64_t>(value), DType::kUInt64);
}

/// The exchange of a 64-bit number's halves.
Expr HalvesExchanged(const Expr& x) {
  return tensor::Binary(ExprOp::kShiftRight, x, Unsigned(32)) +
         tensor::Binary(ExprOp::kShiftLeft, x, Unsigned(32));
}

/// A generator of random numbers by a counter: "Squares" (Widynski 2020), four rounds of squaring
/// the middle of a Weyl sequence.
class CounterGenerator {
 public:
  explicit CounterGenerator(OperatorContext& context) {
    uint64_t seed = 0xcbf29ce484222325;
    const auto mix = [&](uint64_t byte) { seed = (seed ^ byte) * 0x100000001b3; };
    if (context.HasAttribute("seed")) {
      const bool is_integer = context.op() == "Dropout";
      const uint32_t bits = is_integer ? static_cast<uint32_t>(context.Int("seed"))
                                       : std::bit_cast<uint32_t>(context.Float("seed"));
      for (int shift = 0; shift < 32; shift += 8) mix((bits >> shift) & 255);
    } else {
      for (char c : context.node().output(0)) mix(static_cast<unsigned char>(c));
    }
    // SplitMix64's finalizer: a key needs irregular digits, and has to be odd.
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
    key_ = (seed ^ (seed >> 31)) | 1;
  }

  /// Draw number `draw` (of `draws`) of an element of a tensor: uniform in (0, 1), float32.
  Expr Uniform(const Exprs& place, const std::vector<int64_t>& shape, int draw = 0,
               int draws = 1) const {
    Expr number = 0;
    for (size_t d = 0; d < place.size(); ++d) number = number * Expr(shape[d]) + place[d];
    const Expr counter =
        tensor::Cast(DType::kUInt64, number * Expr(draws) + Expr(draw)) + Unsigned(1);
    const Expr y = counter * Unsigned(key_), z = y + Unsigned(key_);
    Expr x = HalvesExchanged(y * y + y);
    x = HalvesExchanged(x * x + z);
    x = HalvesExchanged(x * x + y);
    const Expr bits = tensor::Binary(ExprOp::kShiftRight, x * x + z, Unsigned(41));  // 23 of them
    const Expr whole = tensor::Cast(DType::kFloat32, tensor::Cast(DType::kInt32, bits));
    return (whole + LiteralLike(0.5, whole)) * LiteralLike(0x1p-23, whole);
  }

  /// Standard normal, from two draws (Box and Muller 1958).
  Expr Normal(const Exprs& place, const std::vector<int64_t>& shape) const {
    const Expr u = Uniform(place, shape, 0, 2), v = Uniform(place, shape, 1, 2);
    const Expr radius =
        tensor::Unary(ExprOp::kSqrt, LiteralLike(-2, u) * tensor::Unary(ExprOp::kLog, u));
    return radius * tensor::Unary(ExprOp::kCos, LiteralLike(2 * std::numbers::pi, v) * v);
  }

 private:
  uint64_t key_;
};

DType TypeOr(OperatorContext& context, DType otherwise) {
  if (!context.HasAttribute("dtype")) return otherwise;
  const int64_t type = context.Int("dtype");
  return DTypeFromOnnx(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
}

void FillUniform(OperatorContext& context, const std::vector<int64_t>& shape, DType dtype) {
  const CounterGenerator generator(context);
  const double low = context.Float("low", 0.0f), high = context.Float("high", 1.0f);
  context.SetOutput(0, context.builder().Map(context.label(), shape, [&](const Exprs& s) {
    const Expr u = generator.Uniform(s, shape);
    return tensor::Cast(dtype, LiteralLike(low, u) + u * LiteralLike(high - low, u));
  }));
}

void FillNormal(OperatorContext& context, const std::vector<int64_t>& shape, DType dtype) {
  const CounterGenerator generator(context);
  const double mean = context.Float("mean", 0.0f), scale = context.Float("scale", 1.0f);
  context.SetOutput(0, context.builder().Map(context.label(), shape, [&](const Exprs& s) {
    const Expr n = generator.Normal(s, shape);
    return tensor::Cast(dtype, LiteralLike(mean, n) + n * LiteralLike(scale, n));
  }));
}

void RandomUniform(OperatorContext& context) {
  FillUniform(context, context.Ints("shape"), TypeOr(context, DType::kFloat32));
}
void RandomUniformLike(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  FillUniform(context, x.shape(), TypeOr(context, x.dtype()));
}
void RandomNormal(OperatorContext& context) {
  FillNormal(context, context.Ints("shape"), TypeOr(context, DType::kFloat32));
}
void RandomNormalLike(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  FillNormal(context, x.shape(), TypeOr(context, x.dtype()));
}

/// 1 with the probability that the input gives, else 0.
void Bernoulli(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const DType dtype = TypeOr(context, x.dtype());
  const CounterGenerator generator(context);
  context.SetOutput(0, context.builder().Map("bernoulli", x.shape(), [&](const Exprs& s) {
    const Expr hit = generator.Uniform(s, x.shape()) < tensor::Cast(DType::kFloat32, x.At(s));
    return tensor::Select(hit, tensor::Literal(1, dtype), tensor::Literal(0, dtype));
  }));
}

/// Classes drawn with probabilities of which the input holds the logarithms: where logarithm plus
/// Gumbel noise is largest.
void Multinomial(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t samples = context.Int("sample_size", 1);
  if (Rank(x) != 2 || samples < 1) context.Refuse("needs 2 dimensions and a positive sample_size");
  const DType dtype = TypeOr(context, DType::kInt32);
  if (dtype != DType::kInt32 && dtype != DType::kInt64) context.Refuse("dtype is no index type");
  const CounterGenerator generator(context);
  const std::vector<int64_t> shape = {x.shape()[0], samples, x.shape()[1]};
  const tensor::Tensor noisy =
      context.builder().Map("multinomial.noise", shape, [&](const Exprs& s) {
        const auto log = [](const Expr& e) { return tensor::Unary(ExprOp::kLog, e); };
        return tensor::Cast(DType::kFloat32, x(s[0], s[2])) -
               log(-log(generator.Uniform(s, shape)));
      });
  context.SetOutput(0, ConvertTo(context, dtype, ArgExtreme(context, noisy, 2, true, false)));
}

/// In training, which an input may say, elements are dropped at random, and the others rise by as
/// much; in inference none is.
void Dropout(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const auto scalar = [&](int input) {
    const tensor::Tensor given = context.Input(input);
    if (CheckedElementCount(given.shape()) != 1) {
      context.Refuse(fmt::format("input {} has to be one number", input));
    }
    const tensor::Expr known = KnownScalar(context, given);
    return known.defined() ? known : given.At(Exprs(given.shape().size(), Expr(0)));
  };
  const auto is_known_zero = [&](int input) {
    return context.ConstantInput(input) && context.NumberInput(input) == 0;
  };
  const bool trains = context.HasInput(2) && !is_known_zero(2) && !is_known_zero(1);
  if (!trains) {
    context.SetOutput(0, x);
    if (!context.WantsOutput(1)) return;
    return context.SetOutput(1, context.builder().Map("mask", x.shape(), [](const Exprs&) {
      return tensor::BoolLiteral(true);
    }));
  }
  const DType dtype = DType::kFloat32;
  const Expr given =
      context.HasInput(1) ? tensor::Cast(dtype, scalar(1)) : tensor::FloatLiteral(0.5);
  const Expr ratio =
      tensor::Select(ConvertTo(DType::kBool, scalar(2)), given, LiteralLike(0, given));
  const CounterGenerator generator(context);
  const tensor::Tensor mask = context.builder().Map("dropout.mask", x.shape(), [&](const Exprs& s) {
    return !(generator.Uniform(s, x.shape()) < ratio);
  });
  context.SetOutput(0, context.builder().Map("dropout", x.shape(), [&](const Exprs& s) {
    const Expr kept = tensor::Cast(dtype, x.At(s)) / (LiteralLike(1, ratio) - ratio);
    return tensor::Select(mask.At(s), tensor::Cast(x.dtype(), kept), tensor::Literal(0, x.dtype()));
  }));
  if (context.WantsOutput(1)) context.SetOutput(1, mask);
}

}  // namespace

std::span<const Operator> RandomOperators() {
  static const Operator operators[] = {
      {"Bernoulli", Bernoulli},
      {"Dropout", Dropout},
      {"Multinomial", Multinomial},
      {"RandomNormal", RandomNormal},
      {"RandomNormalLike", RandomNormalLike},
      {"RandomUniform", RandomUniform},
      {"RandomUniformLike", RandomUniformLike},
  };
  return operators;
}

}  // namespace bayloom::graph
