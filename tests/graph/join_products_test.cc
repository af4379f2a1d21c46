// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kRows = 16, kDepth = 24, kColumns = 32;

/// Products of matrices with constants, and readers of them.
class JoinProductsTest : public ::testing::Test {
 protected:
  tensor::Tensor Random(std::vector<int64_t> shape) {
    return b_.Constant("w", RandomTensor(std::move(shape), ++seed_));
  }

  tensor::Tensor Product(const tensor::Tensor& x, int64_t columns = kColumns) {
    return Multiply(b_, x, Random({x.shape()[1], columns}));
  }

  tensor::Tensor PlusBias(const tensor::Tensor& x) {
    const tensor::Tensor bias = Random({x.shape()[1]});
    return b_.Map("add", x.shape(), [&](const auto& i) { return x.At(i) + bias(i[1]); });
  }

  /// What no pass takes for elementwise work behind the value.
  tensor::Tensor Read(const tensor::Tensor& x) {
    return b_.Map("reverse", x.shape(),
                  [&](const auto& i) { return x(tensor::Expr(x.shape()[0] - 1) - i[0], i[1]); });
  }

  /// The graph after the pass; compiled it computes what it did before.
  Graph Joined(const std::vector<tensor::Tensor>& outputs) {
    std::vector<GraphOutput> named;
    for (const tensor::Tensor& output : outputs) named.push_back({"y", output.id()});
    const Graph graph = CheckedPass(JoinProducts, b_.Build(named));
    const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(graph, inputs);
    const std::vector<tensor::HostTensor> compiled = RunCompiled(ExtractTasks(graph), inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(Difference(compiled[i], expected[i], 1e-4, 1e-3), "");
    }
    return graph;
  }

  static int Count(const Graph& graph, NodeKind kind) {
    int count = 0;
    for (const Node& node : graph.nodes) count += node.kind == kind;
    return count;
  }

  GraphBuilder b_{"joined"};
  tensor::Tensor x_ = b_.Input("x", tensor::DType::kFloat32, {kRows, kDepth});
  uint64_t seed_ = 0;
};

TEST_F(JoinProductsTest, ProductsOfOneMatrixAreOne) {
  const Graph graph = Joined(
      {Read(PlusBias(Product(x_))), Read(PlusBias(Product(x_))), Read(PlusBias(Product(x_)))});
  EXPECT_EQ(Count(graph, NodeKind::kMatmul), 1);
  EXPECT_EQ(Count(graph, NodeKind::kSlice), 3);
  EXPECT_EQ(ExtractTasks(graph).calls.size(), 4u) << "the product with its biases, three readers";
  const Node& product = graph.nodes[0];
  EXPECT_EQ(graph.values[product.output()].shape, (std::vector<int64_t>{3, kRows, kColumns}));
}

TEST_F(JoinProductsTest, WhatAllPartsReadStaysAsItIs) {
  const tensor::Tensor bias = Random({kColumns});
  const tensor::Tensor rows = b_.Input("rows", tensor::DType::kFloat32, {kRows, kColumns});
  const auto both = [&](const tensor::Tensor& x) {
    return b_.Map("add", x.shape(),
                  [&](const auto& i) { return x.At(i) * rows.At(i) + bias(i[1]); });
  };
  const Graph graph = Joined({Read(both(Product(x_))), Read(both(Product(x_)))});
  EXPECT_EQ(Count(graph, NodeKind::kMatmul), 1);
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    EXPECT_TRUE(value.shape.size() == 3 || value.shape.size() == 1);
  }
}

TEST_F(JoinProductsTest, ProductsThatDifferStayApart) {
  const tensor::Tensor other = b_.Input("other", tensor::DType::kFloat32, {kRows, kDepth});
  const Graph graph =
      Joined({Read(PlusBias(Product(x_))), Read(PlusBias(Product(x_, 2 * kColumns))),
              Read(PlusBias(Product(other))), Read(Relu(b_, Product(x_))), Read(Product(x_))});
  EXPECT_EQ(Count(graph, NodeKind::kMatmul), 5);
  EXPECT_EQ(Count(graph, NodeKind::kSlice), 0);
}

TEST_F(JoinProductsTest, ProductsThatTheNextOneCanTakeInStayApart) {
  const tensor::Tensor gate = Product(x_), up = Product(x_);
  const tensor::Tensor gated =
      b_.Map("mul", gate.shape(), [&](const auto& i) { return gate.At(i) * up.At(i); });
  EXPECT_EQ(Count(Joined({gated}), NodeKind::kMatmul), 2);
}

TEST_F(JoinProductsTest, ProductsThatAreTransposedStayApart) {
  const auto transposed = [&](const tensor::Tensor& x) {
    return b_.Map("transpose", {x.shape()[1], x.shape()[0]},
                  [&](const auto& i) { return x(i[1], i[0]); });
  };
  EXPECT_EQ(Count(Joined({transposed(Product(x_)), transposed(Product(x_))}), NodeKind::kMatmul), 2)
      << "the transposition can be done by the product";
}

TEST_F(JoinProductsTest, OutputsStayTensorsOfTheirOwn) {
  EXPECT_EQ(Count(Joined({Product(x_), PlusBias(Product(x_)), Read(PlusBias(Product(x_)))}),
                  NodeKind::kMatmul),
            3);
}

TEST_F(JoinProductsTest, PartsBeginWhereKernelsMayRead) {
  const tensor::Tensor row = b_.Input("row", tensor::DType::kFloat32, {1, kDepth});
  const Graph graph = Joined({Read(Product(row, 40)), Read(Product(row, 40)),
                              Read(Product(row, 64)), Read(Product(row, 64))});
  EXPECT_EQ(Count(graph, NodeKind::kMatmul), 3) << "40 float32 are no multiple of 64 bytes";
}

TEST_F(JoinProductsTest, PartsMayBeStoredNarrow) {
  const tensor::Tensor a = Product(x_), b = Product(x_);
  Graph graph = b_.Build({{"y", Product(Read(a)).id()}, {"z", Product(Read(b)).id()}});
  Optimize(graph, {tensor::DType::kFloat16});
  JoinProducts(graph);
  EXPECT_EQ(Count(graph, NodeKind::kSlice), 2);
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::kSlice) continue;
    EXPECT_EQ(graph.values[node.output()].dtype, node.stage.value->dtype);
  }
}

}  // namespace
}  // namespace bayloom::graph
