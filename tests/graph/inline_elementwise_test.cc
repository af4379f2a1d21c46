// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

class InlineElementwiseTest : public ::testing::Test {
 protected:
  tensor::Tensor Sigmoid(const tensor::Tensor& x) {
    return b_.Map("sigmoid", x.shape(), [&](const auto& i) {
      return tensor::FloatLiteral(1) /
             (tensor::FloatLiteral(1) + tensor::Unary(tensor::ExprOp::kExp, -x.At(i)));
    });
  }
  tensor::Tensor Sum(const tensor::Tensor& a, const tensor::Tensor& c) {
    return b_.Map("add", a.shape(), [&](const auto& i) { return a.At(i) + c.At(i); });
  }
  std::string OpsAfter(const tensor::Tensor& y) {
    return OpsOf(CheckedPass(InlineElementwise, b_.Build({{"y", y.id()}})));
  }

  GraphBuilder b_{"inline"};
  tensor::Tensor x_ = b_.Input("x", tensor::DType::kFloat32, {5, 4});
  tensor::Tensor product_ = Multiply(b_, x_, b_.Constant("w", RandomTensor({4, 6}, 1)));
};

TEST_F(InlineElementwiseTest, AChainBehindAnAnchorIsOneNode) {
  EXPECT_EQ(OpsAfter(Relu(b_, Sigmoid(Relu(b_, product_)))), "matmul, relu+sigmoid+relu");
}

TEST_F(InlineElementwiseTest, SidesThatComeTogetherAgain) {
  const tensor::Tensor gate = Sigmoid(product_);
  const tensor::Tensor y =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return product_.At(i) * gate.At(i); });
  EXPECT_EQ(OpsAfter(y), "matmul, sigmoid+mul");
}

TEST_F(InlineElementwiseTest, WhatIsReadAtTwoPlacesStays) {
  const tensor::Tensor shared = Sigmoid(x_);
  const tensor::Tensor mirrored = b_.Map("add", {5, 4}, [&](const auto& i) {
    return shared.At(i) + shared(i[0], tensor::Expr(3) - i[1]);
  });
  EXPECT_EQ(OpsAfter(mirrored), "sigmoid, add");
}

TEST_F(InlineElementwiseTest, EachOfTwoAnchorsKeepsItsOwnEpilogue) {
  const tensor::Tensor other = Multiply(b_, x_, b_.Constant("v", RandomTensor({4, 6}, 2)));
  const tensor::Tensor left = Relu(b_, product_), right = Sigmoid(other);
  EXPECT_EQ(OpsAfter(Sum(left, right)), "matmul, matmul, relu, sigmoid, add");
}

TEST_F(InlineElementwiseTest, BroadcastingRepeatsOnlyWhatIsCheap) {
  const tensor::Tensor row = b_.Input("row", tensor::DType::kFloat32, {4});
  const auto add_row = [&](const tensor::Tensor& r) {
    return b_.Map("add", {5, 4}, [&](const auto& i) { return x_.At(i) + r(i[1]); });
  };
  const tensor::Tensor cheap = add_row(Relu(b_, row));
  const tensor::Tensor costly = add_row(Sigmoid(row));
  const Graph graph =
      CheckedPass(InlineElementwise, b_.Build({{"a", cheap.id()}, {"b", costly.id()}}));
  EXPECT_EQ(OpsOf(graph), "relu+add, sigmoid, add");
}

TEST_F(InlineElementwiseTest, OutputsStay) {
  const tensor::Tensor y = Relu(b_, product_), z = Sigmoid(y);
  EXPECT_EQ(OpsOf(CheckedPass(InlineElementwise, b_.Build({{"y", y.id()}, {"z", z.id()}}))),
            "matmul, relu, sigmoid");
}

/// Each node of the chain takes in what is before it, as far as expressions may grow: what has been
/// taken in is not kept.
TEST_F(InlineElementwiseTest, ALongChainTakesLittleMemory) {
  const auto peak_megabytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  tensor::Tensor y = x_;
  for (int i = 0; i < 20000; ++i) y = Relu(b_, y);
  Graph graph = b_.Build({{"y", y.id()}});
  const auto before = peak_megabytes();
  InlineElementwise(graph);
  EXPECT_LT(graph.nodes.size(), 200u);
  EXPECT_LT(peak_megabytes() - before, 300);
}

}  // namespace
}  // namespace bayloom::graph
