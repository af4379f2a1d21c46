// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;
using Exprs = GraphBuilder::Exprs;

int CountOf(const Graph& graph, ExprOp op) {
  int count = 0;
  for (const Node& node : graph.nodes) {
    tensor::Visit(node.stage.value, [&](const Expr& e) { count += e->op == op ? 1 : 0; });
  }
  return count;
}

Expr Root(const Expr& e) { return tensor::Unary(ExprOp::kSqrt, tensor::Unary(ExprOp::kAbs, e)); }

/// y[i, j] = x[i, j] / divisor(place) + x[i, j]
Graph Quotients(int64_t columns,
                const std::function<Expr(const tensor::Tensor&, const Exprs&)>& by) {
  GraphBuilder b("quotients");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {7, columns});
  const tensor::Tensor of = b.Input("of", tensor::DType::kFloat32, {7, columns});
  const tensor::Tensor y =
      b.Map("y", {7, columns}, [&](const Exprs& s) { return x.At(s) / by(of, s) + x.At(s); });
  return b.Build({{"y", y.id()}});
}

TEST(MultiplyByInverses, OfRootsThatRowsHaveInCommon) {
  const auto of_row = [](const tensor::Tensor& of, const Exprs& s) {
    return Root(of.At({s[0], Expr(0)}));
  };
  const Graph graph = CheckedPass(MultiplyByInverses, Quotients(13, of_row));
  EXPECT_EQ(CountOf(graph, ExprOp::kMul), 1) << Print(graph);
  const Graph column = CheckedPass(MultiplyByInverses, Quotients(1, of_row));
  EXPECT_EQ(CountOf(column, ExprOp::kMul), 0) << "a row of one element has nothing to share";
}

TEST(MultiplyByInverses, OtherDivisionsStay) {
  const auto of_element = [](const tensor::Tensor& of, const Exprs& s) { return Root(of.At(s)); };
  EXPECT_EQ(CountOf(CheckedPass(MultiplyByInverses, Quotients(13, of_element)), ExprOp::kMul), 0);
  const auto of_scale = [](const tensor::Tensor& of, const Exprs& s) {
    return tensor::Unary(ExprOp::kAbs, of.At({s[0], Expr(0)}));
  };
  EXPECT_EQ(CountOf(CheckedPass(MultiplyByInverses, Quotients(13, of_scale)), ExprOp::kMul), 0);
}

}  // namespace
}  // namespace bayloom::graph
