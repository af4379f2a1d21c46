// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::Reduction;
using Exprs = GraphBuilder::Exprs;
using Shape = std::vector<int64_t>;

tensor::Tensor ExtremeOf(GraphBuilder& b, const tensor::Tensor& x, Reduction reduction) {
  std::vector<GraphBuilder::Axis> axes;
  for (int64_t extent : x.shape()) axes.push_back({"r", extent});
  return b.Reduce("extreme", {}, axes, reduction,
                  [&](const Exprs&, const Exprs& r) { return x.At(r); });
}

/// The range of a tensor, and what the tensor is relative to it.
Graph RangeOf(const Shape& shape) {
  GraphBuilder b("range");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, shape);
  const tensor::Tensor low = ExtremeOf(b, x, Reduction::kMin);
  const tensor::Tensor high = ExtremeOf(b, x, Reduction::kMax);
  const tensor::Tensor range = b.Map("range", {}, [&](const Exprs&) { return high() - low(); });
  const tensor::Tensor y =
      b.Map("y", shape, [&](const Exprs& s) { return (x.At(s) - low()) / range(); });
  return b.Build({{"range", range.id()}, {"y", y.id()}});
}

int Wholes(const Graph& graph, int64_t points) {
  int count = 0;
  for (const Node& node : graph.nodes) {
    int64_t all = 1;
    for (const tensor::Iter& iter : node.stage.iters) all *= iter.extent;
    count += node.kind == NodeKind::kReduce && all == points ? 1 : 0;
  }
  return count;
}

TEST(JoinExtremes, ComputesTheSame) {
  for (const Shape& shape : {Shape{344, 768}, Shape{1, 409, 641}, Shape{13, 9, 748, 3},
                             Shape{257, 1031}, Shape{512, 1, 1, 600}}) {
    CheckedPass(JoinExtremes, RangeOf(shape));
    CheckedPass(ArrangeMemory, RangeOf(shape));
  }
}

TEST(JoinExtremes, BothOfARowAreOneTask) {
  const Graph graph = CheckedPass(ArrangeMemory, RangeOf({344, 768}));
  EXPECT_EQ(OpsOf(graph), "extreme.rows, extreme.rows, bounds, extremes, range, y");
  const TaskGraph tasks = ExtractTasks(graph);
  ASSERT_EQ(tasks.calls.size(), 4U) << Print(tasks);
  EXPECT_EQ(tasks.calls[0].nodes.size(), 3U) << Print(tasks);
}

TEST(JoinExtremes, LeavesSmallTensorsAndRowsOfOtherLengths) {
  for (const Shape& shape : {Shape{768}, Shape{24, 768}, Shape{16, 20000}, Shape{2000, 401}}) {
    int64_t points = 1;
    for (int64_t extent : shape) points *= extent;
    EXPECT_EQ(Wholes(CheckedPass(JoinExtremes, RangeOf(shape)), points), 2);
  }
}

TEST(JoinExtremes, ExtremesOfDifferentTensorsStay) {
  GraphBuilder b("two");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {440, 600});
  const tensor::Tensor z = b.Input("z", DType::kFloat32, {440, 600});
  const tensor::Tensor low = ExtremeOf(b, x, Reduction::kMin);
  const tensor::Tensor high = ExtremeOf(b, z, Reduction::kMax);
  const Graph graph = b.Build({{"low", low.id()}, {"high", high.id()}});
  EXPECT_EQ(OpsOf(CheckedPass(JoinExtremes, graph)), "extreme, extreme");
}

TEST(JoinExtremes, ResultsMayBeOutputs) {
  GraphBuilder b("outputs");
  const tensor::Tensor x = b.Input("x", DType::kFloat32, {440, 600});
  const tensor::Tensor high = ExtremeOf(b, x, Reduction::kMax);
  const tensor::Tensor low = ExtremeOf(b, x, Reduction::kMin);
  const Graph graph = CheckedPass(JoinExtremes, b.Build({{"low", low.id()}, {"high", high.id()}}));
  EXPECT_EQ(Wholes(graph, 440 * 600), 2);  // within the rows
}

/// Levels, scale and zero point as the standard defines them, bit by bit; compiled, too.
TEST(JoinExtremes, DynamicQuantizationOfRowsOfOddLengths) {
  for (const Shape& shape : {Shape{343, 768}, Shape{437, 601}, Shape{50, 9, 77, 9}}) {
    for (const double shift : {0.0, 3.0, -9.0}) {
      tensor::HostTensor x = RandomTensor(shape, 7);
      float low = 0, high = 0;
      for (int64_t i = 0; i < x.ElementCount(); ++i) {
        x.Set(i, static_cast<float>(x.Get(i) + shift));
        low = std::min(low, static_cast<float>(x.Get(i)));
        high = std::max(high, static_cast<float>(x.Get(i)));
      }
      const auto outputs = RunOperator(
          {.op = "DynamicQuantizeLinear", .inputs = {x}, .attributes = {}, .outputs = 3});
      const float scale = (high - low) / 255;
      EXPECT_EQ(outputs[1].Get(0), scale);
      const float zero = std::nearbyint(std::clamp(0 - low / scale, 0.0F, 255.0F));
      EXPECT_EQ(outputs[2].GetInt(0), static_cast<int64_t>(zero));
      for (int64_t i = 0; i < x.ElementCount(); ++i) {
        const float level = std::nearbyint(static_cast<float>(x.Get(i)) / scale) + zero;
        ASSERT_EQ(outputs[0].GetInt(i), static_cast<int64_t>(std::clamp(level, 0.0F, 255.0F)));
      }
    }
  }
}

}  // namespace
}  // namespace bayloom::graph
