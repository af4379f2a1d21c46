// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/sampled_points.h"

#include <algorithm>

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

/// Mirrored at both borders until it lies between them.
Expr Reflected(const Expr& x, int64_t extent, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const double range = static_cast<double>(align_corners ? extent - 1 : extent);
  if (range == 0) return LiteralLike(0, x);
  const Expr distance = tensor::Unary(ExprOp::kAbs, x - LiteralLike(low, x));
  const Expr turns = tensor::Unary(ExprOp::kFloor, distance / LiteralLike(range, x));
  const Expr rest = distance - turns * LiteralLike(range, x);
  const Expr half = turns / LiteralLike(2, x);
  const Expr is_even = tensor::Equal(half, tensor::Unary(ExprOp::kFloor, half));
  return tensor::Select(is_even, LiteralLike(low, x) + rest, LiteralLike(low + range, x) - rest);
}

/// One of the elements that take part along an axis.
struct Tap {
  Expr index;   ///< within the axis
  Expr inside;  ///< undefined: always
  Expr weight;  ///< undefined: 1
};

Expr CubicWeight(const Expr& f, int tap) {  // Keys 1981, with a = -0.75
  const auto literal = [&](double value) { return LiteralLike(value, f); };
  const double a = -0.75;
  const bool far = tap == 0 || tap == 3;
  const Expr x = tap == 0   ? f + literal(1)
                 : tap == 1 ? f
                 : tap == 2 ? literal(1) - f
                            : literal(2) - f;
  if (!far) return ((literal(a + 2) * x - literal(a + 3)) * x) * x + literal(1);
  return ((literal(a) * x - literal(5 * a)) * x + literal(8 * a)) * x - literal(4 * a);
}

std::vector<Tap> TapsOf(const Expr& position, int64_t extent, const Sampling& sampling) {
  const int count = sampling.mode == SamplingMode::kNearest  ? 1
                    : sampling.mode == SamplingMode::kLinear ? 2
                                                             : 4;
  const Expr base = tensor::Unary(ExprOp::kFloor, position);
  const Expr f = position - base;
  std::vector<Tap> taps;
  for (int t = 0; t < count; ++t) {
    const int offset = count == 4 ? t - 1 : t;
    Expr at = base + LiteralLike(offset, base);
    if (sampling.padding == SamplingPadding::kReflection) {
      at = Reflected(at, extent, sampling.align_corners);
    }
    const Expr first = LiteralLike(0, at), last = LiteralLike(static_cast<double>(extent - 1), at);
    // Bounded before it becomes an integer: conversions of any float take longer.
    Tap tap;
    tap.index = tensor::Cast(tensor::DType::kInt64, tensor::Max(tensor::Min(at, last), first));
    if (sampling.padding == SamplingPadding::kZeros) tap.inside = first <= at && at <= last;
    if (count == 2) tap.weight = t == 0 ? LiteralLike(1, f) - f : f;
    if (count == 4) tap.weight = CubicWeight(f, t);
    taps.push_back(tap);
  }
  return taps;
}

}  // namespace

Expr Bounded(const Expr& x, double low, double high) {
  const Expr least = LiteralLike(low, x), greatest = LiteralLike(high, x);
  return tensor::Select(least < x, tensor::Select(x < greatest, x, greatest), least);
}

Expr SamplingPosition(const Expr& x, int64_t extent, const Sampling& sampling) {
  const double size = static_cast<double>(extent);
  Expr at = sampling.mode == SamplingMode::kNearest ? tensor::Unary(ExprOp::kRound, x) : x;
  // Cubic weights are those of the position itself: elements are clamped, as PyTorch has it.
  const bool clamped =
      sampling.padding == SamplingPadding::kBorder && sampling.mode != SamplingMode::kCubic;
  if (clamped) return Bounded(at, 0, size - 1);
  if (sampling.padding == SamplingPadding::kReflection) {
    at = Reflected(at, extent, sampling.align_corners);
  }
  return Bounded(at, -3, size + 2);  // beyond every element that a weight belongs to
}

Expr InterpolateAt(const tensor::Tensor& x, const Exprs& outer, const Exprs& positions,
                   const Sampling& sampling) {
  std::vector<std::vector<Tap>> axes;
  for (size_t d = 0; d < positions.size(); ++d) {
    axes.push_back(TapsOf(positions[d], x.shape()[outer.size() + d], sampling));
  }
  const tensor::DType type = positions[0]->dtype;
  const std::function<Expr(size_t, Exprs, Expr)> sum = [&](size_t d, Exprs place,
                                                           const Expr& inside) {
    if (d == axes.size()) {
      const Expr element = x.At(place);
      return inside.defined() ? tensor::Select(inside, element, LiteralLike(0, element)) : element;
    }
    Expr total;
    for (const Tap& tap : axes[d]) {
      Exprs next = place;
      next.push_back(tap.index);
      const Expr both = !tap.inside.defined() ? inside
                        : inside.defined()    ? inside && tap.inside
                                              : tap.inside;
      Expr part = sum(d + 1, next, both);
      if (tap.weight.defined()) part = tensor::Cast(type, part) * tap.weight;
      total = total.defined() ? total + part : part;
    }
    return total;
  };
  return tensor::Cast(x.dtype(), sum(0, outer, {}));
}

}  // namespace bayloom::graph
