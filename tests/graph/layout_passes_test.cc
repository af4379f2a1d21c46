// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

int CountViews(const Graph& graph) {
  int views = 0;
  for (const Node& node : graph.nodes) views += node.kind == NodeKind::kView;
  return views;
}

const Node& FirstAnchor(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.kind == NodeKind::kWindow || node.kind == NodeKind::kMatmul) return node;
  }
  throw std::logic_error("no anchor");
}

// --- ConvertLayouts ----------------------------------------------------------------------------

TEST(ConvertLayouts, ConvolutionsGetTheirChannelsLast) {
  GraphBuilder b("conv");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {2, 3, 6, 7});
  const tensor::Tensor w = b.Constant("w", RandomTensor({8, 3, 3, 3}, 1));
  const tensor::Tensor y = ConvolveChannelsFirst(b, x, w);
  const Graph graph = CheckedPass(ConvertLayouts, b.Build({{"y", y.id()}}));
  EXPECT_EQ(OpsOf(graph), "transpose, conv, transpose") << "input and output keep their order";
  const Node& conv = FirstAnchor(graph);
  EXPECT_EQ(graph.values[conv.output()].shape, (std::vector<int64_t>{2, 4, 5, 8}));
  for (ValueId operand : OperandsOf(conv)) {
    if (!graph.values[operand].constant) continue;
    EXPECT_EQ(graph.values[operand].shape, (std::vector<int64_t>{3, 3, 3, 8}));
  }
}

TEST(ConvertLayouts, WhatIsBetweenConvolutionsFollows) {
  GraphBuilder b("convs");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {1, 3, 8, 8});
  const tensor::Tensor first =
      Relu(b, ConvolveChannelsFirst(b, x, b.Constant("w", RandomTensor({8, 3, 3, 3}, 1))));
  const tensor::Tensor bias = b.Constant("bias", RandomTensor({8}, 2));
  const tensor::Tensor biased =
      b.Map("add", first.shape(), [&](const auto& i) { return first.At(i) + bias(i[1]); });
  const tensor::Tensor y =
      ConvolveChannelsFirst(b, biased, b.Constant("v", RandomTensor({4, 8, 3, 3}, 3)));
  EXPECT_EQ(OpsOf(CheckedPass(ConvertLayouts, b.Build({{"y", y.id()}}))),
            "transpose, conv, relu, add, conv, transpose");
}

TEST(ConvertLayouts, ProductsGetTheirLastAxisContiguous) {
  GraphBuilder b("product");
  const tensor::Tensor a = b.Input("a", tensor::DType::kFloat32, {4, 5});
  const tensor::Tensor w = b.Constant("w", RandomTensor({6, 5}, 1));  // as Gemm's transB has it
  const tensor::Tensor y = b.Reduce(
      "matmul", {4, 6}, {{"k", 5}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) { return a(s[0], r[0]) * w(s[1], r[0]); },
      NodeKind::kMatmul);
  const Graph graph = CheckedPass(ConvertLayouts, b.Build({{"y", y.id()}}));
  EXPECT_EQ(OpsOf(graph), "matmul") << "a constant is reordered now, not at run time";
  for (ValueId operand : OperandsOf(FirstAnchor(graph))) {
    if (!graph.values[operand].constant) continue;
    EXPECT_EQ(graph.values[operand].shape, (std::vector<int64_t>{5, 6}));
  }
}

// --- RemoveCopies ------------------------------------------------------------------------------

TEST(RemoveCopies, NodesThatPassTheirOperandOnDisappear) {
  GraphBuilder b("copies");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 1, 6});
  const tensor::Tensor same = b.Map("identity", {4, 1, 6}, [&](const auto& i) { return x.At(i); });
  const tensor::Tensor moved =
      b.Map("transpose", {1, 4, 6}, [&](const auto& i) { return x(i[1], i[0], i[2]); });
  const tensor::Tensor swapped =
      b.Map("transpose", {6, 1, 4}, [&](const auto& i) { return x(i[2], i[1], i[0]); });
  const tensor::Tensor a = Relu(b, same), c = Relu(b, moved), d = Relu(b, swapped);
  const Graph graph =
      CheckedPass(RemoveCopies, b.Build({{"a", a.id()}, {"c", c.id()}, {"d", d.id()}}));
  EXPECT_EQ(OpsOf(graph), "view, transpose, relu, relu, relu")
      << "moving an extent of 1 moves nothing";
}

/// Products of a tensor that each divide it by its maximum first.
TEST(RemoveCopies, EqualNodesAreOneWhereTheirElementsTakeLong) {
  const auto ops = [](bool divides) {
    GraphBuilder b("net");
    const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {6, 8});
    std::vector<GraphOutput> outputs;
    for (const char* name : {"y", "z"}) {
      const tensor::Tensor most =
          b.Reduce("max", {}, {{"i", 6}, {"j", 8}}, tensor::Reduction::kMax,
                   [&](const auto&, const auto& r) { return x(r[0], r[1]); });
      const tensor::Tensor scaled = b.Map("scale", {6, 8}, [&](const auto& s) {
        return divides ? x.At(s) / most() : x.At(s) - most();
      });
      const tensor::Tensor w = b.Constant("w", RandomTensor({8, 3}, outputs.size()));
      outputs.push_back({name, Multiply(b, scaled, w).id()});
    }
    return OpsOf(CheckedPass(RemoveCopies, b.Build(outputs)));
  };
  EXPECT_EQ(ops(true), "max, scale, matmul, matmul");
  EXPECT_EQ(ops(false), "max, scale, matmul, scale, matmul");
}

TEST(RemoveCopies, ViewsOfViewsAndEqualViewsAreOne) {
  GraphBuilder b("views");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 6});
  const tensor::Tensor twice = b.View(b.View(x, {24}), {2, 12}), once = b.View(x, {2, 12});
  const tensor::Tensor y =
      b.Map("add", {2, 12}, [&](const auto& i) { return twice.At(i) + once.At(i); });
  EXPECT_EQ(OpsOf(CheckedPass(RemoveCopies, b.Build({{"y", y.id()}}))), "view, add");

  GraphBuilder there_and_back("views");
  const tensor::Tensor in = there_and_back.Input("x", tensor::DType::kFloat32, {4, 6});
  const tensor::Tensor back = there_and_back.View(there_and_back.View(in, {24}), {4, 6});
  const tensor::Tensor z = Relu(there_and_back, back);
  EXPECT_EQ(CountViews(CheckedPass(RemoveCopies, there_and_back.Build({{"z", z.id()}}))), 0);
}

// --- NormalizeViews ----------------------------------------------------------------------------

TEST(NormalizeViews, ElementwiseNodesBehindAnAnchorComputeInItsShape) {
  GraphBuilder b("sink");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {6, 4});
  const tensor::Tensor product = Multiply(b, x, b.Constant("w", RandomTensor({4, 8}, 1)));
  const tensor::Tensor y = Relu(b, b.View(product, {2, 3, 8}));
  const Graph graph = CheckedPass(NormalizeViews, b.Build({{"y", y.id()}}));
  EXPECT_EQ(OpsOf(graph), "matmul, relu, view");
  EXPECT_EQ(graph.values[graph.nodes[1].output()].shape, (std::vector<int64_t>{6, 8}));
}

TEST(NormalizeViews, ReductionsBehindAnAnchorToo) {
  GraphBuilder b("rows");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {6, 4});
  const tensor::Tensor product = Multiply(b, x, b.Constant("w", RandomTensor({4, 8}, 1)));
  const tensor::Tensor view = b.View(product, {2, 3, 8});
  const tensor::Tensor y =
      b.Reduce("max", {2, 3}, {{"k", 8}}, tensor::Reduction::kMax,
               [&](const auto& s, const auto& r) { return view(s[0], s[1], r[0]); });
  const Graph graph = CheckedPass(NormalizeViews, b.Build({{"y", y.id()}}));
  EXPECT_EQ(OpsOf(graph), "matmul, max, view");
}

TEST(NormalizeViews, NodesWantedUnderFewerDimensionsComputeThat) {
  GraphBuilder b("hoist");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {2, 3, 4});
  const tensor::Tensor rows = b.View(Relu(b, x), {6, 4});
  const tensor::Tensor y = Multiply(b, rows, b.Constant("w", RandomTensor({4, 5}, 1)));
  const Graph graph = CheckedPass(NormalizeViews, b.Build({{"y", y.id()}}));
  EXPECT_EQ(OpsOf(graph), "view, relu, matmul");
  EXPECT_EQ(graph.values[graph.nodes[1].output()].shape, (std::vector<int64_t>{6, 4}));
}

}  // namespace
}  // namespace bayloom::graph
