// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Resizing images: nearest neighbour and (multi)linear interpolation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// One axis of a resize: output coordinate to input coordinate.
struct AxisMap {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;
  bool is_by_size = false;  ///< the scale is the ratio of the extents

  bool Unchanged() const { return in == out && scale == 1; }
};

struct ResizeModes {
  std::string mode, coordinates, nearest;
  bool antialias = false;  ///< filters what is made smaller
};

/// The input coordinate an output coordinate falls onto, as ONNX names the rules.
double InputCoordinate(const AxisMap& axis, const std::string& rule, int64_t place) {
  const double x = static_cast<double>(place);
  const double in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  if (rule == "asymmetric") return x / axis.scale;
  if (rule == "align_corners") {  // ONNX means the length before it is rounded down
    const double length = in * axis.scale;
    return length == 1 ? 0 : x * (in - 1) / (length - 1);
  }
  if (rule == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (rule == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (rule == "tf_crop_and_resize") {
    return out > 1 ? axis.roi_start * (in - 1) +
                         x * (axis.roi_end - axis.roi_start) * (in - 1) / (out - 1)
                   : 0.5 * (axis.roi_start + axis.roi_end) * (in - 1);
  }
  if (rule == "half_pixel_symmetric") {  // the middle stays where it is
    const double adjustment = out / (in * axis.scale);
    return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;  // half_pixel
}

/// The rule of operator set 10, which has no attribute for it.
constexpr char kByScale[] = "down where the axis grows, up where it shrinks";

int64_t Nearest(const std::string& rule, double x, double scale) {
  if (rule == kByScale) return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  if (rule == "floor") return static_cast<int64_t>(std::floor(x));
  if (rule == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (rule == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));  // round_prefer_floor
}

/// Where along an axis an output element takes its input from, and with which weights: `taps`
/// entries per output coordinate.
struct Taps {
  int taps = 1;
  std::vector<int64_t> index;
  std::vector<float> weight;
  std::vector<bool> outside;  ///< tf_crop_and_resize: beyond the image
};

void AddCubic(Taps& t, double x, double a, bool exclude_outside, int64_t in) {
  const double base = std::floor(x), f = x - base;
  double weights[4] = {((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a,
                       ((a + 2) * f - (a + 3)) * f * f + 1,
                       ((a + 2) * (1 - f) - (a + 3)) * (1 - f) * (1 - f) + 1,
                       ((a * (2 - f) - 5 * a) * (2 - f) + 8 * a) * (2 - f) - 4 * a};
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double at = base - 1 + k;
    if (exclude_outside && (at < 0 || at >= static_cast<double>(in))) weights[k] = 0;
    sum += weights[k];
  }
  for (int k = 0; k < 4; ++k) {
    t.index.push_back(static_cast<int64_t>(base) - 1 + k);
    t.weight.push_back(static_cast<float>(weights[k] / sum));
  }
}

/// The weight of an element at this distance: a triangle, or the cubic kernel of Keys.
double FilterAt(const std::string& mode, double a, double distance) {
  const double d = std::abs(distance);
  if (mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// How much wider the filter is than without antialiasing, as a factor of at most 1.
double Shrinkage(const AxisMap& axis, const ResizeModes& modes) {
  return modes.antialias ? std::min(axis.scale, 1.0) : 1;
}

/// The first element that a filter covers, relative to the one before the coordinate. It covers
/// 2 - 2 * first elements.
int64_t FirstCovered(const AxisMap& axis, const ResizeModes& modes) {
  const double radius = modes.mode == "linear" ? 1 : 2;
  return static_cast<int64_t>(std::floor(-radius / Shrinkage(axis, modes))) + 1;
}

/// The elements around x, weighted by the filter widened to the distance of output elements.
void AddFiltered(Taps& t, double x, double a, bool exclude_outside, const AxisMap& axis,
                 const ResizeModes& modes) {
  const double base = std::ceil(x) - 1, shrinkage = Shrinkage(axis, modes);
  const int64_t first = FirstCovered(axis, modes);
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = first; i < first + t.taps; ++i) {
    const double at = base + static_cast<double>(i);
    const bool excluded = exclude_outside && (at < 0 || at >= static_cast<double>(axis.in));
    weights.push_back(excluded ? 0 : FilterAt(modes.mode, a, (at - x) * shrinkage));
    sum += weights.back();
    t.index.push_back(static_cast<int64_t>(at));
  }
  for (double weight : weights) t.weight.push_back(static_cast<float>(weight / sum));
}

Taps MakeTaps(OperatorContext& context, const AxisMap& axis, const ResizeModes& modes) {
  const double a = context.Float("cubic_coeff_a", -0.75f);
  const bool exclude_outside = context.Int("exclude_outside", 0) != 0;
  Taps t;
  t.taps = modes.mode == "nearest" ? 1 : static_cast<int>(2 - 2 * FirstCovered(axis, modes));
  for (int64_t place = 0; place < axis.out; ++place) {
    const double x = axis.Unchanged() && modes.coordinates != "tf_crop_and_resize"
                         ? static_cast<double>(place)
                         : InputCoordinate(axis, modes.coordinates, place);
    if (!std::isfinite(x) || std::abs(x) > 0x1p41) context.Refuse("a coordinate out of range");
    t.outside.push_back(modes.coordinates == "tf_crop_and_resize" &&
                        (x < 0 || x > static_cast<double>(axis.in - 1)));
    if (modes.mode == "nearest") {
      t.index.push_back(Nearest(modes.nearest, x, axis.scale));
      t.weight.push_back(1);
    } else if (modes.antialias && axis.scale < 1) {
      AddFiltered(t, x, a, exclude_outside, axis, modes);
    } else if (modes.mode == "linear") {
      const double base = std::floor(x);
      t.index.insert(t.index.end(), {static_cast<int64_t>(base), static_cast<int64_t>(base) + 1});
      const double f = x - base;
      t.weight.insert(t.weight.end(), {static_cast<float>(1 - f), static_cast<float>(f)});
    } else {
      AddCubic(t, x, a, exclude_outside, axis.in);
    }
  }
  // The table of a shorter axis is the beginning of that of a longer one if its end is no part of
  // it.
  const int64_t end = context.builder().compares_lengths() ? axis.in + t.taps : axis.in - 1;
  for (int64_t& index : t.index) index = std::clamp<int64_t>(index, 0, end);
  return t;
}

/// An index from the table, within the axis.
tensor::Expr IndexWithin(OperatorContext& context, const AxisMap& axis, const tensor::Expr& index) {
  return context.builder().compares_lengths() ? tensor::Min(index, tensor::Expr(axis.in - 1))
                                              : index;
}

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

/// The same as Nearest.
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

tensor::Tensor FloatConstant(OperatorContext& context, const std::vector<float>& values,
                             tensor::DType dtype, std::vector<int64_t> shape) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return context.builder().Constant("resize.weights", std::move(tensor));
}

/// Where along an axis of `in` elements the one element for each output coordinate comes from:
/// where all are repeated equally often, by division; else from a table.
tensor::Expr NearestIndex(OperatorContext& context, const AxisMap& axis, const Taps& t,
                          const tensor::Expr& place) {
  const int64_t repeats = axis.out / axis.in;
  bool divides = axis.out % axis.in == 0;
  for (int64_t i = 0; divides && i < axis.out; ++i) {
    divides = std::min(t.index[i], axis.in - 1) == i / repeats;
  }
  if (divides) return tensor::FloorDiv(place, tensor::Expr(repeats));
  return IndexWithin(context, axis, IntConstant(context, t.index, {axis.out})(place));
}

/// The tables of nearest and linear resizing as what a network computes from the extents, which may
/// have another ratio for other lengths.
struct ComputedTaps {
  int taps = 1;
  tensor::Tensor index, weight;
};

std::optional<ComputedTaps> ComputeTaps(OperatorContext& context, const AxisMap& axis,
                                        const ResizeModes& modes, tensor::DType dtype) {
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

/// Resizes along one axis: a gather from a table, weighted if there are several taps.
tensor::Tensor ResizeAxis(OperatorContext& context, const tensor::Tensor& x, int d,
                          const AxisMap& axis, const ResizeModes& modes) {
  constexpr int64_t kMaxLengthScale = 1 << 24;
  if (axis.out > kMaxLengthScale)
    context.Refuse(fmt::format("resizing to an extent of {}", axis.out));
  std::vector<int64_t> shape = x.shape();
  shape[d] = axis.out;
  const auto computed = ComputeTaps(context, axis, modes, x.dtype());
  const Taps t = computed ? Taps() : MakeTaps(context, axis, modes);
  const int taps = computed ? computed->taps : t.taps;
  if (taps == 1) {
    return context.builder().Map("resize", shape, [&](const Exprs& s) {
      Exprs from = s;
      from[d] = computed ? computed->index(s[d]) : NearestIndex(context, axis, t, s[d]);
      return x.At(from);
    });
  }
  const tensor::Tensor index =
      computed ? computed->index : IntConstant(context, t.index, {axis.out, taps});
  const tensor::Tensor weight =
      computed ? computed->weight : FloatConstant(context, t.weight, x.dtype(), {axis.out, taps});
  constexpr int kMaxTerms = 8;  // in one expression
  if (taps > kMaxTerms) {
    return context.builder().Reduce("resize", shape, {{"tap", taps}}, tensor::Reduction::kSum,
                                    [&](const Exprs& s, const Exprs& r) {
                                      Exprs from = s;
                                      from[d] = IndexWithin(context, axis, index(s[d], r[0]));
                                      return x.At(from) * weight(s[d], r[0]);
                                    });
  }
  return context.builder().Map("resize", shape, [&](const Exprs& s) {
    tensor::Expr sum;
    for (int k = 0; k < taps; ++k) {
      Exprs from = s;
      from[d] = IndexWithin(context, axis, index(s[d], k));
      const tensor::Expr term = x.At(from) * weight(s[d], k);
      sum = sum.defined() ? sum + term : term;
    }
    return sum;
  });
}

/// Cropping beyond the image gives a constant.
tensor::Tensor FillOutside(OperatorContext& context, const tensor::Tensor& y,
                           const std::vector<AxisMap>& axes, const ResizeModes& modes) {
  const tensor::Expr fill = tensor::Literal(context.Float("extrapolation_value", 0.0f), y.dtype());
  return context.builder().Map("resize.fill", y.shape(), [&](const Exprs& s) {
    tensor::Expr inside = tensor::BoolLiteral(true);
    for (size_t d = 0; d < axes.size(); ++d) {
      const Taps t = MakeTaps(context, axes[d], modes);
      std::vector<int64_t> flags;
      bool any = false;
      for (bool outside : t.outside) {
        flags.push_back(!outside);
        any |= outside;
      }
      if (!any) continue;
      const tensor::Tensor table = IntConstant(context, flags, {axes[d].out});
      inside = inside && tensor::Equal(table(s[d]), tensor::Expr(1));
    }
    return tensor::Select(inside, y.At(s), fill);
  });
}

/// Integers are interpolated as floats and rounded once, to nearest even.
tensor::Tensor ResizeAll(OperatorContext& context, tensor::Tensor x,
                         const std::vector<AxisMap>& axes, const ResizeModes& modes) {
  const tensor::DType given = x.dtype();
  if (modes.mode != "nearest" && tensor::IsInteger(given)) {
    const bool is_short = tensor::ByteSize(given) <= 2;
    x = ConvertTo(context, is_short ? tensor::DType::kFloat32 : tensor::DType::kFloat64, x);
    return Elementwise(context, "resize.round", ResizeAll(context, x, axes, modes),
                       [&](const tensor::Expr& e) {
                         return Saturated(tensor::Unary(tensor::ExprOp::kRound, e), given);
                       });
  }
  for (size_t d = 0; d < axes.size(); ++d) {
    const bool cropped = axes[d].roi_start != 0 || axes[d].roi_end != 1;
    const bool is_there = !axes[d].Unchanged() || cropped;
    const bool is_optional = context.builder().IsOptional(static_cast<int>(d), is_there);
    if (!is_there && !is_optional) continue;
    x = ResizeAxis(context, x, static_cast<int>(d), axes[d], modes);
  }
  return modes.coordinates == "tf_crop_and_resize" ? FillOutside(context, x, axes, modes) : x;
}

/// The axes of the input that scales, sizes and regions refer to: all, or from operator set 18 on
/// those of an attribute.
std::vector<int> ResizedAxes(OperatorContext& context, const tensor::Tensor& x) {
  if (!context.HasAttribute("axes")) return AllAxes(Rank(x));
  std::vector<int> axes;
  const std::vector<int64_t> given = context.Ints("axes");
  context.CheckAxes(given, Rank(x));
  for (int64_t axis : given) axes.push_back(context.CheckAxis(axis, Rank(x)));
  return axes;
}

std::vector<AxisMap> UnchangedAxes(const tensor::Tensor& x) {
  std::vector<AxisMap> maps;
  for (int64_t extent : x.shape()) maps.push_back({extent, extent, 1});
  return maps;
}

void SetScales(OperatorContext& context, const std::vector<int>& axes,
               const std::vector<double>& scales, std::vector<AxisMap>& maps) {
  if (scales.size() != axes.size()) context.Refuse("scales needs one number per axis");
  for (size_t k = 0; k < axes.size(); ++k) {
    AxisMap& map = maps[axes[k]];
    const double region = map.roi_end - map.roi_start;
    const double extent = std::floor(static_cast<double>(map.in) * region * scales[k]);
    if (!(scales[k] > 0) || !(extent >= 1 && extent < 0x1p40)) {
      context.Refuse(fmt::format("a scale of {} for the extent {}", scales[k], map.in));
    }
    map.out = static_cast<int64_t>(extent);
    map.scale = scales[k];
  }
}

/// The sizes, or from operator set 18 on the largest that keep the ratio and fit into them
/// (not_larger), or the smallest that they fit into (not_smaller).
void SetSizes(OperatorContext& context, const std::vector<int>& axes,
              const std::vector<int64_t>& sizes, std::vector<AxisMap>& maps) {
  if (sizes.size() != axes.size()) context.Refuse("sizes needs one number per axis");
  const std::string policy = context.String("keep_aspect_ratio_policy", "stretch");
  std::vector<double> scales;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t in = maps[axes[k]].in;
    if (sizes[k] < 1 || in < 1)
      context.Refuse(fmt::format("resizing to an extent of {}", sizes[k]));
    scales.push_back(static_cast<double>(sizes[k]) / static_cast<double>(in));
  }
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    context.RefuseAttribute("keep_aspect_ratio_policy", policy,
                            "has to be stretch, not_larger or not_smaller");
  }
  if (scales.empty()) return;
  const auto [least, largest] = std::minmax_element(scales.begin(), scales.end());
  const double common = policy == "not_larger" ? *least : *largest;
  for (size_t k = 0; k < axes.size(); ++k) {
    AxisMap& map = maps[axes[k]];
    map.scale = policy == "stretch" ? scales[k] : common;
    map.is_by_size = policy == "stretch";
    const double extent = std::floor(map.scale * static_cast<double>(map.in) + 0.5);
    if (extent < 1 || extent >= 0x1p40) context.Refuse("resizing to an extent out of range");
    map.out = static_cast<int64_t>(extent);
  }
}

bool IsEmpty(OperatorContext& context, int input) {
  return !context.HasInput(input) || CheckedElementCount(context.Input(input).shape()) == 0;
}

void SetRegion(OperatorContext& context, const std::vector<int>& axes, std::vector<AxisMap>& maps) {
  const std::vector<double> roi = context.NumbersInput(1);
  if (roi.size() != 2 * axes.size()) context.Refuse("roi needs two numbers per axis");
  for (size_t k = 0; k < axes.size(); ++k) {
    maps[axes[k]].roi_start = roi[k];
    maps[axes[k]].roi_end = roi[k + axes.size()];
  }
}

/// Operator set 10: scales only.
void ResizeByScales(OperatorContext& context, const std::string& mode,
                    const std::vector<double>& scales) {
  const tensor::Tensor x = context.Input(0);
  std::vector<AxisMap> maps = UnchangedAxes(x);
  SetScales(context, AllAxes(Rank(x)), scales, maps);
  context.SetOutput(0, ResizeAll(context, x, maps, {mode, "asymmetric", kByScale}));
}

void Resize(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const ResizeModes modes{context.String("mode", "nearest"),
                          context.String("coordinate_transformation_mode", "half_pixel"),
                          context.String("nearest_mode", "round_prefer_floor"),
                          context.Int("antialias", 0) != 0};
  if (modes.mode != "nearest" && modes.mode != "linear" && modes.mode != "cubic") {
    context.RefuseAttribute("mode", modes.mode, "has to be nearest, linear or cubic");
  }
  if (context.opset() < 11) return ResizeByScales(context, modes.mode, context.NumbersInput(1));
  const std::vector<int> axes = ResizedAxes(context, x);
  std::vector<AxisMap> maps = UnchangedAxes(x);
  if (modes.coordinates == "tf_crop_and_resize") SetRegion(context, axes, maps);
  if (IsEmpty(context, 3)) {
    SetScales(context, axes, context.NumbersInput(2), maps);
  } else {
    const bool stretches = context.String("keep_aspect_ratio_policy", "stretch") == "stretch";
    const std::vector<int64_t> sizes =
        stretches ? context.LengthsInput(3, axes) : context.IntsInput(3);
    SetSizes(context, axes, sizes, maps);
  }
  context.SetOutput(0, ResizeAll(context, x, maps, modes));
}

/// The scales are an attribute before operator set 9.
void Upsample(OperatorContext& context) {
  const std::string mode = context.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear") {
    context.RefuseAttribute("mode", mode, "has to be nearest or linear");
  }
  std::vector<double> scales;
  if (context.opset() < 9) {
    for (float scale : context.Floats("scales")) scales.push_back(scale);
  } else {
    scales = context.NumbersInput(1);
  }
  ResizeByScales(context, mode, scales);
}

}  // namespace

std::span<const Operator> ResizeOperators() {
  static const Operator operators[] = {
      {"Resize", Resize},
      {"Upsample", Upsample},
  };
  return operators;
}

}  // namespace bayloom::graph
