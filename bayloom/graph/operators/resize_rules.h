// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cmath>
#include <string>

#include "bayloom/tensor/expr.h"

namespace bayloom::graph {

// The rules by which ONNX resizes an axis, in double precision: of numbers (Number = double), and
// of what is computed when a network runs (Number = tensor::Expr of float64).

/// One axis of a resize.
template <typename Number>
struct ResizedAxis {
  Number in, out;             ///< extents
  Number scale;               ///< of the extent
  Number roi_start, roi_end;  ///< the part that is taken of it, from 0 to 1
};

template <typename Number>
Number NumberOf(double value);
template <>
inline double NumberOf<double>(double value) {
  return value;
}
template <>
inline tensor::Expr NumberOf<tensor::Expr>(double value) {
  return tensor::FloatLiteral(value, tensor::DType::kFloat64);
}

inline double FloorOf(double x) { return std::floor(x); }
inline tensor::Expr FloorOf(const tensor::Expr& x) {
  return tensor::Unary(tensor::ExprOp::kFloor, x);
}
inline double CeilOf(double x) { return std::ceil(x); }
inline tensor::Expr CeilOf(const tensor::Expr& x) {
  return tensor::Unary(tensor::ExprOp::kCeil, x);
}
inline bool AreEqual(double a, double b) { return a == b; }
inline tensor::Expr AreEqual(const tensor::Expr& a, const tensor::Expr& b) {
  return tensor::Equal(a, b);
}
inline double OneOf(bool condition, double then, double otherwise) {
  return condition ? then : otherwise;
}
inline tensor::Expr OneOf(const tensor::Expr& condition, const tensor::Expr& then,
                          const tensor::Expr& otherwise) {
  return tensor::Select(condition, then, otherwise);
}

/// The input coordinate that output coordinate x falls onto, as ONNX names the rules.
template <typename Number>
Number InputCoordinate(const ResizedAxis<Number>& axis, const std::string& rule, const Number& x) {
  const auto number = [](double value) { return NumberOf<Number>(value); };
  const Number one = number(1), half = number(0.5);
  if (rule == "asymmetric") return x / axis.scale;
  if (rule == "align_corners") {  // ONNX means the length before it is rounded down
    const Number length = axis.in * axis.scale;
    return OneOf(AreEqual(length, one), number(0), x * (axis.in - one) / (length - one));
  }
  const Number centre = (x + half) / axis.scale;
  if (rule == "pytorch_half_pixel") return OneOf(one < axis.out, centre - half, number(0));
  if (rule == "tf_half_pixel_for_nn") return centre;
  if (rule == "tf_crop_and_resize") {
    const Number last = axis.in - one;
    return OneOf(
        one < axis.out,
        axis.roi_start * last + x * (axis.roi_end - axis.roi_start) * last / (axis.out - one),
        half * (axis.roi_start + axis.roi_end) * last);
  }
  if (rule == "half_pixel_symmetric") {  // the middle stays where it is
    const Number adjustment = axis.out / (axis.in * axis.scale);
    return axis.in / number(2) * (one - adjustment) + centre - half;
  }
  return centre - half;  // half_pixel
}

/// The rule of operator set 10, which has no attribute for it.
inline constexpr char kByScale[] = "down where the axis grows, up where it shrinks";

/// The whole number that stands for a coordinate.
template <typename Number>
Number NearestTo(const std::string& rule, const Number& x, const Number& scale) {
  const Number half = NumberOf<Number>(0.5);
  if (rule == kByScale) return OneOf(scale < NumberOf<Number>(1), CeilOf(x), FloorOf(x));
  if (rule == "floor") return FloorOf(x);
  if (rule == "ceil") return CeilOf(x);
  if (rule == "round_prefer_ceil") return FloorOf(x + half);
  return CeilOf(x - half);  // round_prefer_floor
}

/// The weights of the four elements around a coordinate, of which the second one is at `base`, the
/// largest whole number that is not larger. Their sum is 1, also where those are excluded that are
/// outside of the axis.
template <typename Number>
std::array<Number, 4> CubicWeights(const Number& x, const Number& base, double coefficient,
                                   bool exclude_outside, const Number& in) {
  const auto number = [](double value) { return NumberOf<Number>(value); };
  const Number f = x - base, one = number(1), a = number(coefficient);
  const Number two_more = number(coefficient + 2), three_more = number(coefficient + 3);
  std::array<Number, 4> weights = {
      ((a * (f + one) - number(5 * coefficient)) * (f + one) + number(8 * coefficient)) *
              (f + one) -
          number(4 * coefficient),
      (two_more * f - three_more) * f * f + one,
      (two_more * (one - f) - three_more) * (one - f) * (one - f) + one,
      ((a * (number(2) - f) - number(5 * coefficient)) * (number(2) - f) +
       number(8 * coefficient)) *
              (number(2) - f) -
          number(4 * coefficient)};
  if (!exclude_outside) return weights;
  Number sum = number(0);
  for (int k = 0; k < 4; ++k) {
    const Number at = base + number(k - 1);
    Number& weight = weights[static_cast<size_t>(k)];
    weight = OneOf(at < number(0), number(0), OneOf(at < in, weight, number(0)));
    sum = sum + weight;
  }
  for (Number& weight : weights) weight = weight / sum;
  return weights;
}

}  // namespace bayloom::graph
