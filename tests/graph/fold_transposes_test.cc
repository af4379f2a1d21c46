// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

tensor::Tensor Transpose(GraphBuilder& b, const tensor::Tensor& x) {
  return b.Map("transpose", {x.shape()[1], x.shape()[0]},
               [&](const auto& i) { return x(i[1], i[0]); });
}

tensor::Tensor ToChannelsLast(GraphBuilder& b, const tensor::Tensor& x) {
  const std::vector<int64_t>& s = x.shape();
  return b.Map("transpose", {s[0], s[2], s[3], s[1]},
               [&](const auto& i) { return x(i[0], i[3], i[1], i[2]); });
}

TEST(FoldTransposes, ReadsSlicesAndTranspositionsWhereTheyComeFrom) {
  GraphBuilder b("moves");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {6, 8});
  const tensor::Tensor slice =
      b.Map("slice", {2, 4}, [&](const auto& i) { return x(i[0] * 2 + 1, i[1] + 3); });
  const tensor::Tensor y = Transpose(b, slice);
  const tensor::Tensor sums = b.Reduce("sum", {4}, {{"k", 2}}, tensor::Reduction::kSum,
                                       [&](const auto& s, const auto& r) { return y(s[0], r[0]); });
  EXPECT_EQ(OpsOf(CheckedPass(FoldTransposes, b.Build({{"sums", sums.id()}}))), "sum");
}

TEST(FoldTransposes, KeepsTheContiguousAxisOfAProduct) {
  for (int64_t rows : {4, 24}) {
    GraphBuilder b("product");
    const tensor::Tensor a = b.Input("a", tensor::DType::kFloat32, {5, rows});
    const tensor::Tensor w = b.Input("w", tensor::DType::kFloat32, {7, 5});
    const tensor::Tensor c = Multiply(b, Transpose(b, a), Transpose(b, w));
    EXPECT_EQ(OpsOf(CheckedPass(FoldTransposes, b.Build({{"c", c.id()}}))),
              rows > 8 ? "transpose, matmul" : "matmul")
        << "the left factor may be read across its rows, the right one only for few rows";
  }
}

TEST(FoldTransposes, ConvolutionsReadImagesOfFewChannelsAsTheyCome) {
  for (int64_t channels : {3, 8}) {
    GraphBuilder b("conv");
    const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {1, channels, 6, 6});
    const tensor::Tensor w = b.Constant("w", RandomTensor({3, 3, channels, 4}, 1));
    const tensor::Tensor y = Convolve(b, ToChannelsLast(b, x), w);
    EXPECT_EQ(OpsOf(CheckedPass(FoldTransposes, b.Build({{"y", y.id()}}))),
              channels == 3 ? "conv" : "transpose, conv");
  }
}

TEST(FoldTransposes, LooksThroughViews) {
  GraphBuilder b("view");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 6});
  const tensor::Tensor view = b.View(Transpose(b, x), {6, 2, 2});
  const tensor::Tensor y =
      b.Reduce("max", {6, 2}, {{"k", 2}}, tensor::Reduction::kMax,
               [&](const auto& s, const auto& r) { return view(s[0], s[1], r[0]); });
  EXPECT_EQ(OpsOf(CheckedPass(FoldTransposes, b.Build({{"y", y.id()}}))), "max");
}

}  // namespace
}  // namespace bayloom::graph
