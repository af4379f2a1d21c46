// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

// --- FoldConstants -----------------------------------------------------------------------------

/// How many values of the graph are constants that some node reads.
int ConstantsRead(const Graph& graph) {
  int count = 0;
  const auto consumers = graph.Consumers();
  for (size_t v = 0; v < graph.values.size(); ++v) {
    count += graph.values[v].constant != nullptr && !consumers[v].empty();
  }
  return count;
}

TEST(FoldConstants, ComputesWhatDependsOnConstantsOnly) {
  GraphBuilder b("fold");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 6});
  const tensor::Tensor mean = b.Constant("mean", RandomTensor({6}, 1));
  const tensor::Tensor variance = b.Constant("variance", RandomTensor({6}, 2));
  const tensor::Tensor y = b.Map("normalize", {4, 6}, [&](const auto& i) {
    const tensor::Expr deviation = variance(i[1]) * variance(i[1]) + tensor::FloatLiteral(1);
    return (x.At(i) - mean(i[1])) * (mean(i[1]) / deviation);
  });
  const Graph graph = CheckedPass(FoldConstants, b.Build({{"y", y.id()}}));
  EXPECT_EQ(ConstantsRead(graph), 2) << "the mean and one vector of factors";
}

TEST(FoldConstants, MakesSingleElementsLiterals) {
  GraphBuilder b("literal");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4});
  const tensor::Tensor one = b.Constant("scale", RandomTensor({1, 1}, 1));
  const tensor::Tensor y = b.Map(
      "scale", {4}, [&](const auto& i) { return x(i[0]) * one(tensor::Expr(0), tensor::Expr(0)); });
  EXPECT_EQ(ConstantsRead(CheckedPass(FoldConstants, b.Build({{"y", y.id()}}))), 0);
}

TEST(FoldConstants, DoesNotReadMoreMemoryThanBefore) {
  GraphBuilder b("outer");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {64, 64});
  const tensor::Tensor rows = b.Constant("rows", RandomTensor({64}, 1));
  const tensor::Tensor columns = b.Constant("columns", RandomTensor({64}, 2));
  const tensor::Tensor y =
      b.Map("outer", {64, 64}, [&](const auto& i) { return x.At(i) + rows(i[0]) * columns(i[1]); });
  EXPECT_EQ(ConstantsRead(CheckedPass(FoldConstants, b.Build({{"y", y.id()}}))), 2)
      << "the products would be 64 times as many numbers";
}

// --- FoldScales --------------------------------------------------------------------------------

/// A product and what a normalization does with it; `scale` and `shift` per column.
class FoldScalesTest : public ::testing::Test {
 protected:
  Graph Folded(const tensor::Tensor& y) {
    return CheckedPass(
        [](Graph& graph) {
          FoldScales(graph);
          InlineElementwise(graph);
        },
        b_.Build({{"y", y.id()}}));
  }

  /// Multiplications outside of sums.
  static int ScalesLeft(const Graph& graph) {
    int scales = 0;
    for (const Node& node : graph.nodes) {
      if (node.kind != NodeKind::kMap) continue;
      tensor::Visit(node.stage.value, [&](const tensor::Expr& e) {
        scales += e->op == tensor::ExprOp::kMul || e->op == tensor::ExprOp::kDiv;
      });
    }
    return scales;
  }

  GraphBuilder b_{"scales"};
  tensor::Tensor x_ = b_.Input("x", tensor::DType::kFloat32, {5, 4});
  tensor::Tensor product_ = Multiply(b_, x_, b_.Constant("w", RandomTensor({4, 6}, 1)));
  tensor::Tensor scale_ = b_.Constant("scale", RandomTensor({6}, 2));
  tensor::Tensor shift_ = b_.Constant("shift", RandomTensor({6}, 3));
};

TEST_F(FoldScalesTest, BatchNormalizationGoesIntoTheWeights) {
  const tensor::Tensor y = b_.Map("norm", {5, 6}, [&](const auto& i) {
    return (product_.At(i) - shift_(i[1])) * scale_(i[1]) / tensor::FloatLiteral(3) + shift_(i[1]);
  });
  Graph graph = Folded(Relu(b_, y));
  EXPECT_EQ(ScalesLeft(graph), 2) << "of the shift";
  FoldConstants(graph);
  EXPECT_EQ(ScalesLeft(graph), 0);
}

TEST_F(FoldScalesTest, SeveralNodesInARow) {
  const tensor::Tensor centred =
      b_.Map("sub", {5, 6}, [&](const auto& i) { return product_.At(i) - shift_(i[1]); });
  const tensor::Tensor scaled =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return centred.At(i) * scale_(i[1]); });
  Graph graph = Folded(Relu(b_, scaled));
  FoldConstants(graph);
  EXPECT_EQ(ScalesLeft(graph), 0);
}

TEST_F(FoldScalesTest, WhatScalesRowsOrComesFromOutsideStays) {
  const tensor::Tensor rows = b_.Constant("rows", RandomTensor({5}, 4));
  const tensor::Tensor by_row =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return product_.At(i) * rows(i[0]); });
  const tensor::Tensor input = b_.Input("s", tensor::DType::kFloat32, {6});
  const tensor::Tensor by_input =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return by_row.At(i) * input(i[1]); });
  EXPECT_EQ(ScalesLeft(Folded(by_input)), 2);
}

TEST_F(FoldScalesTest, AProductThatIsSeenElsewhereStays) {
  const tensor::Tensor y =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return product_.At(i) * scale_(i[1]); });
  const Graph graph =
      CheckedPass(FoldScales, b_.Build({{"product", product_.id()}, {"y", y.id()}}));
  EXPECT_EQ(ScalesLeft(graph), 1);
}

}  // namespace
}  // namespace bayloom::graph
