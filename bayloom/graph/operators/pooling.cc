// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Pools: the extreme, mean or norm of windows, or of whole images.
#include <fmt/format.h>

#include <limits>

#include "bayloom/graph/operators/integer_operators.h"
#include "bayloom/graph/operators/integer_products.h"
#include "bayloom/graph/operators/scaled_sum.h"
#include "bayloom/graph/operators/windows.h"

namespace bayloom::graph {
namespace {

Exprs Spatial(const Exprs& place) { return Exprs(place.begin() + 2, place.end()); }

Exprs ImageIndex(const Exprs& place, const Exprs& positions) {
  Exprs index = {place[0], place[1]};
  index.insert(index.end(), positions.begin(), positions.end());
  return index;
}

std::vector<int64_t> PooledShape(const tensor::Tensor& x, const Windows& w) {
  std::vector<int64_t> shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), w.counts.begin(), w.counts.end());
  return shape;
}

Windows PoolWindows(OperatorContext& context, const tensor::Tensor& x) {
  return ReadWindows(context, x.shape(), context.Ints("kernel_shape"));
}

tensor::Tensor PoolImage(OperatorContext& context, const std::string& op,
                         const tensor::Tensor& image, const tensor::Tensor& x, const Windows& w,
                         tensor::Reduction reduction,
                         const std::function<tensor::Expr(const tensor::Expr&)>& term) {
  return context.builder().Reduce(
      op, PooledShape(x, w), WindowAxes(w), reduction,
      [&](const Exprs& s, const Exprs& r) {
        return term(image.At(ImageIndex(s, WindowPositions(w, Spatial(s), r))));
      },
      NodeKind::kWindow);
}

/// The first place, row-major in the whole input, of each maximum.
tensor::Tensor PlacesOfMaxima(OperatorContext& context, const tensor::Tensor& x,
                              const tensor::Tensor& image, const tensor::Tensor& maxima,
                              const Windows& w) {
  const tensor::Expr nowhere = std::numeric_limits<int64_t>::max();
  return context.builder().Reduce(
      "maxpool.index", PooledShape(x, w), WindowAxes(w), tensor::Reduction::kMin,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs positions = WindowPositions(w, Spatial(s), r);
        tensor::Expr inside = tensor::BoolLiteral(true);
        tensor::Expr number = s[0] * tensor::Expr(x.shape()[1]) + s[1];
        for (int d = 0; d < w.rank(); ++d) {
          const tensor::Expr at = positions[d] - tensor::Expr(w.pads_low[d]);
          inside = inside && tensor::Expr(0) <= at && at < tensor::Expr(x.shape()[d + 2]);
          number = number * tensor::Expr(x.shape()[d + 2]) + at;
        }
        const tensor::Expr element = image.At(ImageIndex(s, positions));
        return tensor::Select(inside && tensor::Equal(element, maxima.At(s)), number, nowhere);
      },
      NodeKind::kWindow);
}

/// Places that are row-major over the image as those that are column-major.
tensor::Tensor ColumnMajor(OperatorContext& context, const tensor::Tensor& places,
                           const std::vector<int64_t>& shape) {
  return Elementwise(context, "maxpool.column", places, [&](const tensor::Expr& place) {
    Exprs coordinates;  // from the last axis to the first
    tensor::Expr rest = place;
    for (size_t d = shape.size() - 1; d >= 2; --d) {
      coordinates.push_back(tensor::FloorMod(rest, tensor::Expr(shape[d])));
      rest = tensor::FloorDiv(rest, tensor::Expr(shape[d]));
    }
    for (size_t k = 0; k < coordinates.size(); ++k) {
      rest = rest * tensor::Expr(shape[shape.size() - 1 - k]) + coordinates[k];
    }
    return rest;
  });
}

/// The windows along one axis only, over an input of that shape.
Windows AlongAxis(const Windows& w, int d, const std::vector<int64_t>& shape) {
  Windows one;
  for (int k = 0; k < w.rank(); ++k) {
    one.kernel.push_back(k == d ? w.kernel[k] : 1);
    one.strides.push_back(k == d ? w.strides[k] : 1);
    one.dilations.push_back(k == d ? w.dilations[k] : 1);
    one.pads_low.push_back(k == d ? w.pads_low[k] : 0);
    one.pads_high.push_back(k == d ? w.pads_high[k] : 0);
    one.counts.push_back(k == d ? w.counts[k] : shape[k + 2]);
  }
  return one;
}

/// Whether extremes of windows are clearly cheaper along one axis after the other, the last first:
/// with as many steps as the window is wide, and not as it has elements.
bool PaysByAxes(const std::vector<int64_t>& shape, const Windows& w) {
  constexpr double kPass = 2;  // through memory
  constexpr double kClearly = 0.7;
  double by_axes = 0, elements = 1, direct = 1;
  for (int d = w.rank() - 1; d >= 0; --d) {
    elements *= static_cast<double>(w.counts[d]);
    direct *= static_cast<double>(w.kernel[d]);
    double before = 1;  // along the axes that follow
    for (int k = 0; k < d; ++k) before *= static_cast<double>(shape[k + 2]);
    by_axes += elements * before * (static_cast<double>(w.kernel[d]) + kPass);
  }
  return by_axes < kClearly * elements * direct;
}

tensor::Tensor MaximaByAxes(OperatorContext& context, tensor::Tensor x, const Windows& w,
                            const tensor::Expr& fill) {
  for (int d = w.rank() - 1; d >= 0; --d) {
    const Windows one = AlongAxis(w, d, x.shape());
    const tensor::Tensor image = PadForWindows(context, x, one, fill);
    x = PoolImage(context, "maxpool", image, x, one, tensor::Reduction::kMax,
                  [](const tensor::Expr& e) { return e; });
  }
  return x;
}

void MaxPool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const Windows w = PoolWindows(context, x);
  const tensor::Expr fill = tensor::NeutralElement(tensor::Reduction::kMax, x.dtype());
  if (!context.WantsOutput(1) && PaysByAxes(x.shape(), w)) {
    return context.SetOutput(0, MaximaByAxes(context, x, w, fill));
  }
  const tensor::Tensor image = PadForWindows(context, x, w, fill);
  const tensor::Tensor maxima = PoolImage(context, "maxpool", image, x, w, tensor::Reduction::kMax,
                                          [](const tensor::Expr& e) { return e; });
  context.SetOutput(0, maxima);
  if (context.WantsOutput(1)) {
    const tensor::Tensor places = PlacesOfMaxima(context, x, image, maxima, w);
    const bool column_major = context.Int("storage_order", 0) != 0;
    context.SetOutput(1, column_major ? ColumnMajor(context, places, x.shape()) : places);
  }
}

tensor::Expr CeilDiv(const tensor::Expr& a, const tensor::Expr& b) {
  return tensor::FloorDiv(a + b - tensor::Expr(1), b);
}

/// How many elements of each window count: those inside the image, or inside image and padding.
tensor::Expr CountAt(const tensor::Tensor& x, const Windows& w, bool with_padding,
                     const Exprs& place) {
  tensor::Expr count = 1;
  for (int d = 0; d < w.rank(); ++d) {
    const int64_t before = with_padding ? w.pads_low[d] : 0;
    const int64_t after = with_padding ? w.pads_high[d] : 0;
    const int64_t overhang = (w.counts[d] - 1) * w.strides[d] + w.Reach(d) - w.pads_low[d];
    if (w.pads_low[d] <= before && overhang <= x.shape()[d + 2] + after) {
      count = count * tensor::Expr(w.kernel[d]);
      continue;
    }
    const tensor::Expr start =
        place[d + 2] * tensor::Expr(w.strides[d]) - tensor::Expr(w.pads_low[d]);
    // Element k of the window, at start + k * dilation, counts from `first` to before `last`.
    const tensor::Expr dilation = w.dilations[d];
    const tensor::Expr room = tensor::Expr(x.shape()[d + 2] + after) - start;
    const tensor::Expr first = CeilDiv(tensor::Expr(-before) - start, dilation);
    const tensor::Expr last = tensor::Min(CeilDiv(room, dilation), tensor::Expr(w.kernel[d]));
    count = count * (last - tensor::Max(first, tensor::Expr(0)));
  }
  return count;
}

void AveragePool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const Windows w = PoolWindows(context, x);
  const bool with_padding = context.Int("count_include_pad", 0) != 0;
  const tensor::Tensor image = PadForWindows(context, x, w, tensor::Literal(0, x.dtype()));
  const tensor::Tensor sums =
      PoolImage(context, "averagepool.sum", image, x, w, tensor::Reduction::kSum,
                [](const tensor::Expr& e) { return e; });
  context.SetOutput(0, context.builder().Map("averagepool", sums.shape(), [&](const Exprs& s) {
    return sums.At(s) / tensor::Cast(x.dtype(), CountAt(x, w, with_padding, s));
  }));
}

tensor::Expr Power(const tensor::Expr& x, double p) {
  const tensor::Expr magnitude = tensor::Unary(tensor::ExprOp::kAbs, x);
  if (p == 1) return magnitude;
  return p == 2 ? x * x : tensor::Binary(tensor::ExprOp::kPow, magnitude, LiteralLike(p, x));
}
tensor::Expr Root(const tensor::Expr& sum, double p) {
  if (p == 1) return sum;
  return p == 2 ? tensor::Unary(tensor::ExprOp::kSqrt, sum)
                : tensor::Binary(tensor::ExprOp::kPow, sum, LiteralLike(1 / p, sum));
}

void LpPool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const Windows w = PoolWindows(context, x);
  const double p = static_cast<double>(context.Int("p", 2));
  const tensor::Tensor image = PadForWindows(context, x, w, tensor::Literal(0, x.dtype()));
  const tensor::Tensor sums = PoolImage(context, "lppool.sum", image, x, w, tensor::Reduction::kSum,
                                        [&](const tensor::Expr& e) { return Power(e, p); });
  context.SetOutput(0, Elementwise(context, "lppool", sums,
                                   [&](const tensor::Expr& sum) { return Root(sum, p); }));
}

/// Reduces everything but batch and channels, keeping the axes.
void GlobalPool(OperatorContext& context, tensor::Reduction reduction,
                const std::function<tensor::Expr(const tensor::Expr&)>& term,
                const std::function<tensor::Expr(const tensor::Expr&, double)>& finish) {
  const tensor::Tensor x = context.Input(0);
  const int rank = static_cast<int>(x.shape().size());
  if (rank < 3) context.Refuse("the input needs 3 dimensions at least");
  std::vector<int> axes = AllAxes(rank);
  axes.erase(axes.begin(), axes.begin() + 2);
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(x.shape()[axis]);
  tensor::Tensor result = ReduceAxes(context, context.label(), x, axes, reduction, term);
  if (finish) {
    result = Elementwise(context, context.label() + ".finish", result,
                         [&](const tensor::Expr& e) { return finish(e, count); });
  }
  context.SetOutput(0, context.builder().View(result, ReducedShape(x.shape(), axes, true)));
}

void GlobalAveragePool(OperatorContext& context) {
  GlobalPool(
      context, tensor::Reduction::kSum, [](const tensor::Expr& e) { return e; },
      [](const tensor::Expr& sum, double count) { return sum / LiteralLike(count, sum); });
}

void GlobalMaxPool(OperatorContext& context) {
  GlobalPool(
      context, tensor::Reduction::kMax, [](const tensor::Expr& e) { return e; }, nullptr);
}

void GlobalLpPool(OperatorContext& context) {
  const double p = static_cast<double>(context.Int("p", 2));
  GlobalPool(
      context, tensor::Reduction::kSum, [&](const tensor::Expr& e) { return Power(e, p); },
      [&](const tensor::Expr& sum, double) { return Root(sum, p); });
}

/// Whether a sum of so many bytes fits 32 bits.
bool FitsSumOfBytes(int64_t bytes) {
  return bytes <= std::numeric_limits<int32_t>::max() / int64_t{255};
}

/// Sets the mean of `count` elements, of which `sums` has sums of so many with zero points.
void SetMean(OperatorContext& context, const ScaledTerm& x, const tensor::Tensor& sums,
             int64_t summed, int64_t count) {
  tensor::Tensor centred = sums;
  if (x.zero) {
    centred = AddSummands(context, sums, {{-summed, {context.builder().View(*x.zero, {})}}});
  }
  const tensor::Tensor scale =
      MapConstant(context, x.scale, [&](double one) { return one / static_cast<double>(count); });
  context.SetOutput(
      0, WriteFloats(context, context.label(),
                     {.shape = sums.shape(), .terms = {{.integers = centred, .scale = scale}}}));
}

}  // namespace

/// Padding has the level that stands for 0. Windows that differ in how many elements count are left
/// to floats.
bool AveragePoolOnIntegers(OperatorContext& context) {
  const std::optional<ScaledTerm> x = BytesInput(context, 0);
  if (!x || !x->IsUniform()) return false;
  const tensor::Tensor& levels = x->integers;
  const Windows w = PoolWindows(context, levels);
  Exprs place;
  for (int d = 0; d < Rank(levels); ++d) place.push_back(tensor::IterVar(d));
  const tensor::Expr count = CountAt(levels, w, context.Int("count_include_pad", 0) != 0, place);
  const int64_t summed = CheckedElementCount(w.kernel);
  if (count->op != tensor::ExprOp::kInt || !FitsSumOfBytes(summed)) return false;
  tensor::Expr fill = tensor::Literal(0, levels.dtype());
  if (x->zero) fill = KnownScalar(context, *x->zero);
  const tensor::Tensor image = PadForWindows(context, levels, w, fill);
  const tensor::Tensor sums =
      PoolImage(context, "averagepool.sum", image, levels, w, tensor::Reduction::kSum, AsInt32);
  SetMean(context, *x, sums, summed, count->int_value);
  return true;
}

bool GlobalAveragePoolOnIntegers(OperatorContext& context) {
  const std::optional<ScaledTerm> x = BytesInput(context, 0);
  if (!x || !x->IsUniform() || Rank(x->integers) < 3) return false;
  const std::vector<int64_t>& shape = x->integers.shape();
  std::vector<int> axes = AllAxes(Rank(x->integers));
  axes.erase(axes.begin(), axes.begin() + 2);
  const int64_t count = CheckedElementCount({shape.begin() + 2, shape.end()});
  if (count == 0 || !FitsSumOfBytes(count)) return false;
  const tensor::Tensor sums =
      ReduceAxes(context, context.label(), x->integers, axes, tensor::Reduction::kSum, AsInt32);
  SetMean(context, *x, context.builder().View(sums, ReducedShape(shape, axes, true)), count, count);
  return true;
}

std::span<const Operator> PoolingOperators() {
  static const Operator operators[] = {
      {"AveragePool", AveragePool},
      {"GlobalAveragePool", GlobalAveragePool},
      {"GlobalLpPool", GlobalLpPool},
      {"GlobalMaxPool", GlobalMaxPool},
      {"LpPool", LpPool},
      {"MaxPool", MaxPool},
  };
  return operators;
}

}  // namespace bayloom::graph
