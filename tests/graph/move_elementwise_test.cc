// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::Reduction;
using tensor::Tensor;
using Exprs = GraphBuilder::Exprs;

/// An image of windows x windows windows of size x size places.
struct Image {
  int64_t windows, size, channels;
  int64_t Extent() const { return windows * size; }
  int64_t Places() const { return Extent() * Extent(); }
  std::vector<int64_t> Shape() const { return {1, Extent(), Extent(), channels}; }
};

Tensor Transposed(GraphBuilder& b, const Tensor& x, const std::vector<int>& order) {
  std::vector<int64_t> shape;
  for (int axis : order) shape.push_back(x.shape()[axis]);
  return b.Map("transpose", shape, [&](const Exprs& s) {
    Exprs place(s.size());
    for (size_t d = 0; d < s.size(); ++d) place[order[d]] = s[d];
    return x.At(place);
  });
}

/// [windows^2 * size^2, channels]
Tensor CutIntoWindows(GraphBuilder& b, const Tensor& x, const Image& image) {
  const int64_t w = image.windows, s = image.size, c = image.channels;
  const Tensor parts = b.View(x, {1, w, s, w, s, c});
  return b.View(Transposed(b, parts, {0, 1, 3, 2, 4, 5}), {image.Places(), c});
}

Tensor JoinWindows(GraphBuilder& b, const Tensor& x, const Image& image) {
  const int64_t w = image.windows, s = image.size, c = image.channels;
  const Tensor parts = b.View(x, {1, w, w, s, s, c});
  return b.View(Transposed(b, parts, {0, 1, 3, 2, 4, 5}), image.Shape());
}

/// Rows less their mean.
Tensor Centered(GraphBuilder& b, const Tensor& x) {
  const int64_t channels = x.shape().back();
  const Tensor sum =
      b.Reduce("sum", {1, x.shape()[1], x.shape()[2]}, {{"c", channels}}, Reduction::kSum,
               [&](const Exprs& s, const Exprs& r) { return x(s[0], s[1], s[2], r[0]); });
  return b.Map("centered", x.shape(), [&](const Exprs& s) {
    return x.At(s) -
           sum(s[0], s[1], s[2]) * tensor::FloatLiteral(1.0 / static_cast<double>(channels));
  });
}

Tensor Dense(GraphBuilder& b, const Tensor& x, int64_t columns, uint64_t seed) {
  return Multiply(b, x, b.Constant("w", RandomTensor({x.shape()[1], columns}, seed)));
}

/// A block of a vision transformer as far as windows go.
Graph Block(const Image& image) {
  GraphBuilder b("block");
  const Tensor x = b.Input("x", DType::kFloat32, image.Shape());
  const Tensor inside = Dense(b, CutIntoWindows(b, Centered(b, x), image), image.channels, 1);
  const Tensor back = JoinWindows(b, inside, image);
  const Tensor sum = b.Map("add", x.shape(), [&](const Exprs& s) { return back.At(s) + x.At(s); });
  return b.Build({{"y", sum.id()}});
}

int Moves(const Graph& graph) {
  return static_cast<int>(std::ranges::count_if(graph.nodes, IsMove));
}

TEST(MoveElementwise, WindowsAreIndexArithmeticOfTheirNeighbours) {
  for (const Image& image : {Image{2, 3, 8}, Image{3, 7, 5}, Image{1, 4, 16}, Image{5, 2, 1}}) {
    const Graph model = Block(image);
    const Graph graph = CheckedPass([](Graph& g) { Optimize(g); }, model);
    if (image.windows > 1 && image.channels > 1) {
      EXPECT_EQ(Moves(graph), 0) << Print(graph);
    }
    const TaskGraph tasks = ExtractTasks(graph);
    if (image.windows > 1 && image.channels > 1) {
      EXPECT_EQ(tasks.calls.size(), 3U) << Print(tasks);
    }
    const auto inputs = RandomInputs(model);
    const auto expected = InterpretTasks(ExtractTasks(model), inputs),
               actual = RunCompiled(tasks, inputs);
    for (int64_t i = 0; i < expected[0].ElementCount(); ++i) {
      ASSERT_NEAR(actual[0].Get(i), expected[0].Get(i), 1e-4);
    }
  }
}

/// What others read, too, is moved as before, and so is what a product computes.
TEST(MoveElementwise, NothingIsComputedTwice) {
  const Image image{2, 3, 8};
  GraphBuilder b("two");
  const Tensor x = b.Input("x", DType::kFloat32, image.Shape());
  const Tensor centered = Centered(b, x);
  const Tensor y = Dense(b, CutIntoWindows(b, centered, image), 4, 1);
  const Graph graph =
      CheckedPass(MoveElementwise, b.Build({{"centered", centered.id()}, {"y", y.id()}}));
  EXPECT_EQ(Moves(graph), 1) << Print(graph);
}

TEST(MoveElementwise, ColumnsAreMovedAsBefore) {
  GraphBuilder b("columns");
  const Tensor x = b.Input("x", DType::kFloat32, {6, 10});
  const Tensor exp = b.Map(
      "exp", {6, 10}, [&](const Exprs& s) { return tensor::Unary(tensor::ExprOp::kExp, x.At(s)); });
  const Tensor y = Transposed(b, exp, {1, 0});
  EXPECT_EQ(Moves(CheckedPass(MoveElementwise, b.Build({{"y", y.id()}}))), 1);
}

}  // namespace
}  // namespace bayloom::graph
