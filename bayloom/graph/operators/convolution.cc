// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Convolutions in any number of dimensions: plain, grouped, depthwise, transposed.
#include "bayloom/graph/operators/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/phases.h"
#include "bayloom/graph/operators/windows.h"

namespace bayloom::graph {
namespace {

Exprs Slice(const Exprs& all, size_t first, size_t count) {
  const auto begin = all.begin() + static_cast<int64_t>(first);
  return Exprs(begin, begin + static_cast<int64_t>(count));
}

Exprs Join(Exprs head, const Exprs& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<int64_t> SpatialShape(const tensor::Tensor& x) {
  return std::vector<int64_t>(x.shape().begin() + 2, x.shape().end());
}

/// [first..., extents...]
std::vector<int64_t> ShapeOf(std::vector<int64_t> first, const std::vector<int64_t>& extents) {
  first.insert(first.end(), extents.begin(), extents.end());
  return first;
}

/// Every channel by itself: the weights are [c, 1, kernel...].
tensor::Tensor DepthwiseConv(OperatorContext& context, const tensor::Tensor& image,
                             const tensor::Tensor& weights, const Windows& w) {
  const int64_t channels = weights.shape()[0];
  const tensor::Tensor taps = context.builder().View(weights, ShapeOf({channels}, w.kernel));
  return context.builder().Reduce(
      "depthwise", ShapeOf({image.shape()[0], channels}, w.counts), WindowAxes(w),
      tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs positions = WindowPositions(w, Slice(s, 2, w.rank()), r);
        return WideProduct(image.At(Join({s[0], s[1]}, positions)), taps.At(Join({s[1]}, r)));
      },
      NodeKind::kWindow);
}

tensor::Tensor PlainConv(OperatorContext& context, const tensor::Tensor& image,
                         const tensor::Tensor& weights, const Windows& w) {
  std::vector<GraphBuilder::Axis> axes = WindowAxes(w);
  axes.push_back({"ci", weights.shape()[1]});
  return context.builder().Reduce(
      "conv", ShapeOf({image.shape()[0], weights.shape()[0]}, w.counts), axes,
      tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs window = Slice(r, 0, w.rank());
        const Exprs positions = WindowPositions(w, Slice(s, 2, w.rank()), window);
        const tensor::Expr ci = r.back();
        return WideProduct(image.At(Join({s[0], ci}, positions)),
                           weights.At(Join({s[1], ci}, window)));
      },
      NodeKind::kWindow);
}

/// Output channels as [group, channel in the group], so that every index stays affine.
tensor::Tensor GroupedConv(OperatorContext& context, const tensor::Tensor& image,
                           const tensor::Tensor& weights, const Windows& w, int64_t groups) {
  const int64_t out = weights.shape()[0] / groups, in = weights.shape()[1];
  const tensor::Tensor taps = context.builder().View(weights, ShapeOf({groups, out, in}, w.kernel));
  std::vector<GraphBuilder::Axis> axes = WindowAxes(w);
  axes.push_back({"ci", in});
  const tensor::Tensor result = context.builder().Reduce(
      "conv", ShapeOf({image.shape()[0], groups, out}, w.counts), axes, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs window = Slice(r, 0, w.rank());
        const Exprs positions = WindowPositions(w, Slice(s, 3, w.rank()), window);
        const tensor::Expr ci = r.back();
        return WideProduct(image.At(Join({s[0], s[1] * tensor::Expr(in) + ci}, positions)),
                           taps.At(Join({s[1], s[2], ci}, window)));
      },
      NodeKind::kWindow);
  return context.builder().View(result, ShapeOf({image.shape()[0], groups * out}, w.counts));
}

}  // namespace

tensor::Tensor Convolve(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& weights, const tensor::Expr& fill) {
  if (weights.shape().size() < 3 || x.shape().size() != weights.shape().size()) {
    context.Refuse(fmt::format("input {} and weights {} do not fit together",
                               ToString(x.dtype(), x.shape()),
                               ToString(weights.dtype(), weights.shape())));
  }
  const int64_t groups = context.Int("group", 1);
  const bool fits = groups >= 1 && weights.shape()[0] % groups == 0 && x.shape()[1] % groups == 0 &&
                    x.shape()[1] / groups == weights.shape()[1];
  if (!fits) {
    context.Refuse(fmt::format("{} channels in {} groups do not fit weights {}", x.shape()[1],
                               groups, ToString(weights.dtype(), weights.shape())));
  }
  const std::vector<int64_t> kernel = SpatialShape(weights);
  if (context.Ints("kernel_shape", kernel) != kernel) {
    context.Refuse("attribute kernel_shape differs from the weights' shape");
  }
  const Windows w = ReadWindows(context, x.shape(), kernel);
  const tensor::Tensor image = PadForWindows(context, x, w, fill);
  if (groups == 1) return PlainConv(context, image, weights, w);
  if (groups == x.shape()[1] && groups == weights.shape()[0]) {
    return DepthwiseConv(context, image, weights, w);
  }
  return GroupedConv(context, image, weights, w, groups);
}

namespace {

tensor::Tensor AddBias(OperatorContext& context, const tensor::Tensor& y,
                       const tensor::Tensor& bias) {
  if (bias.shape() != std::vector<int64_t>{y.shape()[1]}) {
    context.Refuse("the bias needs one element per output channel");
  }
  return context.builder().Map("bias", y.shape(),
                               [&](const Exprs& s) { return y.At(s) + bias(s[1]); });
}

void Conv(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const tensor::Tensor y = Convolve(context, x, context.Input(1), tensor::Literal(0, x.dtype()));
  context.SetOutput(0, context.HasInput(2) ? AddBias(context, y, context.Input(2)) : y);
}

/// Output extents and pads of a transposed convolution, per spatial axis.
struct TransposedWindows {
  std::vector<int64_t> kernel, strides, dilations, low, counts;
};

TransposedWindows ReadTransposedWindows(OperatorContext& context, const tensor::Tensor& x,
                                        std::vector<int64_t> kernel) {
  const int rank = static_cast<int>(kernel.size());
  const auto read = [&](const char* name, int64_t otherwise, int count) {
    std::vector<int64_t> values = context.Ints(name, std::vector<int64_t>(count, otherwise));
    for (int64_t value : values) {
      if (value < 0 || value > (int64_t{1} << 31)) {
        context.RefuseAttribute(name, fmt::format("{}", value), "out of range");
      }
    }
    if (static_cast<int>(values.size()) != count) {
      context.Refuse(fmt::format("attribute {} has {} numbers", name, values.size()));
    }
    return values;
  };
  TransposedWindows w{
      std::move(kernel), read("strides", 1, rank), read("dilations", 1, rank), {}, {}};
  const std::vector<int64_t> extra = read("output_padding", 0, rank);
  const std::vector<int64_t> pads = read("pads", 0, 2 * rank);
  const std::string mode = context.String("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  const bool shaped = context.HasAttribute("output_shape");
  const std::vector<int64_t> given =
      shaped ? read("output_shape", 0, rank) : std::vector<int64_t>();
  for (int d = 0; d < rank; ++d) {
    if (w.strides[d] < 1 || w.dilations[d] < 1) context.Refuse("a stride or dilation of 0");
    const int64_t full =
        (x.shape()[d + 2] - 1) * w.strides[d] + extra[d] + (w.kernel[d] - 1) * w.dilations[d] + 1;
    int64_t low = pads[d], count = full - pads[d] - pads[d + rank];
    if (same || shaped) {
      count = shaped ? given[d] : x.shape()[d + 2] * w.strides[d];
      const int64_t total = std::max<int64_t>(0, full - count);
      low = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (count < 1) context.Refuse("the output would have no elements");
    w.low.push_back(low);
    w.counts.push_back(count);
  }
  return w;
}

/// The input with strides - 1 zeros between its elements and room for the kernel on both sides;
/// convolving that with the mirrored kernel is the transposed convolution.
tensor::Tensor Dilated(OperatorContext& context, const tensor::Tensor& x,
                       const TransposedWindows& w) {
  const int rank = static_cast<int>(w.kernel.size());
  std::vector<int64_t> shape = {x.shape()[0], x.shape()[1]}, before;
  for (int d = 0; d < rank; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d];
    before.push_back(reach - w.low[d]);
    shape.push_back(w.counts[d] + reach);
  }
  return context.builder().Map("dilate", shape, [&](const Exprs& place) {
    tensor::Expr inside = tensor::BoolLiteral(true);
    Exprs index = {place[0], place[1]};
    for (int d = 0; d < rank; ++d) {
      const tensor::Expr at = place[d + 2] - tensor::Expr(before[d]);
      const tensor::Expr step = tensor::Expr(w.strides[d]);
      inside = inside && tensor::Expr(0) <= at &&
               at < tensor::Expr((x.shape()[d + 2] - 1) * w.strides[d] + 1);
      if (w.strides[d] > 1)
        inside = inside && tensor::Equal(tensor::FloorMod(at, step), tensor::Expr(0));
      index.push_back(w.strides[d] > 1 ? tensor::FloorDiv(at, step) : at);
    }
    return tensor::Select(inside, x.At(index), tensor::Literal(0, x.dtype()));
  });
}

/// As a convolution of the input with zeros between its elements.
tensor::Tensor TransposedByZeros(OperatorContext& context, const tensor::Tensor& x,
                                 const tensor::Tensor& weights, const TransposedWindows& w,
                                 int64_t groups) {
  const int rank = static_cast<int>(w.kernel.size());
  const tensor::Tensor image = Dilated(context, x, w);
  const int64_t in = x.shape()[1] / groups, out = weights.shape()[1];
  const tensor::Tensor taps = context.builder().View(weights, ShapeOf({groups, in, out}, w.kernel));
  std::vector<GraphBuilder::Axis> axes;
  for (int d = 0; d < rank; ++d) axes.push_back({fmt::format("k{}", d), w.kernel[d]});
  axes.push_back({"ci", in});
  const tensor::Tensor conv = context.builder().Reduce(
      "convtranspose", ShapeOf({x.shape()[0], groups, out}, w.counts), axes,
      tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        Exprs positions, mirrored;
        for (int d = 0; d < rank; ++d) {
          positions.push_back(s[d + 3] + r[d] * tensor::Expr(w.dilations[d]));
          mirrored.push_back(tensor::Expr(w.kernel[d] - 1) - r[d]);
        }
        const tensor::Expr ci = r.back();
        return image.At(Join({s[0], s[1] * tensor::Expr(in) + ci}, positions)) *
               taps.At(Join({s[1], ci, s[2]}, mirrored));
      },
      NodeKind::kWindow);
  return context.builder().View(conv, ShapeOf({x.shape()[0], groups * out}, w.counts));
}

/// A transposed convolution without dilation, by phases (phases.h): output position stride * q +
/// phase takes the kernel's elements phase + stride * t at the input's positions q - t. So each
/// phase is a convolution of stride 1 with `taps` taps, and all of them are one with so many times
/// the output channels, in the order [group, phases..., channel].
struct PhasedWindows : Phases {
  std::vector<int64_t> taps;

  explicit PhasedWindows(const TransposedWindows& w) : Phases(w.strides, w.low, w.counts) {
    for (size_t d = 0; d < w.kernel.size(); ++d) {
      taps.push_back((w.kernel[d] + w.strides[d] - 1) / w.strides[d]);
    }
  }
};

/// The input as far as windows of `taps` read it, zeros around it.
tensor::Tensor PhasedImage(OperatorContext& context, const tensor::Tensor& x,
                           const PhasedWindows& p) {
  std::vector<int64_t> low = {0, 0}, high = {0, 0};
  for (size_t d = 0; d < p.rank(); ++d) {
    low.push_back(p.taps[d] - 1 - p.first[d]);
    high.push_back(p.counts[d] + p.taps[d] - 1 - x.shape()[d + 2] - low.back());
  }
  return PadWith(context, x, low, high, tensor::Literal(0, x.dtype()));
}

/// [groups * phases * out, in, taps...]; taps that a phase lacks are zeros.
tensor::Tensor PhasedWeights(OperatorContext& context, const tensor::Tensor& weights,
                             const PhasedWindows& p, int64_t groups) {
  const int64_t in = weights.shape()[0] / groups, out = weights.shape()[1];
  const size_t rank = p.rank();
  std::vector<int64_t> shape = ShapeOf({groups}, p.strides);
  shape.insert(shape.end(), {out, in});
  shape = ShapeOf(shape, p.taps);
  const tensor::Tensor all =
      context.builder().Map("convtranspose.weights", shape, [&](const Exprs& s) {
        tensor::Expr inside = tensor::BoolLiteral(true);
        Exprs index = {s[0] * tensor::Expr(in) + s[rank + 2], s[rank + 1]};
        for (size_t d = 0; d < rank; ++d) {
          const tensor::Expr tap = tensor::Expr(p.taps[d] - 1) - s[rank + 3 + d];
          index.push_back(s[d + 1] + tap * tensor::Expr(p.strides[d]));
          if (weights.shape()[d + 2] % p.strides[d] != 0) {
            inside = inside && index.back() < tensor::Expr(weights.shape()[d + 2]);
          }
        }
        return tensor::Select(inside, weights.At(index), tensor::Literal(0, weights.dtype()));
      });
  const int64_t channels = CheckedElementCount(ShapeOf({groups, out}, p.strides));
  return context.builder().View(all, ShapeOf({channels, in}, p.taps));
}

/// One element per output channel of PhasedWeights.
tensor::Tensor PhasedBias(OperatorContext& context, const tensor::Tensor& bias,
                          const PhasedWindows& p, int64_t groups, int64_t out) {
  const int64_t phases = CheckedElementCount(p.strides);
  const tensor::Tensor tiled =
      context.builder().Map("convtranspose.bias", {groups, phases, out},
                            [&](const Exprs& s) { return bias(s[0] * tensor::Expr(out) + s[2]); });
  return context.builder().View(tiled, {groups * phases * out});
}

tensor::Tensor TransposedByPhases(OperatorContext& context, const tensor::Tensor& x,
                                  const tensor::Tensor& weights, const TransposedWindows& w,
                                  int64_t groups) {
  const PhasedWindows p(w);
  const std::vector<int64_t> ones(p.rank(), 1), zeros(p.rank(), 0);
  const Windows windows{p.taps, ones, ones, zeros, zeros, p.counts};
  const tensor::Tensor image = PhasedImage(context, x, p);
  const tensor::Tensor taps = PhasedWeights(context, weights, p, groups);
  tensor::Tensor y = groups == 1 ? PlainConv(context, image, taps, windows)
                                 : GroupedConv(context, image, taps, windows, groups);
  const int64_t out = weights.shape()[1];
  if (context.HasInput(2)) {
    const tensor::Tensor bias = context.Input(2);
    if (bias.shape() != std::vector<int64_t>{groups * out}) {
      context.Refuse("the bias needs one element per output channel");
    }
    y = AddBias(context, y, PhasedBias(context, bias, p, groups, out));
  }
  return SideBySide(context, y, p, groups, out);
}

/// Whether phases have different numbers of taps, at least one each, and as many positions.
bool HasUnequalPhases(const TransposedWindows& w) {
  bool unequal = false;
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    if (w.kernel[d] < w.strides[d] || w.counts[d] % w.strides[d] != 0) return false;
    unequal = unequal || w.kernel[d] % w.strides[d] != 0;
  }
  return unequal;
}

/// The phases as convolutions of their own, each with just its taps: of a kernel of three elements
/// and a stride of two one phase takes two and the other one. `place` counts the output's positions
/// by phase: those at `place[d]` modulo the stride.
tensor::Tensor OnePhase(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& weights, const TransposedWindows& w,
                        const std::vector<int64_t>& place) {
  const size_t rank = w.kernel.size();
  std::vector<int64_t> phases, taps, counts, low = {0, 0}, high = {0, 0};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t stride = w.strides[d], first = (place[d] + w.low[d]) / stride;
    phases.push_back((place[d] + w.low[d]) % stride);
    taps.push_back((w.kernel[d] - phases[d] + stride - 1) / stride);
    counts.push_back(w.counts[d] / stride);
    low.push_back(taps[d] - 1 - first);
    high.push_back(counts[d] + taps[d] - 1 - x.shape()[d + 2] - low.back());
  }
  const tensor::Tensor image = PadWith(context, x, low, high, tensor::Literal(0, x.dtype()));
  const std::vector<int64_t> shape = ShapeOf({weights.shape()[1], weights.shape()[0]}, taps);
  const tensor::Tensor own =
      context.builder().Map("convtranspose.weights", shape, [&](const Exprs& s) {
        Exprs index = {s[1], s[0]};
        for (size_t d = 0; d < rank; ++d) {
          const tensor::Expr tap = tensor::Expr(taps[d] - 1) - s[d + 2];
          index.push_back(tap * tensor::Expr(w.strides[d]) + tensor::Expr(phases[d]));
        }
        return weights.At(index);
      });
  const std::vector<int64_t> ones(rank, 1), zeros(rank, 0);
  const tensor::Tensor y =
      PlainConv(context, image, own, Windows{taps, ones, ones, zeros, zeros, counts});
  return context.HasInput(2) ? AddBias(context, y, context.Input(2)) : y;
}

tensor::Tensor TransposedPhaseByPhase(OperatorContext& context, const tensor::Tensor& x,
                                      const tensor::Tensor& weights, const TransposedWindows& w) {
  PhasedWindows p(w);
  std::vector<tensor::Tensor> parts;
  const int64_t phases = CheckedElementCount(p.strides);
  for (int64_t number = 0; number < phases; ++number) {
    std::vector<int64_t> place(p.rank());
    int64_t rest = number;
    for (size_t d = p.rank(); d-- > 0; rest /= p.strides[d]) place[d] = rest % p.strides[d];
    parts.push_back(OnePhase(context, x, weights, w, place));
  }
  for (size_t d = 0; d < p.rank(); ++d) {
    p.counts[d] = w.counts[d] / w.strides[d];
    p.cut[d] = 0;
  }
  return SideBySide(context, Concatenate(context, parts, 1), p, 1, weights.shape()[1]);
}

void ConvTranspose(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), weights = context.Input(1);
  const int64_t groups = context.Int("group", 1);
  const bool fits = weights.shape().size() >= 3 && x.shape().size() == weights.shape().size() &&
                    groups >= 1 && x.shape()[1] == weights.shape()[0] && x.shape()[1] % groups == 0;
  if (!fits) context.Refuse("input, weights and groups do not fit together");
  const TransposedWindows w = ReadTransposedWindows(context, x, SpatialShape(weights));
  const bool dilated = std::any_of(w.dilations.begin(), w.dilations.end(),
                                   [](int64_t dilation) { return dilation > 1; });
  if (!dilated && groups == 1 && HasUnequalPhases(w)) {
    return context.SetOutput(0, TransposedPhaseByPhase(context, x, weights, w));
  }
  if (!dilated) return context.SetOutput(0, TransposedByPhases(context, x, weights, w, groups));
  const tensor::Tensor y = TransposedByZeros(context, x, weights, w, groups);
  context.SetOutput(0, context.HasInput(2) ? AddBias(context, y, context.Input(2)) : y);
}

}  // namespace

std::span<const Operator> ConvolutionOperators() {
  static const Operator operators[] = {
      {"Conv", Conv},
      {"ConvTranspose", ConvTranspose},
  };
  return operators;
}

}  // namespace bayloom::graph
