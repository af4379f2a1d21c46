// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/analysis.h"

#include <gtest/gtest.h>

#include <functional>

namespace bayloom::sketch {
namespace {

/// A reduction with results of 4 x 6, and what `read` makes of them in a stage of `shape`.
tensor::BlockId ConsumerOfSums(
    std::vector<int64_t> shape,
    const std::function<tensor::Expr(const tensor::Tensor&, const std::vector<tensor::Expr>&)>&
        read) {
  tensor::WorkloadBuilder b("sums");
  const tensor::Tensor x = b.Input("x", {4, 6, 5});
  const tensor::Tensor sum = b.Reduce("sum", {4, 6}, {{"k", 5}}, tensor::Reduction::kSum,
                                      [&](auto s, auto r) { return x(s[0], s[1], r[0]); });
  const tensor::Tensor y =
      b.Compute("y", std::move(shape), [&](const auto& i) { return read(sum, i); });
  const tensor::Program program = tensor::Lower(b.Build({y}));
  return ElementwiseConsumer(program, program.FindBlock("sum"));
}

TEST(ElementwiseConsumer, ReadsEveryElementOnceInAnyOrder) {
  EXPECT_GE(
      ConsumerOfSums({4, 6},
                     [](auto& sum, auto& i) { return sum(i[0], i[1]) + tensor::FloatLiteral(1); }),
      0);
  EXPECT_GE(ConsumerOfSums({6, 1, 4}, [](auto& sum, auto& i) { return sum(i[2], i[0]); }), 0);
}

TEST(ElementwiseConsumer, MayNotReadAnElementTwiceOrNever) {
  const auto in_place = [](auto& sum, auto& i) { return sum(i[0], i[1]); };
  EXPECT_EQ(ConsumerOfSums({4, 5}, in_place), -1) << "the last column is left out";
  EXPECT_EQ(ConsumerOfSums({3, 6}, in_place), -1) << "the last row is left out";
  EXPECT_EQ(ConsumerOfSums({4, 6, 2}, in_place), -1) << "read twice";
  EXPECT_EQ(ConsumerOfSums({4}, [](auto& sum, auto& i) { return sum(i[0], tensor::Expr(0)); }), -1)
      << "the first column only";
  EXPECT_EQ(
      ConsumerOfSums({4, 6}, [](auto& sum, auto& i) { return sum(i[0], tensor::Expr(5) - i[1]); }),
      -1)
      << "backwards is not one of the indices that are looked through";
}

TEST(ElementwiseConsumer, AConcatenationThatBeginsWithTheResultIsNone) {
  const auto join = [](auto& sum, auto& i) {
    return tensor::Select(i[1] < tensor::Expr(6), sum(i[0], i[1]), tensor::FloatLiteral(0));
  };
  EXPECT_EQ(ConsumerOfSums({4, 9}, join), -1);
}

}  // namespace
}  // namespace bayloom::sketch
