// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

/// An image 3 + 2y - x of 4 rows and 5 columns: interpolation between its elements is exact.
HostTensor LinearImage() {
  std::vector<double> values;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) values.push_back(3 + 2 * y - x);
  }
  return Floats({1, 1, 4, 5}, values);
}

HostTensor Sampled(const HostTensor& image, const std::vector<double>& grid,
                   const std::string& mode, const std::string& padding) {
  const int64_t points = static_cast<int64_t>(grid.size()) / 2;
  return RunOperator(
      {.op = "GridSample",
       .inputs = {image, Floats({1, 1, points, 2}, grid)},
       .attributes = {{"mode", mode}, {"padding_mode", padding}, {"align_corners", int64_t{1}}},
       .opset = 20})[0];
}

/// With aligned corners -1 and 1 are the centres of the outermost elements.
double OnGrid(double at, double extent) { return 2 * at / (extent - 1) - 1; }

TEST(GridSample, IsExactOnLinearImages) {
  const std::vector<double> grid = {OnGrid(1.5, 5), OnGrid(1.5, 4), OnGrid(2.5, 5), OnGrid(1.5, 4)};
  for (const char* mode : {"linear", "cubic"}) {  // cubic weights are symmetric in the middle
    ExpectClose(Sampled(LinearImage(), grid, mode, "border"), {4.5, 3.5});
  }
}

TEST(GridSample, PadsAsAsked) {
  const std::vector<double> left = {OnGrid(-1, 5), OnGrid(2, 4)};  // y = 2, one beyond the border
  ExpectClose(Sampled(LinearImage(), left, "nearest", "zeros"), {0});
  ExpectClose(Sampled(LinearImage(), left, "nearest", "border"), {7});
  ExpectClose(Sampled(LinearImage(), left, "nearest", "reflection"), {6});
}

/// No position makes it read outside the image.
TEST(GridSample, TakesAnyNumber) {
  const double nan = std::nan("");
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const std::string padding : {"zeros", "border", "reflection"}) {
      const double far = padding == "reflection" ? 1e3 : 1e30;
      Sampled(LinearImage(), {far, -far, nan, 0, 0, nan, -far, far}, mode, padding);
    }
  }
}

/// A position is computed once for all channels, which lie side by side.
TEST(GridSample, HasChannelsLast) {
  constexpr int64_t kChannels = 16;
  Graph graph = ImportText(
      "g (float[1, 16, 9, 10] x, float[1, 11, 12, 2] grid) => (float[1, 16, 11, 12] y) {\n"
      "  y = GridSample (x, grid)\n}",
      16);
  Optimize(graph);
  int samples = 0;
  for (const Node& node : graph.nodes) {
    const Value& output = graph.values[node.output()];
    const bool moves = node.IsAlias() || node.stage.value->op == tensor::ExprOp::kLoad;
    if (moves || output.ElementCount() != kChannels * 11 * 12) continue;
    ++samples;
    EXPECT_EQ(output.shape.back(), kChannels);
  }
  EXPECT_EQ(samples, 1);
}

TEST(AffineGrid, TheIdentitySamplesTheImage) {
  const HostTensor theta = Floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  const HostTensor grid =
      RunOperator({.op = "AffineGrid",
                   .inputs = {theta, Integers(DType::kInt64, {4}, {1, 1, 4, 5})},
                   .opset = 20,
                   .constants = {1}})[0];
  const HostTensor image = LinearImage();
  const HostTensor y = RunOperator({.op = "GridSample", .inputs = {image, grid}, .opset = 20})[0];
  for (int64_t i = 0; i < 20; ++i) EXPECT_NEAR(y.Get(i), image.Get(i), 1e-4);
}

/// The mean over a bin of a linear image is its value at the bin's centre.
TEST(RoiAlign, AveragesBins) {
  const HostTensor rois = Floats({1, 4}, {0.5, 0.5, 4.5, 3.5});
  const HostTensor y =
      RunOperator({.op = "RoiAlign",
                   .inputs = {LinearImage(), rois, Integers(DType::kInt64, {1}, {0})},
                   .attributes = {{"output_height", int64_t{3}},
                                  {"output_width", int64_t{2}},
                                  {"sampling_ratio", int64_t{2}}},
                   .opset = 16})[0];
  std::vector<double> expected;
  for (double row : {0.5, 1.5, 2.5}) {
    for (double column : {1.0, 3.0}) expected.push_back(3 + 2 * row - column);
  }
  ExpectClose(y, expected);
}

/// Bins of regions inside, at the border of and beyond an image; empty ones are zero.
TEST(MaxRoiPool, IsTheLargestOfEachBin) {
  const int64_t channels = 3, height = 13, width = 9, bins_y = 3, bins_x = 2;
  const double scale = 0.5;
  const HostTensor x = RandomTensor({2, channels, height, width}, 1);
  const std::vector<double> regions = {0, 0,  0,  16, 24,  1, 2,   5,   3,   6,   1, 8, 8, 8, 8,
                                       0, -9, -8, 7,  100, 1, 400, 400, 440, 420, 0, 6, 9, 2, 1};
  const HostTensor y = RunOperator(
      {.op = "MaxRoiPool",
       .inputs = {x, Floats({6, 5}, regions)},
       .attributes = {{"pooled_shape", std::vector{bins_y, bins_x}}, {"spatial_scale", 0.5f}}})[0];
  const auto bounds = [&](double start, double end, int64_t bin, int64_t bins, int64_t extent) {
    const double first = std::round(start * scale), last = std::round(end * scale);
    const double size = std::max(last - first + 1, 1.0) / static_cast<double>(bins);
    const auto limited = [&](double at) {
      return static_cast<int64_t>(std::clamp(first + at, 0.0, static_cast<double>(extent)));
    };
    return std::pair{limited(std::floor(static_cast<double>(bin) * size)),
                     limited(std::ceil(static_cast<double>(bin + 1) * size))};
  };
  for (int64_t i = 0; i < y.ElementCount(); ++i) {
    const int64_t bx = i % bins_x, by = i / bins_x % bins_y;
    const int64_t c = i / (bins_x * bins_y) % channels, r = i / (bins_x * bins_y * channels);
    const double* region = &regions[5 * r];
    const auto [top, bottom] = bounds(region[2], region[4], by, bins_y, height);
    const auto [left, right] = bounds(region[1], region[3], bx, bins_x, width);
    double largest = top < bottom && left < right ? -INFINITY : 0;
    for (int64_t row = top; row < bottom; ++row) {
      for (int64_t column = left; column < right; ++column) {
        const auto image = static_cast<int64_t>(region[0]) * channels + c;
        largest = std::max(largest, x.Get((image * height + row) * width + column));
      }
    }
    EXPECT_EQ(y.Get(i), largest) << i;
  }
}

/// Without offsets a deformable convolution is a convolution; an offset of one element shifts it.
TEST(DeformConv, FollowsItsOffsets) {
  const HostTensor x = RandomTensor({1, 4, 6, 6}, 1), w = RandomTensor({6, 4, 3, 3}, 2);
  const auto deformed = [&](double dy) {
    std::vector<double> offsets;
    for (int tap = 0; tap < 9; ++tap) {
      for (int axis = 0; axis < 2; ++axis) offsets.insert(offsets.end(), 16, axis == 0 ? dy : 0);
    }
    return RunOperator(
        {.op = "DeformConv", .inputs = {x, w, Floats({1, 18, 4, 4}, offsets)}, .opset = 19})[0];
  };
  const HostTensor plain = RunOperator({.op = "Conv", .inputs = {x, w}})[0];
  const HostTensor same = deformed(0), shifted = deformed(1);
  for (int64_t i = 0; i < plain.ElementCount(); ++i) {
    EXPECT_NEAR(same.Get(i), plain.Get(i), 1e-4);
    const bool inside = i / 4 % 4 < 3;
    if (inside) {
      EXPECT_NEAR(shifted.Get(i), plain.Get(i + 4), 1e-4);
    }
  }
}

}  // namespace
}  // namespace bayloom::graph
