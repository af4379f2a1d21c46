// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/small_models.h"

namespace bayloom::graph {
namespace {

/// Of one spatial axis.
struct Axis {
  int64_t in, kernel, stride, dilation = 1, low = 0, high = 0, extra = 0;

  int64_t out() const {
    return (in - 1) * stride + extra + (kernel - 1) * dilation + 1 - low - high;
  }
};

struct TransposedCase {
  int64_t groups, in, out;  ///< channels of a group
  std::vector<Axis> axes;
};

std::vector<int64_t> ExtentsOf(const TransposedCase& c, int64_t (*extent)(const Axis&)) {
  std::vector<int64_t> extents;
  for (const Axis& axis : c.axes) extents.push_back(extent(axis));
  return extents;
}

std::vector<int64_t> WithChannels(int64_t batch, int64_t channels, std::vector<int64_t> extents) {
  extents.insert(extents.begin(), {batch, channels});
  return extents;
}

int64_t InOf(const Axis& axis) { return axis.in; }
int64_t OutOf(const Axis& axis) { return axis.out(); }
int64_t KernelOf(const Axis& axis) { return axis.kernel; }

/// Calls `visit` with every index below the extents.
void ForEachIndex(const std::vector<int64_t>& extents,
                  const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> index(extents.size(), 0);
  for (;;) {
    visit(index);
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

int64_t FlatIndex(const std::vector<int64_t>& index, const std::vector<int64_t>& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
  return place;
}

/// Every input element adds the kernel, times itself, to the output.
tensor::HostTensor ReferenceOutput(const TransposedCase& c, const tensor::HostTensor& x,
                                   const std::vector<float>& weights,
                                   const std::vector<float>& bias) {
  const int64_t batch = x.shape[0];
  const std::vector<int64_t> shape = WithChannels(batch, c.groups * c.out, ExtentsOf(c, OutOf));
  std::vector<double> sums(
      tensor::HostTensor::Zeros(tensor::DType::kFloat32, shape).ElementCount());
  ForEachIndex(shape, [&](const auto& i) { sums[FlatIndex(i, shape)] = bias[i[1]]; });
  const std::vector<int64_t> taps = WithChannels(c.groups * c.in, c.out, ExtentsOf(c, KernelOf));
  ForEachIndex(x.shape, [&](const std::vector<int64_t>& from) {
    ForEachIndex(taps, [&](const std::vector<int64_t>& tap) {
      if (tap[0] != from[1]) return;
      std::vector<int64_t> to = {from[0], from[1] / c.in * c.out + tap[1]};
      for (size_t d = 0; d < c.axes.size(); ++d) {
        const Axis& axis = c.axes[d];
        to.push_back(from[d + 2] * axis.stride + tap[d + 2] * axis.dilation - axis.low);
        if (to.back() < 0 || to.back() >= axis.out()) return;
      }
      sums[FlatIndex(to, shape)] += x.Get(FlatIndex(from, x.shape)) * weights[FlatIndex(tap, taps)];
    });
  });
  tensor::HostTensor result = tensor::HostTensor::Zeros(tensor::DType::kFloat32, shape);
  for (int64_t i = 0; i < result.ElementCount(); ++i) result.Set(i, sums[i]);
  return result;
}

std::vector<float> RandomFloats(int64_t count, uint64_t seed) {
  const tensor::HostTensor random = RandomTensor({count}, seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.Get(i)));
  return values;
}

/// Imported, optimized and as tasks, it is what its definition says.
void ExpectTransposed(const TransposedCase& c) {
  constexpr int64_t kBatch = 2;
  models::GraphBuilder g("transposed", 13, 1);
  const std::vector<int64_t> taps = WithChannels(c.groups * c.in, c.out, ExtentsOf(c, KernelOf));
  int64_t tap_count = 1;
  for (int64_t extent : taps) tap_count *= extent;
  const std::vector<float> weights = RandomFloats(tap_count, 3);
  const std::vector<float> bias = RandomFloats(c.groups * c.out, 4);
  std::vector<int64_t> strides, dilations, pads, extra;
  for (const Axis& axis : c.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(axis.low);
    extra.push_back(axis.extra);
  }
  for (const Axis& axis : c.axes) pads.push_back(axis.high);
  const std::vector<int64_t> shape = WithChannels(kBatch, c.groups * c.in, ExtentsOf(c, InOf));
  const models::Value y = g.Node("ConvTranspose",
                                 {g.Input("x", shape), g.Constant("w", taps, weights),
                                  g.Constant("b", {c.groups * c.out}, bias)},
                                 {{"group", c.groups},
                                  {"strides", strides},
                                  {"dilations", dilations},
                                  {"pads", pads},
                                  {"output_padding", extra}});
  g.Output(y, WithChannels(kBatch, c.groups * c.out, ExtentsOf(c, OutOf)));
  const SmallModel model("transposed", std::move(g));
  const Graph graph = ImportOnnx(model.path());
  const tensor::HostTensor x = RandomTensor(shape, 2);
  const tensor::HostTensor expected = ReferenceOutput(c, x, weights, bias);
  EXPECT_EQ(Difference(EvaluateGraph(graph, {x})[0], expected, 1e-4, 1e-4), "");
  Graph optimized = graph;
  Optimize(optimized);
  const TaskGraph tasks = ExtractTasks(std::move(optimized));
  EXPECT_EQ(Difference(InterpretTasks(tasks, {x})[0], expected, 1e-4, 1e-4), "");
}

TEST(ConvTranspose, StridesAndKernelsOfAllRelations) {
  for (int64_t kernel = 1; kernel <= 5; ++kernel) {
    for (int64_t stride = 1; stride <= 4; ++stride) {
      ExpectTransposed({1, 2, 3, {{4, kernel, stride}}});
      if (kernel > 2) ExpectTransposed({1, 2, 3, {{4, kernel, stride, 1, 1, 2}}});
      if (stride > 1) ExpectTransposed({1, 2, 3, {{3, kernel, stride, 1, 0, 0, 1}}});
    }
  }
}

TEST(ConvTranspose, PaddingLargerThanAKernelsReach) {
  ExpectTransposed({1, 2, 2, {{6, 2, 2, 1, 5, 3}}});
  ExpectTransposed({1, 2, 2, {{6, 3, 2, 1, 4, 4, 1}}});
}

TEST(ConvTranspose, ImagesAndVolumes) {
  ExpectTransposed({1, 3, 2, {{4, 4, 2, 1, 1, 1}, {3, 2, 2}}});
  ExpectTransposed({1, 2, 2, {{3, 3, 2, 1, 1, 1, 1}, {4, 3, 3}}});
  ExpectTransposed({1, 2, 2, {{2, 2, 2}, {3, 3, 2, 1, 1, 0}, {2, 1, 1}}});
}

TEST(ConvTranspose, Groups) {
  ExpectTransposed({2, 2, 3, {{4, 4, 2, 1, 1, 1}, {3, 2, 2}}});
  ExpectTransposed({3, 1, 1, {{4, 3, 2, 1, 1, 1, 1}}});
}

TEST(ConvTranspose, Dilation) {
  ExpectTransposed({1, 2, 3, {{4, 3, 2, 2, 1, 1}}});
  ExpectTransposed({2, 1, 2, {{4, 2, 1, 3}, {3, 3, 2}}});
}

}  // namespace
}  // namespace bayloom::graph
