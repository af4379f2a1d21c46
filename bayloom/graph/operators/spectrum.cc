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

using tensor::Expr;

constexpr double kTurn = 2 * std::numbers::pi;

/// What a transform of `length` points does.
struct Transform {
  int64_t length = 0;
  bool inverse = false;
  bool onesided = false;  ///< only the first half of the frequencies is given or computed

  int64_t Half() const { return length / 2 + 1; }
  int64_t inputs() const { return inverse && onesided ? Half() : length; }
  int64_t outputs() const { return !inverse && onesided ? Half() : length; }
  /// Real signals have one part.
  int64_t output_parts() const { return inverse && onesided ? 1 : 2; }
};

/// The transform as a matrix [inputs, parts, outputs, output parts], of which the first `inputs`
/// rows are needed. `parts` 1: the input is real.
tensor::Tensor TransformMatrix(OperatorContext& context, const Transform& t, int64_t inputs,
                               int64_t parts, tensor::DType dtype) {
  const std::vector<int64_t> shape = {inputs, parts, t.outputs(), t.output_parts()};
  if (CheckedElementCount(shape) > int64_t{1} << 26) {
    context.Refuse(fmt::format("a transform of {} points is too long", t.length));
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
  if (context.HasInput(1)) t.length = context.IntInput(1);
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
  const int64_t step = context.IntInput(1);
  int64_t length = x.shape()[1];
  if (context.HasInput(2)) length = CheckedElementCount(context.Input(2).shape());
  if (context.HasInput(3)) length = context.IntInput(3);
  const Transform t = CheckTransform(context, {length, false, context.Int("onesided", 1) != 0});
  if (step < 1 || length > x.shape()[1]) {
    context.Refuse(
        fmt::format("frames of {} in steps of {} over {} points", length, step, x.shape()[1]));
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
  const int64_t frames = (x.shape()[1] - length) / step + 1;
  context.SetOutput(0, context.builder().Reduce(
                           "stft", {x.shape()[0], frames, t.outputs(), 2},
                           {{"n", length}, {"part", parts}}, tensor::Reduction::kSum,
                           [&](const Exprs& s, const Exprs& r) {
                             return x(s[0], s[1] * Expr(step) + r[0], r[1]) *
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
  const double period = static_cast<double>(context.Int("periodic", 1) != 0 ? size : size - 1);
  tensor::HostTensor window =
      tensor::HostTensor::Zeros(TypeAttribute(context, "output_datatype", 1), {size});
  for (int64_t n = 0; n < size; ++n) {
    double value = 0, sign = 1;
    for (size_t j = 0; j < coefficients.size(); ++j, sign = -sign) {
      const double turns = period == 0 ? 0 : static_cast<double>(n) / period;
      value += sign * coefficients[j] * std::cos(kTurn * static_cast<double>(j) * turns);
    }
    window.Set(n, value);
  }
  context.SetOutput(0, context.builder().Constant(context.label(), std::move(window)));
}

void HannWindow(OperatorContext& context) { CosineWindow(context, {0.5, 0.5}); }
void HammingWindow(OperatorContext& context) { CosineWindow(context, {25.0 / 46, 21.0 / 46}); }
void BlackmanWindow(OperatorContext& context) { CosineWindow(context, {0.42, 0.5, 0.08}); }

/// Triangles over the bins of a spectrum, at equal distances on the mel scale.
void MelWeightMatrix(OperatorContext& context) {
  const int64_t mels = context.IntInput(0), length = context.IntInput(1);
  const double rate = context.NumberInput(2);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(context.NumberInput(3)), high = mel(context.NumberInput(4));
  const int64_t bins = length / 2 + 1;
  if (mels < 1 || length < 1 || !(rate > 0) || !(low <= high) ||
      CheckedElementCount({bins, mels}) > int64_t{1} << 26) {
    context.Refuse("needs positive numbers of bins, and edges in order");
  }
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(mels + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double bin = std::floor((static_cast<double>(length) + 1) * hertz / rate);
    if (!(bin >= 0 && bin < static_cast<double>(bins))) {
      context.Refuse("an edge is beyond half the sample rate");
    }
    edges.push_back(static_cast<int64_t>(bin));
  }
  tensor::HostTensor weights =
      tensor::HostTensor::Zeros(TypeAttribute(context, "output_datatype", 1), {bins, mels});
  for (int64_t i = 0; i < mels; ++i) {
    const int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    const auto set = [&](int64_t bin, int64_t part, int64_t whole) {
      weights.Set(bin * mels + i, static_cast<double>(part) / static_cast<double>(whole));
    };
    if (left == centre) set(centre, 1, 1);
    for (int64_t j = left; left < centre && j <= centre; ++j) set(j, j - left, centre - left);
    for (int64_t j = centre; j < right; ++j) set(j, right - j, right - centre);
  }
  context.SetOutput(0, context.builder().Constant("mel", std::move(weights)));
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
