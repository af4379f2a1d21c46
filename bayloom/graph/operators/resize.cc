// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Resizing images: nearest neighbour and (multi)linear interpolation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/resize_computed.h"

namespace bayloom::graph {
namespace {

/// Where along an axis an output element takes its input from, and with which weights: `taps`
/// entries per output coordinate.
struct Taps {
  int taps = 1;
  std::vector<int64_t> index;
  std::vector<float> weight;
  std::vector<bool> outside;  ///< tf_crop_and_resize: beyond the image
};

void AddCubic(Taps& t, double x, double a, bool exclude_outside, double in) {
  const double base = std::floor(x);
  const std::array<double, 4> weights = CubicWeights(x, base, a, exclude_outside, in);
  for (int k = 0; k < 4; ++k) {
    t.index.push_back(static_cast<int64_t>(base) - 1 + k);
    t.weight.push_back(static_cast<float>(weights[static_cast<size_t>(k)]));
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
    const auto output = static_cast<double>(place);
    const double x = axis.Unchanged() && modes.coordinates != "tf_crop_and_resize"
                         ? output
                         : InputCoordinate(axis.Numbers(), modes.coordinates, output);
    if (!std::isfinite(x) || std::abs(x) > 0x1p41) context.Refuse("a coordinate out of range");
    t.outside.push_back(modes.coordinates == "tf_crop_and_resize" &&
                        (x < 0 || x > static_cast<double>(axis.in - 1)));
    if (modes.mode == "nearest") {
      t.index.push_back(static_cast<int64_t>(NearestTo(modes.nearest, x, axis.scale)));
      t.weight.push_back(1);
    } else if (modes.antialias && axis.scale < 1) {
      AddFiltered(t, x, a, exclude_outside, axis, modes);
    } else if (modes.mode == "linear") {
      const double base = std::floor(x);
      t.index.insert(t.index.end(), {static_cast<int64_t>(base), static_cast<int64_t>(base) + 1});
      const double f = x - base;
      t.weight.insert(t.weight.end(), {static_cast<float>(1 - f), static_cast<float>(f)});
    } else {
      AddCubic(t, x, a, exclude_outside, static_cast<double>(axis.in));
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
      if (axes[d].IsFound()) {
        const tensor::Expr x = FoundCoordinate(axes[d], modes, s[d]);
        const tensor::Expr last = axes[d].Expressions().in - NumberOf<tensor::Expr>(1);
        inside = inside && !(x < NumberOf<tensor::Expr>(0)) && !(last < x);
        continue;
      }
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
    const bool cropped = axes[d].roi_start != 0 || axes[d].roi_end != 1 || axes[d].IsFound();
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

/// The elements of a list of numbers in float64; each that is known a literal.
Exprs FoundNumbers(OperatorContext& context, int input, size_t count) {
  const tensor::Tensor list = context.Input(input);
  if (list.shape() != std::vector<int64_t>{static_cast<int64_t>(count)}) {
    context.Refuse(fmt::format("input {} has to be a list of {} numbers", input, count));
  }
  Exprs numbers;
  for (int64_t i = 0; i < list.shape()[0]; ++i) {
    const tensor::Expr number = context.builder().ElementOf(list, {i});
    numbers.push_back(number->op == tensor::ExprOp::kFloat
                          ? NumberOf<tensor::Expr>(number->float_value)
                          : tensor::Cast(tensor::DType::kFloat64, number));
  }
  return numbers;
}

/// The scales of an input, of which those that are known when the network runs find extents.
void SetScalesInput(OperatorContext& context, const std::vector<int>& axes, int input,
                    bool antialias, std::vector<AxisMap>& maps) {
  if (context.ConstantInput(input) || antialias) {
    return SetScales(context, axes, context.NumbersInput(input), maps);
  }
  const Exprs scales = FoundNumbers(context, input, axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    if (scales[k]->op == tensor::ExprOp::kFloat) {
      SetScales(context, {axes[k]}, {scales[k]->float_value}, maps);
      continue;
    }
    AxisMap& map = maps[axes[k]];
    map.found_scale = scales[k];
    const ResizedAxis<tensor::Expr> numbers = map.Expressions();
    const tensor::Tensor count = context.builder().Map("resize.length", {}, [&](const Exprs&) {
      const tensor::Expr region = numbers.roi_end - numbers.roi_start;
      return tensor::Max(
          tensor::Cast(tensor::DType::kInt64, FloorOf(numbers.in * region * numbers.scale)),
          tensor::Expr(0));
    });
    map.out = context.FindLength(count, 0, axes[k]);
  }
}

void SetRegion(OperatorContext& context, const std::vector<int>& axes, std::vector<AxisMap>& maps) {
  if (!context.ConstantInput(1)) {
    const Exprs roi = FoundNumbers(context, 1, 2 * axes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      maps[axes[k]].found_start = roi[k];
      maps[axes[k]].found_end = roi[k + axes.size()];
    }
    return;
  }
  const std::vector<double> roi = context.NumbersInput(1);
  if (roi.size() != 2 * axes.size()) context.Refuse("roi needs two numbers per axis");
  for (size_t k = 0; k < axes.size(); ++k) {
    maps[axes[k]].roi_start = roi[k];
    maps[axes[k]].roi_end = roi[k + axes.size()];
  }
}

/// Operator set 10: scales only, of an input, or of an attribute before operator set 9.
void ResizeByScales(OperatorContext& context, const std::string& mode) {
  const tensor::Tensor x = context.Input(0);
  std::vector<AxisMap> maps = UnchangedAxes(x);
  if (context.opset() < 9) {
    const std::vector<float> scales = context.Floats("scales");
    SetScales(context, AllAxes(Rank(x)), {scales.begin(), scales.end()}, maps);
  } else {
    SetScalesInput(context, AllAxes(Rank(x)), 1, /*antialias=*/false, maps);
  }
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
  if (context.opset() < 11) return ResizeByScales(context, modes.mode);
  const std::vector<int> axes = ResizedAxes(context, x);
  std::vector<AxisMap> maps = UnchangedAxes(x);
  if (modes.coordinates == "tf_crop_and_resize") SetRegion(context, axes, maps);
  if (IsEmpty(context, 3)) {
    SetScalesInput(context, axes, 2, modes.antialias, maps);
  } else {
    const bool stretches = context.String("keep_aspect_ratio_policy", "stretch") == "stretch";
    const std::vector<int64_t> sizes =
        stretches ? context.LengthsInput(3, axes) : context.IntsInput(3);
    SetSizes(context, axes, sizes, maps);
  }
  context.SetOutput(0, ResizeAll(context, x, maps, modes));
}

void Upsample(OperatorContext& context) {
  const std::string mode = context.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear") {
    context.RefuseAttribute("mode", mode, "has to be nearest or linear");
  }
  ResizeByScales(context, mode);
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
