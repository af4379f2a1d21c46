// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Resizing images: nearest neighbour and (multi)linear interpolation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/internal/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// One axis of a resize: output coordinate to input coordinate.
struct AxisMap {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;

  bool Unchanged() const { return in == out && scale == 1; }
};

struct ResizeModes {
  std::string mode, coordinates, nearest;
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
  return (x + 0.5) / axis.scale - 0.5;  // half_pixel
}

int64_t Nearest(const std::string& rule, double x) {
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

Taps MakeTaps(OperatorContext& context, const AxisMap& axis, const ResizeModes& modes) {
  const double a = context.Float("cubic_coeff_a", -0.75f);
  const bool exclude_outside = context.Int("exclude_outside", 0) != 0;
  Taps t;
  t.taps = modes.mode == "nearest" ? 1 : modes.mode == "linear" ? 2 : 4;
  for (int64_t place = 0; place < axis.out; ++place) {
    const double x = axis.Unchanged() && modes.coordinates != "tf_crop_and_resize"
                         ? static_cast<double>(place)
                         : InputCoordinate(axis, modes.coordinates, place);
    if (!std::isfinite(x) || std::abs(x) > 0x1p41) context.Refuse("a coordinate out of range");
    t.outside.push_back(modes.coordinates == "tf_crop_and_resize" &&
                        (x < 0 || x > static_cast<double>(axis.in - 1)));
    if (modes.mode == "nearest") {
      t.index.push_back(Nearest(modes.nearest, x));
      t.weight.push_back(1);
    } else if (modes.mode == "linear") {
      const double base = std::floor(x);
      t.index.insert(t.index.end(), {static_cast<int64_t>(base), static_cast<int64_t>(base) + 1});
      const double f = x - base;
      t.weight.insert(t.weight.end(), {static_cast<float>(1 - f), static_cast<float>(f)});
    } else {
      AddCubic(t, x, a, exclude_outside, axis.in);
    }
  }
  for (int64_t& index : t.index) index = std::clamp<int64_t>(index, 0, axis.in - 1);
  return t;
}

tensor::Tensor FloatConstant(OperatorContext& context, const std::vector<float>& values,
                             tensor::DType dtype, std::vector<int64_t> shape) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return context.builder().Constant("resize.weights", std::move(tensor));
}

/// Resizes along one axis: a gather from a constant table, weighted if there are several taps.
tensor::Tensor ResizeAxis(OperatorContext& context, const tensor::Tensor& x, int d,
                          const AxisMap& axis, const ResizeModes& modes) {
  constexpr int64_t kMaxLengthScale = 1 << 24;
  if (axis.out > kMaxLengthScale)
    context.Refuse(fmt::format("resizing to an extent of {}", axis.out));
  const Taps t = MakeTaps(context, axis, modes);
  const tensor::Tensor index = IntConstant(context, t.index, {axis.out, t.taps});
  std::vector<int64_t> shape = x.shape();
  shape[d] = axis.out;
  if (t.taps == 1) {
    return context.builder().Map("resize", shape, [&](const Exprs& s) {
      Exprs from = s;
      from[d] = index(s[d], 0);
      return x.At(from);
    });
  }
  const tensor::Tensor weight = FloatConstant(context, t.weight, x.dtype(), {axis.out, t.taps});
  return context.builder().Map("resize", shape, [&](const Exprs& s) {
    tensor::Expr sum;
    for (int k = 0; k < t.taps; ++k) {
      Exprs from = s;
      from[d] = index(s[d], k);
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

tensor::Tensor ResizeAll(OperatorContext& context, tensor::Tensor x,
                         const std::vector<AxisMap>& axes, const ResizeModes& modes) {
  for (size_t d = 0; d < axes.size(); ++d) {
    const bool cropped = axes[d].roi_start != 0 || axes[d].roi_end != 1;
    if (axes[d].Unchanged() && !cropped) continue;
    x = ResizeAxis(context, x, static_cast<int>(d), axes[d], modes);
  }
  return modes.coordinates == "tf_crop_and_resize" ? FillOutside(context, x, axes, modes) : x;
}

std::vector<AxisMap> AxesFromScales(OperatorContext& context, const tensor::Tensor& x,
                                    const std::vector<double>& scales) {
  if (scales.size() != x.shape().size()) context.Refuse("scales needs one number per axis");
  std::vector<AxisMap> axes;
  for (size_t d = 0; d < scales.size(); ++d) {
    const double extent = std::floor(static_cast<double>(x.shape()[d]) * scales[d]);
    if (!(scales[d] > 0) || !(extent >= 1 && extent < 0x1p40)) {
      context.Refuse(fmt::format("a scale of {} for the extent {}", scales[d], x.shape()[d]));
    }
    axes.push_back({x.shape()[d], static_cast<int64_t>(extent), scales[d]});
  }
  return axes;
}

std::vector<AxisMap> AxesFromSizes(OperatorContext& context, const tensor::Tensor& x,
                                   const std::vector<int64_t>& sizes) {
  if (sizes.size() != x.shape().size()) context.Refuse("sizes needs one number per axis");
  std::vector<AxisMap> axes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 1 || x.shape()[d] < 1)
      context.Refuse(fmt::format("resizing to an extent of {}", sizes[d]));
    axes.push_back({x.shape()[d], sizes[d],
                    static_cast<double>(sizes[d]) / static_cast<double>(x.shape()[d])});
  }
  return axes;
}

bool IsEmpty(OperatorContext& context, int input) {
  return !context.HasInput(input) || CheckedElementCount(context.Input(input).shape()) == 0;
}

void ReadRegion(OperatorContext& context, std::vector<AxisMap>& axes) {
  const std::vector<double> roi = context.NumbersInput(1);
  if (roi.size() != 2 * axes.size()) context.Refuse("roi needs two numbers per axis");
  for (size_t d = 0; d < axes.size(); ++d) {
    axes[d].roi_start = roi[d];
    axes[d].roi_end = roi[d + axes.size()];
  }
}

void Resize(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  ResizeModes modes{context.String("mode", "nearest"),
                    context.String("coordinate_transformation_mode", "half_pixel"),
                    context.String("nearest_mode", "round_prefer_floor")};
  if (modes.mode != "nearest" && modes.mode != "linear" && modes.mode != "cubic") {
    context.RefuseAttribute("mode", modes.mode, "has to be nearest, linear or cubic");
  }
  if (context.opset() < 11) {  // scales only, x / scale rounded down
    modes.coordinates = "asymmetric";
    modes.nearest = "floor";
    const auto axes = AxesFromScales(context, x, context.NumbersInput(1));
    return context.SetOutput(0, ResizeAll(context, x, axes, modes));
  }
  std::vector<AxisMap> axes = IsEmpty(context, 3)
                                  ? AxesFromScales(context, x, context.NumbersInput(2))
                                  : AxesFromSizes(context, x, context.IntsInput(3));
  if (modes.coordinates == "tf_crop_and_resize") ReadRegion(context, axes);
  context.SetOutput(0, ResizeAll(context, x, axes, modes));
}

/// The scales are an attribute before operator set 9.
void Upsample(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
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
  context.SetOutput(
      0, ResizeAll(context, x, AxesFromScales(context, x, scales), {mode, "asymmetric", "floor"}));
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
