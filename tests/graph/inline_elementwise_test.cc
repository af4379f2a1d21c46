#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom {
namespace {

class InlineElementwiseTest : public ::testing::Test {
 protected:
  Tensor Sigmoid(const Tensor& x) {
    return b_.Map("sigmoid", x.shape(), [&](const auto& i) {
      return FloatLiteral(1) / (FloatLiteral(1) + Unary(ExprOp::kExp, -x.At(i)));
    });
  }
  Tensor Sum(const Tensor& a, const Tensor& c) {
    return b_.Map("add", a.shape(), [&](const auto& i) { return a.At(i) + c.At(i); });
  }
  std::string OpsAfter(const Tensor& y) {
    return OpsOf(CheckedPass(InlineElementwise, b_.Build({{"y", y.id()}})));
  }

  GraphBuilder b_{"inline"};
  Tensor x_ = b_.Input("x", DType::kFloat32, {5, 4});
  Tensor product_ = Multiply(b_, x_, b_.Constant("w", RandomTensor({4, 6}, 1)));
};

TEST_F(InlineElementwiseTest, AChainBehindAnAnchorIsOneNode) {
  EXPECT_EQ(OpsAfter(Relu(b_, Sigmoid(Relu(b_, product_)))), "matmul, relu+sigmoid+relu");
}

TEST_F(InlineElementwiseTest, SidesThatComeTogetherAgain) {
  const Tensor gate = Sigmoid(product_);
  const Tensor y =
      b_.Map("mul", {5, 6}, [&](const auto& i) { return product_.At(i) * gate.At(i); });
  EXPECT_EQ(OpsAfter(y), "matmul, sigmoid+mul");
}

TEST_F(InlineElementwiseTest, WhatIsReadAtTwoPlacesStays) {
  const Tensor shared = Sigmoid(x_);
  const Tensor mirrored = b_.Map(
      "add", {5, 4}, [&](const auto& i) { return shared.At(i) + shared(i[0], Expr(3) - i[1]); });
  EXPECT_EQ(OpsAfter(mirrored), "sigmoid, add");
}

TEST_F(InlineElementwiseTest, EachOfTwoAnchorsKeepsItsOwnEpilogue) {
  const Tensor other = Multiply(b_, x_, b_.Constant("v", RandomTensor({4, 6}, 2)));
  const Tensor left = Relu(b_, product_), right = Sigmoid(other);
  EXPECT_EQ(OpsAfter(Sum(left, right)), "matmul, matmul, relu, sigmoid, add");
}

TEST_F(InlineElementwiseTest, BroadcastingRepeatsOnlyWhatIsCheap) {
  const Tensor row = b_.Input("row", DType::kFloat32, {4});
  const auto add_row = [&](const Tensor& r) {
    return b_.Map("add", {5, 4}, [&](const auto& i) { return x_.At(i) + r(i[1]); });
  };
  const Tensor cheap = add_row(Relu(b_, row));
  const Tensor costly = add_row(Sigmoid(row));
  const Graph graph =
      CheckedPass(InlineElementwise, b_.Build({{"a", cheap.id()}, {"b", costly.id()}}));
  EXPECT_EQ(OpsOf(graph), "relu+add, sigmoid, add");
}

TEST_F(InlineElementwiseTest, OutputsStay) {
  const Tensor y = Relu(b_, product_), z = Sigmoid(y);
  EXPECT_EQ(OpsOf(CheckedPass(InlineElementwise, b_.Build({{"y", y.id()}, {"z", z.id()}}))),
            "matmul, relu, sigmoid");
}

}  // namespace
}  // namespace bayloom
