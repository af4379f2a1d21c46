// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Pools over regions of interest.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/index_tuples.h"
#include "bayloom/graph/operators/sampled_points.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::ExprOp;

Expr Larger(const Expr& a, double b) { return tensor::Max(a, LiteralLike(b, a)); }

/// Regions of an image that are divided into bins, with samples in each bin.
struct RegionBins {
  tensor::Tensor regions;  ///< [regions, (x1, y1, x2, y2)]
  double scale = 1, offset = 0;
  bool at_least_one = false;  ///< regions are one element large at least
  int64_t samples = 0;        ///< per bin and axis; 0: as many as its extent

  /// Start and extent of region r along the axis (0: y, 1: x).
  Expr Start(const Expr& r, int axis) const { return Edge(r, 1 - axis); }
  Expr Extent(const Expr& r, int axis) const {
    const Expr extent = Edge(r, 3 - axis) - Edge(r, 1 - axis);
    return at_least_one ? Larger(extent, 1) : extent;
  }
  /// Samples per bin, as a float.
  Expr Samples(const Expr& r, int axis, int64_t bins) const {
    const Expr extent = Extent(r, axis);
    if (samples > 0) return LiteralLike(static_cast<double>(samples), extent);
    return tensor::Unary(ExprOp::kCeil, extent / LiteralLike(static_cast<double>(bins), extent));
  }

 private:
  Expr Edge(const Expr& r, int column) const {
    const Expr edge = regions(r, column);
    return edge * LiteralLike(scale, edge) - LiteralLike(offset, edge);
  }
};

/// Sample positions along an axis of an image, [regions, bins, samples]: -1 where a sample is
/// outside the image or the region has no such sample.
tensor::Tensor SamplePositions(OperatorContext& context, const RegionBins& in, int axis,
                               int64_t bins, int64_t samples, int64_t extent) {
  const int64_t regions = in.regions.shape()[0];
  return context.builder().Map("roialign.position", {regions, bins, samples}, [&](const Exprs& s) {
    const Expr count = in.Samples(s[0], axis, bins);
    const Expr bin = in.Extent(s[0], axis) / LiteralLike(static_cast<double>(bins), count);
    const Expr number = tensor::Cast(count->dtype, s[2]);
    const Expr at = in.Start(s[0], axis) + tensor::Cast(count->dtype, s[1]) * bin +
                    (number + LiteralLike(0.5, number)) * bin / Larger(count, 1);
    const Expr outside = LiteralLike(-1, at);
    const Expr inside = LiteralLike(-1, at) <= at &&
                        at <= LiteralLike(static_cast<double>(extent), at) && number < count;
    return tensor::Select(inside, Bounded(at, 0, static_cast<double>(extent - 1)), outside);
  });
}

/// Lower and upper neighbour of a position, and the upper one's weight.
struct Neighbours {
  Expr low, high, weight, valid;
};

Neighbours NeighboursOf(const Expr& position, int64_t extent) {
  const Expr at = Larger(position, 0);
  const Expr base = tensor::Unary(ExprOp::kFloor, at);
  const Expr last = LiteralLike(static_cast<double>(extent - 1), base);
  const Expr low =
      tensor::Cast(DType::kInt64, tensor::Max(tensor::Min(base, last), LiteralLike(0, base)));
  return {low, tensor::Min(low + Expr(1), Expr(extent - 1)), at - base,
          LiteralLike(0, position) <= position};
}

/// The four neighbours' weighted elements: their sum, or (as ONNX defines the maximum) the largest.
Expr Weighted(const tensor::Tensor& x, const Expr& batch, const Expr& channel, const Neighbours& y,
              const Neighbours& z, bool maximum) {
  const Expr one = LiteralLike(1, y.weight);
  Expr result;
  for (int corner = 0; corner < 4; ++corner) {
    const bool lower = corner / 2 == 0, left = corner % 2 == 0;
    const Expr weight = (lower ? one - y.weight : y.weight) * (left ? one - z.weight : z.weight);
    const Expr part = x(batch, channel, lower ? y.low : y.high, left ? z.low : z.high) * weight;
    result = !result.defined() ? part : maximum ? tensor::Max(result, part) : result + part;
  }
  return result;
}

/// The most samples that a bin needs: regions that are not known have to lie in the image.
int64_t MostSamples(OperatorContext& context, const RegionBins& in, int axis, int64_t bins,
                    int64_t extent) {
  if (in.samples > 0) return in.samples;
  const tensor::HostTensor* known = context.ConstantInput(1);
  double largest = static_cast<double>(extent) + 1;
  if (known) {
    largest = 1;
    for (int64_t r = 0; r < in.regions.shape()[0]; ++r) {
      largest = std::max(largest,
                         (known->Get(4 * r + 3 - axis) - known->Get(4 * r + 1 - axis)) * in.scale);
    }
  }
  const double samples = std::ceil(largest / static_cast<double>(bins)) + 1;
  if (!(samples < 0x1p20)) context.Refuse("a region is too large");
  return static_cast<int64_t>(samples);
}

RegionBins ReadRegionBins(OperatorContext& context) {
  const std::string coordinates = context.String(
      "coordinate_transformation_mode", context.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    context.RefuseAttribute("coordinate_transformation_mode", coordinates,
                            "has to be half_pixel or output_half_pixel");
  }
  const bool half = coordinates == "half_pixel";
  const RegionBins in{context.Input(1), context.Float("spatial_scale", 1.0f), half ? 0.5 : 0, !half,
                      context.Int("sampling_ratio", 0)};
  if (Rank(in.regions) != 2 || in.regions.shape()[1] != 4 || in.samples < 0) {
    context.Refuse("the regions need 4 columns and sampling_ratio may not be negative");
  }
  return in;
}

void RoiAlign(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), batches = context.Input(2);
  const RegionBins in = ReadRegionBins(context);
  const int64_t regions = in.regions.shape()[0];
  if (Rank(x) != 4 || CheckedElementCount(x.shape()) == 0 ||
      batches.shape() != std::vector<int64_t>{regions}) {
    context.Refuse("image, regions and batch_indices do not fit together");
  }
  const int64_t bins[2] = {context.Int("output_height", 1), context.Int("output_width", 1)};
  if (std::min(bins[0], bins[1]) < 1) context.Refuse("the output needs positive extents");
  const std::string mode = context.String("mode", "avg");
  if (mode != "avg" && mode != "max") context.RefuseAttribute("mode", mode, "has to be avg or max");
  CheckKnownIndices(context, 2, x.shape()[0]);
  const bool maximum = mode == "max";
  int64_t most[2];
  tensor::Tensor positions[2];
  for (int axis = 0; axis < 2; ++axis) {
    most[axis] = MostSamples(context, in, axis, bins[axis], x.shape()[2 + axis]);
    positions[axis] =
        SamplePositions(context, in, axis, bins[axis], most[axis], x.shape()[2 + axis]);
  }
  const std::vector<int64_t> shape = {regions, x.shape()[1], bins[0], bins[1]};
  const auto sample = [&](const Exprs& s, const Exprs& r) {
    const Neighbours y = NeighboursOf(positions[0](s[0], s[2], r[0]), x.shape()[2]);
    const Neighbours z = NeighboursOf(positions[1](s[0], s[3], r[1]), x.shape()[3]);
    const Expr value = Weighted(x, WrappedIndex(batches(s[0]), x.shape()[0]), s[1], y, z, maximum);
    const Expr valid = tensor::Select(y.valid && z.valid, value, LiteralLike(0, value));
    if (!maximum) return valid;
    const auto number = [&](int k) { return tensor::Cast(value->dtype, r[k]); };
    const Expr sampled =
        number(0) < in.Samples(s[0], 0, bins[0]) && number(1) < in.Samples(s[0], 1, bins[1]);
    return tensor::Select(sampled, valid,
                          tensor::NeutralElement(tensor::Reduction::kMax, value->dtype));
  };
  // Few samples are added up in one expression, which channels side by side share.
  constexpr int64_t kFewSamples = 4;
  const tensor::Tensor pooled =
      most[0] * most[1] <= kFewSamples
          ? context.builder().Map("roialign.pool", shape,
                                  [&](const Exprs& s) {
                                    Expr total;
                                    for (int64_t k = 0; k < most[0] * most[1]; ++k) {
                                      const Expr value = sample(s, {k / most[1], k % most[1]});
                                      total = !total.defined() ? value
                                              : maximum        ? tensor::Max(total, value)
                                                               : total + value;
                                    }
                                    return total;
                                  })
          : context.builder().Reduce("roialign.pool", shape, {{"iy", most[0]}, {"ix", most[1]}},
                                     maximum ? tensor::Reduction::kMax : tensor::Reduction::kSum,
                                     sample);
  context.SetOutput(0, context.builder().Map("roialign", pooled.shape(), [&](const Exprs& s) {
    const Expr rows = in.Samples(s[0], 0, bins[0]), columns = in.Samples(s[0], 1, bins[1]);
    const Expr total = pooled.At(s);
    const Expr nothing = rows <= LiteralLike(0, rows) || columns <= LiteralLike(0, rows);
    Expr value = maximum ? total : total / Larger(rows * columns, 1);
    value = tensor::Select(nothing, LiteralLike(0, value), value);
    if (in.samples > 0) return value;
    const Expr fits = rows <= LiteralLike(static_cast<double>(most[0]), rows) &&
                      columns <= LiteralLike(static_cast<double>(most[1]), rows);
    return tensor::Select(fits, value,
                          LiteralLike(std::numeric_limits<double>::quiet_NaN(), value));
  }));
}

/// Maxima of 2^level rows from each row of an image on, limited to the image:
/// [n, channels, rows, columns] -> [levels, n, channels, rows, columns]. Two such runs, which may
/// overlap, hold the rows of any bin.
tensor::Tensor MaximaOfRuns(OperatorContext& context, const tensor::Tensor& image) {
  std::vector<int64_t> shape = image.shape();
  const Expr last = shape[2] - 1;
  shape.insert(shape.begin(), 1);
  std::vector<tensor::Tensor> levels = {context.builder().View(image, shape)};
  for (int64_t run = 1; 2 * run <= image.shape()[2]; run *= 2) {
    const tensor::Tensor below = levels.back();
    levels.push_back(context.builder().Map("maxroipool.runs", shape, [&](const Exprs& s) {
      const Expr next = tensor::Min(s[3] + Expr(run), last);
      return tensor::Max(below.At(s), below(s[0], s[1], s[2], next, s[4]));
    }));
  }
  return ConcatenateRows(context, levels);
}

/// The level of the longest runs that fit into each bin, and their length: [regions, bins, 2].
tensor::Tensor LevelsOfRuns(OperatorContext& context, const tensor::Tensor& first,
                            const tensor::Tensor& behind, int64_t levels) {
  std::vector<int64_t> shape = first.shape();
  shape.push_back(2);
  return context.builder().Map("maxroipool.levels", shape, [&](const Exprs& s) {
    const Expr length = behind(s[0], s[1]) - first(s[0], s[1]);
    Expr level = 0, run = 1;
    for (int64_t k = 1; k < levels; ++k) {
      const Expr fits = Expr(int64_t{1} << k) <= length;
      level = tensor::Select(fits, Expr(k), level);
      run = tensor::Select(fits, Expr(int64_t{1} << k), run);
    }
    return tensor::Select(tensor::Equal(s[2], 0), level, run);
  });
}

/// Maxima over bins of whole elements; the regions' columns are (batch, x1, y1, x2, y2), rounded
/// to the nearest element, halves away from zero.
void MaxRoiPool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), rois = context.Input(1);
  const std::vector<int64_t> bins = context.Ints("pooled_shape");
  const double scale = context.Float("spatial_scale", 1.0f);
  const bool fits = Rank(x) == 4 && CheckedElementCount(x.shape()) > 0 && Rank(rois) == 2 &&
                    rois.shape()[1] == 5 && bins.size() == 2 && std::min(bins[0], bins[1]) >= 1;
  if (!fits) context.Refuse("image, regions and pooled_shape do not fit together");
  // First element and the one behind the last of each bin [regions, bins], limited to the image.
  const auto limits = [&](int axis, bool behind) {
    const auto extent = static_cast<double>(x.shape()[2 + axis]);
    return context.builder().Map(
        "maxroipool.bins", {rois.shape()[0], bins[axis]}, [&](const Exprs& s) {
          const auto edge = [&](int column) {
            const Expr value = rois(s[0], column);
            const Expr scaled = Bounded(value * LiteralLike(scale, value), -0x1p24, 0x1p24);
            const Expr half = LiteralLike(0.5, scaled), zero = LiteralLike(0, scaled);
            return tensor::Select(scaled < zero, tensor::Unary(ExprOp::kCeil, scaled - half),
                                  tensor::Unary(ExprOp::kFloor, scaled + half));
          };
          const Expr start = edge(2 - axis), one = LiteralLike(1, start);
          const Expr size = tensor::Max(edge(4 - axis) - start + one, one);
          const Expr bin = size / LiteralLike(static_cast<double>(bins[axis]), size);
          const Expr number = tensor::Cast(start->dtype, s[1]);
          const Expr at = behind ? tensor::Unary(ExprOp::kCeil, (number + one) * bin)
                                 : tensor::Unary(ExprOp::kFloor, number * bin);
          return tensor::Cast(DType::kInt64, Bounded(at + start, 0, extent));
        });
  };
  const tensor::Tensor first[2] = {limits(0, false), limits(1, false)};
  const tensor::Tensor behind[2] = {limits(0, true), limits(1, true)};
  const Expr least = tensor::NeutralElement(tensor::Reduction::kMax, x.dtype());
  const tensor::Tensor runs = MaximaOfRuns(context, x);
  const tensor::Tensor level = LevelsOfRuns(context, first[0], behind[0], runs.shape()[0]);
  const int64_t regions = rois.shape()[0], height = x.shape()[2], width = x.shape()[3];
  const tensor::Tensor rows = context.builder().Map(
      "maxroipool.rows", {regions, x.shape()[1], bins[0], width}, [&](const Exprs& s) {
        const Expr batch = tensor::Cast(
            DType::kInt64, Bounded(rois(s[0], 0), 0, static_cast<double>(x.shape()[0] - 1)));
        const Expr own = level(s[0], s[2], 0);
        const auto run = [&](const Expr& row) {
          return runs(own, batch, s[1], tensor::Max(tensor::Min(row, Expr(height - 1)), Expr(0)),
                      s[3]);
        };
        return tensor::Max(run(first[0](s[0], s[2])),
                           run(behind[0](s[0], s[2]) - level(s[0], s[2], 1)));
      });
  const tensor::Tensor maxima = context.builder().Reduce(
      "maxroipool.max", {regions, x.shape()[1], bins[0], bins[1]}, {{"x", width}},
      tensor::Reduction::kMax, [&](const Exprs& s, const Exprs& r) {
        const Expr within = first[1](s[0], s[3]) <= r[0] && r[0] < behind[1](s[0], s[3]);
        return tensor::Select(within, rows(s[0], s[1], s[2], r[0]), least);
      });
  context.SetOutput(0, context.builder().Map("maxroipool", maxima.shape(), [&](const Exprs& s) {
    const Expr empty = behind[0](s[0], s[2]) <= first[0](s[0], s[2]) ||
                       behind[1](s[0], s[3]) <= first[1](s[0], s[3]);
    return tensor::Select(empty, tensor::Literal(0, x.dtype()), maxima.At(s));
  }));
}

/// The nearest integer; the next one at a half.
Expr RoundedUpAtHalf(const Expr& x) {
  const Expr below = tensor::Unary(ExprOp::kFloor, x);
  return tensor::Select(x - below < LiteralLike(0.5, x), below, below + LiteralLike(1, x));
}

/// onnxruntime's: regions (y1, x1, y2, x2) in units of the image, resized to `crop_size`.
void CropAndResize(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), rois = context.Input(1), batches = context.Input(2);
  const std::vector<int64_t> size = context.IntsInput(3);
  const std::string mode = context.String("mode", "bilinear");
  const bool fits = Rank(x) == 4 && CheckedElementCount(x.shape()) > 0 && Rank(rois) == 2 &&
                    rois.shape()[1] == 4 && size.size() == 2 && std::min(size[0], size[1]) >= 1 &&
                    batches.shape() == std::vector<int64_t>{rois.shape()[0]};
  if (!fits) context.Refuse("image, regions, batch_indices and crop_size do not fit together");
  CheckKnownIndices(context, 2, x.shape()[0]);
  if (mode != "bilinear" && mode != "nearest") {
    context.RefuseAttribute("mode", mode, "has to be bilinear or nearest");
  }
  const Sampling sampling{mode == "nearest" ? SamplingMode::kNearest : SamplingMode::kLinear,
                          SamplingPadding::kBorder};
  const Expr fill = tensor::Literal(context.Float("extrapolation_value", 0.0f), x.dtype());
  const auto position = [&](const Exprs& s, int axis) {
    const Expr start = rois(s[0], axis), end = rois(s[0], axis + 2);
    const double last = static_cast<double>(x.shape()[2 + axis] - 1);
    const double steps = static_cast<double>(size[axis] - 1);
    if (steps == 0) return LiteralLike(0.5 * last, start) * (start + end);
    const Expr step = (end - start) * LiteralLike(last, start) / LiteralLike(steps, start);
    // The last sample lies at the end itself: a rounding would take it out of the image.
    return tensor::Select(
        tensor::Equal(s[2 + axis], Expr(size[axis] - 1)), end * LiteralLike(last, end),
        start * LiteralLike(last, start) + tensor::Cast(start->dtype, s[2 + axis]) * step);
  };
  const std::vector<int64_t> shape = {rois.shape()[0], x.shape()[1], size[0], size[1]};
  context.SetOutput(0, context.builder().Map("cropandresize", shape, [&](const Exprs& s) {
    Exprs at;
    Expr inside = tensor::BoolLiteral(true);
    for (int axis = 0; axis < 2; ++axis) {
      const Expr p = position(s, axis);
      const double last = static_cast<double>(x.shape()[2 + axis] - 1);
      inside = inside && LiteralLike(0, p) <= p && p <= LiteralLike(last, p);
      at.push_back(SamplingPosition(mode == "nearest" ? RoundedUpAtHalf(p) : p, x.shape()[2 + axis],
                                    sampling));
    }
    const Expr batch = WrappedIndex(batches(s[0]), x.shape()[0]);
    return tensor::Select(inside, InterpolateAt(x, {batch, s[1]}, at, sampling), fill);
  }));
}

}  // namespace

std::span<const Operator> RegionOperators() {
  static const Operator operators[] = {
      {"CropAndResize", CropAndResize, "com.microsoft"},
      {"MaxRoiPool", MaxRoiPool},
      {"RoiAlign", RoiAlign},
  };
  return operators;
}

}  // namespace bayloom::graph
