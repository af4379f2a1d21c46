// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Images read at computed positions: grids, regions of interest, deformed windows.
#include <fmt/format.h>

#include <limits>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/sampled_points.h"
#include "bayloom/graph/operators/windows.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::ExprOp;

/// Positions are float32 at least.
DType PositionType(const tensor::Tensor& x) {
  return x.dtype() == DType::kFloat64 ? x.dtype() : DType::kFloat32;
}

Sampling ReadSampling(OperatorContext& context) {
  Sampling sampling;
  const std::string mode = context.String("mode", "linear");
  if (mode == "nearest") {
    sampling.mode = SamplingMode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    sampling.mode = SamplingMode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    context.RefuseAttribute("mode", mode, "has to be linear, nearest or cubic");
  }
  const std::string padding = context.String("padding_mode", "zeros");
  if (padding == "border") {
    sampling.padding = SamplingPadding::kBorder;
  } else if (padding == "reflection") {
    sampling.padding = SamplingPadding::kReflection;
  } else if (padding != "zeros") {
    context.RefuseAttribute("padding_mode", padding, "has to be zeros, border or reflection");
  }
  sampling.align_corners = context.Int("align_corners", 0) != 0;
  return sampling;
}

/// The grid holds coordinates in [-1, 1], those of the last axis first.
void GridSample(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), grid = context.Input(1);
  const Sampling sampling = ReadSampling(context);
  const int axes = Rank(x) - 2;
  const bool fits = axes >= 1 && axes <= 3 && Rank(grid) == Rank(x) &&
                    grid.shape()[0] == x.shape()[0] && grid.shape().back() == axes;
  if (!fits) {
    context.Refuse(fmt::format("the grid {} does not fit {}", ToString(grid.dtype(), grid.shape()),
                               ToString(x.dtype(), x.shape())));
  }
  if (CheckedElementCount(x.shape()) == 0) context.Refuse("the input has no elements");
  const DType type = PositionType(x);
  std::vector<int64_t> shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  std::vector<tensor::Tensor> positions;
  for (int d = 0; d < axes; ++d) {
    const int64_t extent = x.shape()[d + 2];
    const std::vector<int64_t> points(grid.shape().begin(), grid.shape().end() - 1);
    positions.push_back(context.builder().Map("gridsample.position", points, [&](Exprs s) {
      s.push_back(Expr(axes - 1 - d));
      const Expr n = tensor::Cast(type, grid.At(s)), one = tensor::Literal(1, type);
      const double size = static_cast<double>(extent);
      const Expr half = tensor::Literal(0.5, type);
      const Expr at = sampling.align_corners
                          ? (n + one) * half * tensor::Literal(size - 1, type)
                          : ((n + one) * tensor::Literal(size, type) - one) * half;
      return SamplingPosition(at, extent, sampling);
    }));
  }
  context.SetOutput(0, context.builder().Map("gridsample", shape, [&](const Exprs& s) {
    Exprs point = {s[0]}, at;
    point.insert(point.end(), s.begin() + 2, s.end());
    for (const tensor::Tensor& position : positions) at.push_back(position.At(point));
    return InterpolateAt(x, {s[0], s[1]}, at, sampling);
  }));
}

/// The grid of an affine map: theta * (x, y, (z,) 1) at the points of an image of `size`.
void AffineGrid(OperatorContext& context) {
  const tensor::Tensor theta = context.Input(0);
  const std::vector<int64_t> size = context.IntsInput(1);
  const bool align_corners = context.Int("align_corners", 0) != 0;
  const int axes = static_cast<int>(size.size()) - 2;
  if (axes < 2 || axes > 3 ||
      theta.shape() != std::vector<int64_t>{size[0], axes, int64_t{axes} + 1}) {
    context.Refuse("theta and size do not fit together");
  }
  std::vector<int64_t> shape = {size[0]};
  for (int d = 0; d < axes; ++d) {
    shape.push_back(size[d + 2]);
    if (size[d + 2] < (align_corners ? 2 : 1)) {
      context.Refuse(fmt::format("a grid over an extent of {}", size[d + 2]));
    }
  }
  shape.push_back(axes);
  context.SetOutput(0, context.builder().Map("affinegrid", shape, [&](const Exprs& s) {
    const Expr row = s.back();
    Expr sum = theta(s[0], row, axes);
    for (int j = 0; j < axes; ++j) {  // x belongs to the last axis
      const double extent = static_cast<double>(size[2 + axes - 1 - j]);
      const Expr place = tensor::Cast(theta.dtype(), s[axes - j]);
      const double step = 2 / (align_corners ? extent - 1 : extent);
      const double start = align_corners ? -1 : -1 + step / 2;
      sum = sum +
            theta(s[0], row, j) * (place * LiteralLike(step, place) + LiteralLike(start, place));
    }
    return sum;
  }));
}

// --- Deformable convolution --------------------------------------------------------------------

struct Deformation {
  Windows windows;
  tensor::Tensor offset;               ///< [n, offset groups, kh, kw, 2, oh, ow]
  std::optional<tensor::Tensor> mask;  ///< [n, offset groups, kh, kw, oh, ow]
  int64_t channels_per_offset;
};

Deformation ReadDeformation(OperatorContext& context, const tensor::Tensor& x,
                            const tensor::Tensor& weights) {
  const std::vector<int64_t> kernel(weights.shape().begin() + 2, weights.shape().end());
  if (context.Ints("kernel_shape", kernel) != kernel) {
    context.Refuse("attribute kernel_shape differs from the weights' shape");
  }
  Deformation d{ReadWindows(context, x.shape(), kernel), {}, {}, 0};
  const int64_t groups = context.Int("offset_group", 1);
  if (groups < 1 || x.shape()[1] % groups != 0) context.Refuse("offset_group divides no channels");
  d.channels_per_offset = x.shape()[1] / groups;
  const auto shaped = [&](int input, std::vector<int64_t> shape) {
    const tensor::Tensor t = context.Input(input);
    if (CheckedElementCount(t.shape()) != CheckedElementCount(shape)) {
      context.Refuse(fmt::format("input {} is {}, which does not fit the windows", input,
                                 ToString(t.dtype(), t.shape())));
    }
    return context.builder().View(t, std::move(shape));
  };
  const auto& counts = d.windows.counts;
  const int64_t n = x.shape()[0];
  d.offset = shaped(2, {n, groups, kernel[0], kernel[1], 2, counts[0], counts[1]});
  if (context.HasInput(4)) {
    d.mask = shaped(4, {n, groups, kernel[0], kernel[1], counts[0], counts[1]});
  }
  return d;
}

/// Where the windows read along an axis (0: y, 1: x): [n, offset groups, kh, kw, oh, ow].
tensor::Tensor DeformedPositions(OperatorContext& context, const Deformation& d, int axis,
                                 DType type, int64_t extent) {
  const Windows& w = d.windows;
  std::vector<int64_t> shape = d.offset.shape();
  shape.erase(shape.begin() + 4);
  return context.builder().Map("deformconv.position", shape, [&](const Exprs& s) {
    const Expr start = s[4 + axis] * Expr(w.strides[axis]) + s[2 + axis] * Expr(w.dilations[axis]) -
                       Expr(w.pads_low[axis]);
    const Expr offset = d.offset(s[0], s[1], s[2], s[3], axis, s[4], s[5]);
    return SamplingPosition(tensor::Cast(type, start) + tensor::Cast(type, offset), extent,
                            Sampling());
  });
}

/// What the windows read: [n, channels, kh, kw, oh, ow].
tensor::Tensor DeformedColumns(OperatorContext& context, const tensor::Tensor& x,
                               const Deformation& d) {
  const Windows& w = d.windows;
  const std::vector<int64_t> shape = {x.shape()[0], x.shape()[1], w.kernel[0],
                                      w.kernel[1],  w.counts[0],  w.counts[1]};
  const Sampling sampling;
  const bool one_group = d.channels_per_offset == x.shape()[1];
  tensor::Tensor positions[2];  // [n, offset groups, kh, kw, oh, ow], the same for all channels
  for (int k = 0; k < 2; ++k) {
    positions[k] = DeformedPositions(context, d, k, PositionType(x), x.shape()[2 + k]);
  }
  return context.builder().Map("deformconv.columns", shape, [&](const Exprs& s) {
    const Expr group = one_group ? Expr(0) : tensor::FloorDiv(s[1], Expr(d.channels_per_offset));
    const Exprs point = {s[0], group, s[2], s[3], s[4], s[5]};
    const Expr value =
        InterpolateAt(x, {s[0], s[1]}, {positions[0].At(point), positions[1].At(point)}, sampling);
    return d.mask ? value * d.mask->At(point) : value;
  });
}

void DeformConv(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), weights = context.Input(1);
  const int64_t groups = context.Int("group", 1);
  if (Rank(x) != 4 || Rank(weights) != 4) context.Refuse("only images of 2 axes are supported");
  const bool fits = groups >= 1 && weights.shape()[0] % groups == 0 && x.shape()[1] % groups == 0 &&
                    x.shape()[1] / groups == weights.shape()[1];
  if (!fits) context.Refuse("channels, groups and weights do not fit together");
  const Deformation d = ReadDeformation(context, x, weights);
  const tensor::Tensor columns = DeformedColumns(context, x, d);
  const int64_t in = weights.shape()[1], out = weights.shape()[0] / groups;
  const auto& k = d.windows.kernel;
  const auto& counts = d.windows.counts;
  const tensor::Tensor taps = context.builder().View(weights, {groups, out, in, k[0], k[1]});
  const tensor::Tensor sums = context.builder().Reduce(
      "deformconv", {x.shape()[0], groups, counts[0], counts[1], out},
      {{"kh", k[0]}, {"kw", k[1]}, {"ci", in}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        return columns(s[0], s[1] * Expr(in) + r[2], r[0], r[1], s[2], s[3]) *
               taps(s[1], s[4], r[2], r[0], r[1]);
      },
      NodeKind::kMatmul);
  const tensor::Tensor y = context.builder().View(
      Permute(context, sums, {0, 1, 4, 2, 3}), {x.shape()[0], groups * out, counts[0], counts[1]});
  if (!context.HasInput(3)) return context.SetOutput(0, y);
  const tensor::Tensor bias = context.Input(3);
  if (bias.shape() != std::vector<int64_t>{groups * out}) context.Refuse("the bias does not fit");
  context.SetOutput(0, context.builder().Map("bias", y.shape(),
                                             [&](const Exprs& s) { return y.At(s) + bias(s[1]); }));
}

}  // namespace

std::span<const Operator> SamplingOperators() {
  static const Operator operators[] = {
      {"AffineGrid", AffineGrid},
      {"DeformConv", DeformConv},
      {"GridSample", GridSample},
      {"GridSample", GridSample, "com.microsoft"},
  };
  return operators;
}

}  // namespace bayloom::graph
