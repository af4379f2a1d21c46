// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Fourier transforms as products with constant matrices, windows, mel scales.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/operators/apply.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

constexpr double kTurn = 2 * std::numbers::pi;

/// What a transform of `length` points does.
struct Transform {
  int64_t length = 0;
  bool inverse = false;
  bool onesided = false;  ///< only the first half of the frequencies is given or computed
  bool is_found = false;  ///< the length is known when the network runs

  int64_t Half() const { return length / 2 + 1; }
  int64_t inputs() const { return inverse && onesided ? Half() : length; }
  int64_t outputs() const { return !inverse && onesided ? Half() : length; }
  /// Real signals have one part.
  int64_t output_parts() const { return inverse && onesided ? 1 : 2; }
};

/// An element of the transform's matrix, in float64.
Expr MatrixElement(const Transform& t, const Exprs& place) {
  const auto number = [](double value) { return tensor::FloatLiteral(value, DType::kFloat64); };
  const auto wide = [](const Expr& e) { return tensor::Cast(DType::kFloat64, e); };
  const Expr length = t.length, n = place[0];
  const Expr angle = wide(tensor::FloorMod(n * place[2], length)) *
                     number(t.inverse ? kTurn : -kTurn) / wide(length);
  Expr factor = number(1);
  if (t.inverse) {
    const Expr single = tensor::Equal(n, Expr(0)) || tensor::Equal(n * Expr(2), length);
    const Expr count = t.onesided ? tensor::Select(single, number(1), number(2)) : number(1);
    factor = count / wide(length);
  }
  const Expr cosine = factor * tensor::Unary(tensor::ExprOp::kCos, angle);
  const Expr sine = factor * tensor::Unary(tensor::ExprOp::kSin, angle);
  const Expr is_real = tensor::Equal(place[3], Expr(0));
  return tensor::Select(tensor::Equal(place[1], Expr(0)), tensor::Select(is_real, cosine, sine),
                        tensor::Select(is_real, -sine, cosine));
}

/// The transform as a matrix [inputs, parts, outputs, output parts], of which the first `inputs`
/// rows are needed. `parts` 1: the input is real.
tensor::Tensor TransformMatrix(OperatorContext& context, const Transform& t, int64_t inputs,
                               int64_t parts, tensor::DType dtype) {
  const std::vector<int64_t> shape = {inputs, parts, t.outputs(), t.output_parts()};
  if (CheckedElementCount(shape) > int64_t{1} << 26) {
    context.Refuse(fmt::format("a transform of {} points is too long", t.length));
  }
  if (t.is_found || context.builder().compares_ratios()) {
    return context.builder().Map("transform", shape, [&](const Exprs& place) {
      return tensor::Cast(dtype, MatrixElement(t, place));
    });
  }
  tensor::HostTensor matrix = tensor::HostTensor::Zeros(dtype, shape);
  int64_t element = 0;
  for (int64_t n = 0; n < inputs; ++n) {
    const bool single = n == 0 || 2 * n == t.length;  // the others stand for two frequencies
    double factor = t.inverse ? 1 / static_cast<double>(t.length) : 1;
    if (t.inverse && t.onesided && !single) factor *= 2;
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t k = 0; k < t.outputs(); ++k) {
        const double angle = (t.inverse ? 1 : -1) * kTurn * static_cast<double>(n * k % t.length) /
                             static_cast<double>(t.length);
        const double real = factor * std::cos(angle), imaginary = factor * std::sin(angle);
        matrix.Set(element++, part == 0 ? real : -imaginary);
        if (t.output_parts() == 2) matrix.Set(element++, part == 0 ? imaginary : real);
      }
    }
  }
  return context.builder().Constant("transform", std::move(matrix));
}

/// A whole number of an input, which may be found when the network runs.
int64_t WholeInput(OperatorContext& context, int input, int dimension,
                   std::optional<int64_t> bound = std::nullopt) {
  if (context.ConstantInput(input)) return context.IntInput(input);
  const Expr given = ScalarInput(context, input);
  const tensor::Tensor count = context.builder().Map(
      "count", {}, [&](const Exprs&) { return tensor::Cast(DType::kInt64, given); });
  return context.FindLength(count, 0, dimension, bound);
}

int CheckParts(OperatorContext& context, const tensor::Tensor& x) {
  const int64_t parts = Rank(x) < 2 ? 0 : x.shape().back();
  if (parts != 1 && parts != 2) context.Refuse("the last axis has to hold 1 or 2 parts");
  return static_cast<int>(parts);
}

Transform CheckTransform(OperatorContext& context, const Transform& t) {
  if (t.length < 1 || t.length > (1 << 24)) {
    context.Refuse(fmt::format("a transform of {} points", t.length));
  }
  return t;
}

void Dft(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int parts = CheckParts(context, x);
  int64_t given_axis = context.opset() < 20 ? context.Int("axis", 1) : -2;
  if (context.HasInput(2)) given_axis = context.IntInput(2);
  const int axis = context.CheckAxis(given_axis, Rank(x));
  if (axis == Rank(x) - 1) context.Refuse("the last axis holds the parts of the numbers");
  Transform t{x.shape()[axis], context.Int("inverse", 0) != 0, context.Int("onesided", 0) != 0};
  if (t.inverse && t.onesided) t.length = 2 * (x.shape()[axis] - 1);
  if (context.HasInput(1)) {
    const bool is_whole = t.outputs() == t.length;
    t.length = WholeInput(context, 1, is_whole ? axis : FoundRequest::kNoDimension);
    t.is_found = !context.ConstantInput(1);
  }
  CheckTransform(context, t);
  if (t.onesided && !t.inverse && parts == 2) {
    context.RefuseAttribute("onesided", "1", "complex signals need both sides");
  }
  const int64_t inputs = std::min(t.inputs(), x.shape()[axis]);  // what is missing is 0
  const tensor::Tensor matrix = TransformMatrix(context, t, inputs, parts, x.dtype());
  std::vector<int64_t> shape = x.shape();
  shape[axis] = t.outputs();
  shape.back() = t.output_parts();
  context.SetOutput(0, context.builder().Reduce(
                           "dft", shape, {{"n", inputs}, {"part", parts}}, tensor::Reduction::kSum,
                           [&](const Exprs& s, const Exprs& r) {
                             Exprs place = s;
                             place[axis] = r[0];
                             place.back() = r[1];
                             return x.At(place) * matrix(r[0], r[1], s[axis], s.back());
                           },
                           NodeKind::kMatmul));
}

/// Transforms of overlapping frames of a signal [batch, length, parts] or [batch, length].
void Stft(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  if (Rank(x) == 2) x = context.builder().View(x, {x.shape()[0], x.shape()[1], 1});
  const int parts = CheckParts(context, x);
  if (Rank(x) != 3) context.Refuse("the signal needs 3 dimensions");
  const bool has_found_step = !context.ConstantInput(1);
  const Expr step = has_found_step
                        ? tensor::Max(tensor::Cast(DType::kInt64, ScalarInput(context, 1)), Expr(1))
                        : Expr(context.IntInput(1));
  int64_t length = x.shape()[1];
  if (context.HasInput(2)) length = CheckedElementCount(context.Input(2).shape());
  if (context.HasInput(3)) {
    const int64_t given = WholeInput(context, 3, FoundRequest::kNoDimension, x.shape()[1]);
    if (!context.HasInput(2)) length = given;
  }
  const Transform t = CheckTransform(context, {length, false, context.Int("onesided", 1) != 0,
                                               context.HasInput(3) && !context.ConstantInput(3)});
  if ((!has_found_step && step->int_value < 1) || length > x.shape()[1]) {
    context.Refuse(fmt::format("frames of {} in steps of {} over {} points", length,
                               has_found_step ? 0 : step->int_value, x.shape()[1]));
  }
  if (t.onesided && parts == 2) {
    context.RefuseAttribute("onesided", "1", "complex signals need both sides");
  }
  tensor::Tensor matrix = TransformMatrix(context, t, length, parts, x.dtype());
  if (context.HasInput(2)) {
    const tensor::Tensor window = context.Input(2);
    if (window.shape() != std::vector<int64_t>{length}) context.Refuse("the window does not fit");
    matrix = context.builder().Map("windowed", matrix.shape(),
                                   [&](const Exprs& s) { return matrix.At(s) * window(s[0]); });
  }
  int64_t frames = 0;
  if (has_found_step || t.is_found) {  // the shorter the frames, the more they are
    const Expr found = t.is_found ? tensor::Cast(DType::kInt64, ScalarInput(context, 3)) : length;
    const tensor::Tensor count = context.builder().Map("stft.frames", {}, [&](const Exprs&) {
      return tensor::FloorDiv(Expr(x.shape()[1]) - found, step) + Expr(1);
    });
    frames = context.FindLength(count, 0, 1, x.shape()[1]);
  } else {
    frames = (x.shape()[1] - length) / step->int_value + 1;
  }
  context.SetOutput(0, context.builder().Reduce(
                           "stft", {x.shape()[0], frames, t.outputs(), 2},
                           {{"n", length}, {"part", parts}}, tensor::Reduction::kSum,
                           [&](const Exprs& s, const Exprs& r) {
                             const Expr at = s[1] * step + r[0];
                             const bool is_within = !has_found_step && !t.is_found;
                             return x(s[0], is_within ? at : ClampedIndex(at, x.shape()[1]), r[1]) *
                                    matrix(r[0], r[1], s[2], s[3]);
                           },
                           NodeKind::kMatmul));
}

tensor::DType TypeAttribute(OperatorContext& context, const char* name, int64_t otherwise) {
  const int64_t type = context.Int(name, otherwise);
  return DTypeFromOnnx(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
}

/// sum over j of (-1)^j * coefficients[j] * cos(2 pi j n / period).
void CosineWindow(OperatorContext& context, const std::vector<double>& coefficients) {
  const std::vector<int64_t> sizes = context.LengthsInput(0);
  if (sizes.size() != 1) context.Refuse("the size is not one number");
  const int64_t size = sizes[0];
  if (size < 0 || size > int64_t{1} << 26) context.Refuse(fmt::format("a window of {}", size));
  const DType dtype = TypeAttribute(context, "output_datatype", 1);
  const bool is_periodic = context.Int("periodic", 1) != 0;
  const auto number = [](double value) { return tensor::FloatLiteral(value, DType::kFloat64); };
  context.SetOutput(0, context.builder().Map(context.label(), {size}, [&](const Exprs& place) {
    const Expr period = tensor::Cast(DType::kFloat64, Expr(size) - Expr(is_periodic ? 0 : 1));
    const Expr turns = tensor::Cast(DType::kFloat64, place[0]) / tensor::Max(period, number(1));
    Expr value = number(coefficients[0]);
    double sign = -1;
    for (size_t j = 1; j < coefficients.size(); ++j, sign = -sign) {
      const Expr angle = turns * number(kTurn * static_cast<double>(j));
      value = value + number(sign * coefficients[j]) * tensor::Unary(tensor::ExprOp::kCos, angle);
    }
    return tensor::Cast(dtype, value);
  }));
}

void HannWindow(OperatorContext& context) { CosineWindow(context, {0.5, 0.5}); }
void HammingWindow(OperatorContext& context) { CosineWindow(context, {25.0 / 46, 21.0 / 46}); }
void BlackmanWindow(OperatorContext& context) { CosineWindow(context, {0.42, 0.5, 0.08}); }

/// Triangles over the bins of a spectrum, at equal distances on the mel scale.
void MelWeightMatrix(OperatorContext& context) {
  const auto number = [](double value) { return tensor::FloatLiteral(value, DType::kFloat64); };
  const auto wide = [](const Expr& e) { return tensor::Cast(DType::kFloat64, e); };
  const auto log = [](const Expr& e) { return tensor::Unary(tensor::ExprOp::kLog, e); };
  const auto mel = [&](const Expr& hertz) {
    return log(number(1) + wide(hertz) / number(700)) * number(2595 / std::numbers::ln10);
  };
  const int64_t mels = WholeInput(context, 0, 1);
  const Expr length = tensor::Cast(DType::kInt64, ScalarInput(context, 1));
  const tensor::Tensor half = context.builder().Map(
      "bins", {}, [&](const Exprs&) { return tensor::FloorDiv(length, Expr(2)) + Expr(1); });
  const tensor::HostTensor* known_half = context.builder().ConstantOf(half);
  const int64_t bins = known_half ? known_half->GetInt(0) : context.FindLength(half, 0, 0);
  if (mels < 1 || bins < 1 || CheckedElementCount({bins, mels}) > int64_t{1} << 26) {
    context.Refuse("needs positive numbers of bins");
  }
  const Expr rate = wide(ScalarInput(context, 2));
  const Expr low = mel(ScalarInput(context, 3)), high = mel(ScalarInput(context, 4));
  const tensor::Tensor edges = context.builder().Map("mel.edges", {mels + 2}, [&](const Exprs& s) {
    const Expr at = low + wide(s[0]) * (high - low) / wide(Expr(mels + 2));
    const Expr ratio =
        tensor::Unary(tensor::ExprOp::kExp, at * number(std::numbers::ln10 / 2595)) - number(1);
    const Expr bin = (wide(length) + number(1)) * number(700) * ratio / rate;
    return tensor::Cast(DType::kInt64, tensor::Unary(tensor::ExprOp::kFloor, bin));
  });
  if (const tensor::HostTensor* known = context.builder().ConstantOf(edges)) {
    for (int64_t i = 0; i < mels + 2; ++i) {
      const bool is_in_order = i == 0 || known->GetInt(i - 1) <= known->GetInt(i);
      if (is_in_order && known->GetInt(i) >= 0 && known->GetInt(i) < bins) continue;
      context.Refuse("the edges have to rise, to at most half the sample rate");
    }
  }
  const DType dtype = TypeAttribute(context, "output_datatype", 1);
  context.SetOutput(0, context.builder().Map("mel", {bins, mels}, [&](const Exprs& s) {
    const Expr left = edges(s[1]), centre = edges(s[1] + Expr(1)), right = edges(s[1] + Expr(2));
    const auto part = [&](const Expr& distance, const Expr& whole) {
      return wide(distance) / wide(tensor::Max(whole, Expr(1)));
    };
    const Expr rises =
        tensor::Select(tensor::Equal(left, centre), number(1), part(s[0] - left, centre - left));
    const Expr falls = part(right - s[0], right - centre);
    const Expr is_rising = !(s[0] < left) && !(centre < s[0]);
    const Expr is_falling = !(s[0] < centre) && s[0] < right;
    return tensor::Cast(
        dtype, tensor::Select(is_falling, falls, tensor::Select(is_rising, rises, number(0))));
  }));
}

}  // namespace

std::span<const Operator> SpectrumOperators() {
  static const Operator operators[] = {
      {"BlackmanWindow", BlackmanWindow},   {"DFT", Dft},
      {"HammingWindow", HammingWindow},     {"HannWindow", HannWindow},
      {"MelWeightMatrix", MelWeightMatrix}, {"STFT", Stft},
  };
  return operators;
}

}  // namespace bayloom::graph
