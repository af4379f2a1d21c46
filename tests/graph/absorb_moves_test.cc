#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom {
namespace {

Tensor Transpose(GraphBuilder& b, const Tensor& x) {
  return b.Map("transpose", {x.shape()[1], x.shape()[0]},
               [&](const auto& i) { return x(i[1], i[0]); });
}

Tensor ToChannelsLast(GraphBuilder& b, const Tensor& x) {
  const std::vector<int64_t>& s = x.shape();
  return b.Map("transpose", {s[0], s[2], s[3], s[1]},
               [&](const auto& i) { return x(i[0], i[3], i[1], i[2]); });
}

TEST(AbsorbMoves, ReadsSlicesAndTranspositionsWhereTheyComeFrom) {
  GraphBuilder b("moves");
  const Tensor x = b.Input("x", DType::kFloat32, {6, 8});
  const Tensor slice =
      b.Map("slice", {2, 4}, [&](const auto& i) { return x(i[0] * 2 + 1, i[1] + 3); });
  const Tensor y = Transpose(b, slice);
  const Tensor sums = b.Reduce("sum", {4}, {{"k", 2}}, Reduction::kSum,
                               [&](const auto& s, const auto& r) { return y(s[0], r[0]); });
  EXPECT_EQ(OpsOf(CheckedPass(AbsorbMoves, b.Build({{"sums", sums.id()}}))), "sum");
}

TEST(AbsorbMoves, KeepsTheContiguousAxisOfAProduct) {
  GraphBuilder b("product");
  const Tensor a = b.Input("a", DType::kFloat32, {5, 4});
  const Tensor w = b.Input("w", DType::kFloat32, {7, 5});
  const Tensor c = Multiply(b, Transpose(b, a), Transpose(b, w));
  EXPECT_EQ(OpsOf(CheckedPass(AbsorbMoves, b.Build({{"c", c.id()}}))), "transpose, matmul")
      << "the left factor may be read across its rows, the right one may not";
}

TEST(AbsorbMoves, ConvolutionsReadImagesOfFewChannelsAsTheyCome) {
  for (int64_t channels : {3, 8}) {
    GraphBuilder b("conv");
    const Tensor x = b.Input("x", DType::kFloat32, {1, channels, 6, 6});
    const Tensor w = b.Constant("w", RandomTensor({3, 3, channels, 4}, 1));
    const Tensor y = Convolve(b, ToChannelsLast(b, x), w);
    EXPECT_EQ(OpsOf(CheckedPass(AbsorbMoves, b.Build({{"y", y.id()}}))),
              channels == 3 ? "conv" : "transpose, conv");
  }
}

TEST(AbsorbMoves, LooksThroughViews) {
  GraphBuilder b("view");
  const Tensor x = b.Input("x", DType::kFloat32, {4, 6});
  const Tensor view = b.View(Transpose(b, x), {6, 2, 2});
  const Tensor y = b.Reduce("max", {6, 2}, {{"k", 2}}, Reduction::kMax,
                            [&](const auto& s, const auto& r) { return view(s[0], s[1], r[0]); });
  EXPECT_EQ(OpsOf(CheckedPass(AbsorbMoves, b.Build({{"y", y.id()}}))), "max");
}

}  // namespace
}  // namespace bayloom
