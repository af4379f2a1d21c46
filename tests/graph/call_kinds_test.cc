// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/call_kinds.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Tensor;

/// Of a network of one task.
CallKind KindOfOnly(GraphBuilder& b, const Tensor& output) {
  const TaskGraph network = ExtractTasks(b.Build({{"y", output.id()}}));
  EXPECT_EQ(network.calls.size(), 1u);
  return KindOf(network.graph, network.calls[0]);
}

TEST(CallKinds, ProductsWithWhatIsFusedToThem) {
  GraphBuilder b("product");
  const Tensor x = b.Input("x", DType::kFloat32, {1, 6, 6, 4});
  const Tensor w = b.Constant("w", RandomTensor({3, 3, 4, 8}, 1));
  EXPECT_EQ(KindOfOnly(b, Relu(b, Convolve(b, x, w))), CallKind::kProduct);
}

TEST(CallKinds, PaddedTranspositionsOnlyMove) {
  GraphBuilder b("move");
  const Tensor x = b.Input("x", DType::kFloat32, {4, 6});
  const Tensor y = b.Map("transpose", {8, 4}, [&](const auto& s) {
    return tensor::Select(s[0] < tensor::Expr(6), x(s[1], s[0]), tensor::FloatLiteral(0));
  });
  EXPECT_EQ(KindOfOnly(b, y), CallKind::kMove);
}

TEST(CallKinds, ArithmeticAndPoolsAreNeither) {
  GraphBuilder b("arithmetic");
  EXPECT_EQ(KindOfOnly(b, Relu(b, b.Input("x", DType::kFloat32, {4, 6}))), CallKind::kOther);
  for (const tensor::Reduction reduction : {tensor::Reduction::kMax, tensor::Reduction::kSum}) {
    GraphBuilder c("pool");
    const Tensor x = c.Input("x", DType::kFloat32, {1, 6, 6, 4});
    const Tensor pooled = c.Reduce(
        "pool", {1, 4, 4, 4}, {{"h", 3}, {"w", 3}}, reduction,
        [&](const auto& s, const auto& r) { return x(s[0], s[1] + r[0], s[2] + r[1], s[3]); },
        NodeKind::kWindow);
    EXPECT_EQ(KindOfOnly(c, pooled), CallKind::kOther);
  }
}

}  // namespace
}  // namespace bayloom::graph
