// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/resize_computed.h"

namespace bayloom::graph {
namespace {

/// An output element's coordinate, numerator / denominator, where it is a fraction of integers.
struct Fraction {
  tensor::Expr numerator;
  int64_t denominator;
};

std::optional<Fraction> InputFraction(const AxisMap& axis, const std::string& rule,
                                      const tensor::Expr& place) {
  const tensor::Expr in(axis.in), out(axis.out);
  if (rule == "asymmetric") return Fraction{place * in, axis.out};
  if (rule == "align_corners") return Fraction{place * (axis.in - 1), axis.out - 1};
  if (rule == "half_pixel" || rule == "pytorch_half_pixel" || rule == "half_pixel_symmetric") {
    return Fraction{(place * 2 + 1) * in - out, 2 * axis.out};
  }
  return std::nullopt;
}

/// The same as NearestTo.
std::optional<tensor::Expr> NearestOf(const std::string& rule, const Fraction& x) {
  const auto ceil_of = [](const tensor::Expr& n, int64_t d) {
    return -tensor::FloorDiv(-n, tensor::Expr(d));
  };
  const int64_t d = x.denominator;
  if (rule == "floor") return tensor::FloorDiv(x.numerator, tensor::Expr(d));
  if (rule == "ceil") return ceil_of(x.numerator, d);
  if (rule == "round_prefer_floor") return ceil_of(x.numerator * 2 - d, 2 * d);
  if (rule == "round_prefer_ceil") {
    return tensor::FloorDiv(x.numerator * 2 + d, tensor::Expr(2 * d));
  }
  return std::nullopt;
}

/// The tables of an axis whose scale or region is known when the network runs.
ComputedTaps FoundTaps(OperatorContext& context, const AxisMap& axis, const ResizeModes& modes,
                       tensor::DType dtype) {
  const double a = context.Float("cubic_coeff_a", -0.75f);
  const bool exclude_outside = context.Int("exclude_outside", 0) != 0;
  const ResizedAxis<tensor::Expr> numbers = axis.Expressions();
  // Beyond a few elements around the axis all coordinates are alike.
  const auto at = [&](const tensor::Expr& place) {
    const tensor::Expr few = NumberOf<tensor::Expr>(4);
    return tensor::Max(tensor::Min(FoundCoordinate(axis, modes, place), numbers.in + few), -few);
  };
  const auto index_of = [&](const tensor::Expr& number, const tensor::Expr& tap) {
    return ClampedIndex(tensor::Cast(tensor::DType::kInt64, number) + tap, axis.in);
  };
  GraphBuilder& builder = context.builder();
  ComputedTaps taps;
  if (modes.mode == "nearest") {
    taps.index = builder.Map("resize.index", {axis.out}, [&](const Exprs& s) {
      return index_of(NearestTo(modes.nearest, at(s[0]), numbers.scale), 0);
    });
    return taps;
  }
  const bool is_linear = modes.mode == "linear";
  taps.taps = is_linear ? 2 : 4;
  taps.index = builder.Map("resize.index", {axis.out, taps.taps}, [&](const Exprs& s) {
    return index_of(FloorOf(at(s[0])), s[1] - tensor::Expr(is_linear ? 0 : 1));
  });
  taps.weight = builder.Map("resize.weights", {axis.out, taps.taps}, [&](const Exprs& s) {
    const tensor::Expr x = at(s[0]), base = FloorOf(x);
    Exprs weights = {NumberOf<tensor::Expr>(1) - (x - base), x - base};
    if (!is_linear) {
      const auto cubic = CubicWeights(x, base, a, exclude_outside, numbers.in);
      weights.assign(cubic.begin(), cubic.end());
    }
    tensor::Expr own = weights.back();
    for (size_t k = weights.size() - 1; k-- > 0;) {
      own = tensor::Select(tensor::Equal(s[1], tensor::Expr(static_cast<int64_t>(k))), weights[k],
                           own);
    }
    return tensor::Cast(dtype, own);
  });
  return taps;
}

}  // namespace

tensor::Expr FoundCoordinate(const AxisMap& axis, const ResizeModes& modes,
                             const tensor::Expr& place) {
  const ResizedAxis<tensor::Expr> numbers = axis.Expressions();
  const tensor::Expr x = tensor::Cast(tensor::DType::kFloat64, place);
  const tensor::Expr coordinate = InputCoordinate(numbers, modes.coordinates, x);
  if (modes.coordinates == "tf_crop_and_resize") return coordinate;
  const tensor::Expr is_same = tensor::Equal(numbers.in, numbers.out) &&
                               tensor::Equal(numbers.scale, NumberOf<tensor::Expr>(1));
  return tensor::Select(is_same, x, coordinate);
}

std::optional<ComputedTaps> ComputeTaps(OperatorContext& context, const AxisMap& axis,
                                        const ResizeModes& modes, tensor::DType dtype) {
  if (axis.IsFound()) return FoundTaps(context, axis, modes, dtype);
  GraphBuilder& builder = context.builder();
  const bool is_linear = modes.mode == "linear" && !modes.antialias;
  const auto fraction = InputFraction(axis, modes.coordinates, tensor::IterVar(0));
  const bool is_possible = builder.compares_ratios() && axis.is_by_size && fraction &&
                           fraction->denominator > 0 && (is_linear || modes.mode == "nearest");
  if (!is_possible) return std::nullopt;
  const auto at = [&](const tensor::Expr& place) {
    return *InputFraction(axis, modes.coordinates, place);
  };
  if (!is_linear && !NearestOf(modes.nearest, *fraction)) return std::nullopt;
  const auto within = [&](const tensor::Expr& index) {
    return tensor::Max(tensor::Min(index, tensor::Expr(axis.in - 1)), tensor::Expr(0));
  };
  ComputedTaps taps;
  if (!is_linear) {
    taps.index = builder.Map("resize.index", {axis.out}, [&](const Exprs& s) {
      return within(*NearestOf(modes.nearest, at(s[0])));
    });
    return taps;
  }
  taps.taps = 2;
  taps.index = builder.Map("resize.index", {axis.out, 2}, [&](const Exprs& s) {
    const Fraction x = at(s[0]);
    return within(tensor::FloorDiv(x.numerator, tensor::Expr(x.denominator)) + s[1]);
  });
  taps.weight = builder.Map("resize.weights", {axis.out, 2}, [&](const Exprs& s) {
    const Fraction x = at(s[0]);
    const tensor::Expr rest = tensor::FloorMod(x.numerator, tensor::Expr(x.denominator));
    const tensor::Expr second =
        tensor::Cast(dtype, rest) / tensor::Cast(dtype, tensor::Expr(x.denominator));
    return tensor::Select(tensor::Equal(s[1], tensor::Expr(0)), tensor::Literal(1, dtype) - second,
                          second);
  });
  return taps;
}

}  // namespace bayloom::graph
