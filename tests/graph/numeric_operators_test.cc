// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

HostTensor Count(int64_t value) { return Integers(DType::kInt64, {}, {value}); }

TEST(Dft, IsTheSumOfItsDefinition) {
  const int64_t n = 10;
  const HostTensor x = RandomTensor({1, n, 1}, 1);
  const HostTensor y = RunOperator(
      {.op = "DFT", .inputs = {x}, .attributes = {{"onesided", int64_t{1}}}, .opset = 20})[0];
  EXPECT_EQ(y.shape, (std::vector<int64_t>{1, n / 2 + 1, 2}));
  std::vector<double> expected;
  for (int64_t k = 0; k <= n / 2; ++k) {
    double real = 0, imaginary = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(i * k) / n;
      real += x.Get(i) * std::cos(angle);
      imaginary += x.Get(i) * std::sin(angle);
    }
    expected.insert(expected.end(), {real, imaginary});
  }
  ExpectClose(y, expected);
}

TEST(Dft, TheInverseBringsTheSignalBack) {
  const HostTensor x = RandomTensor({3, 7, 2}, 1);
  const HostTensor frequencies = RunOperator({.op = "DFT", .inputs = {x}, .opset = 20})[0];
  const HostTensor y = RunOperator({.op = "DFT",
                                    .inputs = {frequencies},
                                    .attributes = {{"inverse", int64_t{1}}},
                                    .opset = 20})[0];
  for (int64_t i = 0; i < x.ElementCount(); ++i) EXPECT_NEAR(y.Get(i), x.Get(i), 1e-5);
}

/// The first frequency of each frame is the sum of what its window lets through.
TEST(Stft, FramesOverlap) {
  const HostTensor x = RandomTensor({1, 20, 1}, 1), window = RandomTensor({8}, 2);
  const HostTensor y =
      RunOperator({.op = "STFT", .inputs = {x, Count(4), window}, .constants = {1}})[0];
  EXPECT_EQ(y.shape, (std::vector<int64_t>{1, 4, 5, 2}));
  for (int64_t frame = 0; frame < 4; ++frame) {
    double sum = 0;
    for (int64_t i = 0; i < 8; ++i) sum += x.Get(frame * 4 + i) * window.Get(i);
    EXPECT_NEAR(y.Get(frame * 10), sum, 1e-5);
  }
}

TEST(Windows, KnownValues) {
  const auto window = [](const std::string& op) {
    return RunOperator({.op = op,
                        .inputs = {Count(5)},
                        .attributes = {{"periodic", int64_t{0}}},
                        .constants = {0}})[0];
  };
  ExpectClose(window("HannWindow"), {0, 0.5, 1, 0.5, 0});
  ExpectClose(window("BlackmanWindow"), {0, 0.34, 1, 0.34, 0});
  ExpectClose(window("HammingWindow"), {4.0 / 46, 25.0 / 46, 1, 25.0 / 46, 4.0 / 46});
}

class RandomOperators : public ::testing::Test {
 protected:
  static constexpr int64_t kCount = 4000;

  HostTensor Draw(const std::string& op, float seed) {
    return RunOperator(
        {.op = op,
         .inputs = {},
         .attributes = {{"shape", std::vector<int64_t>{kCount}}, {"seed", seed}}})[0];
  }
};

TEST_F(RandomOperators, UniformByAChiSquareTest) {
  std::vector<double> bins(20);
  const HostTensor y = Draw("RandomUniform", 1);
  for (int64_t i = 0; i < kCount; ++i) bins.at(static_cast<size_t>(y.Get(i) * 20)) += 1;
  double chi_square = 0;
  for (double count : bins) chi_square += (count - 200) * (count - 200) / 200;
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, p = 0.001
  EXPECT_EQ(y.data, Draw("RandomUniform", 1).data);
  EXPECT_NE(y.data, Draw("RandomUniform", 2).data);
}

TEST_F(RandomOperators, NormalByItsMoments) {
  const HostTensor y = Draw("RandomNormal", 1);
  double sum = 0, squares = 0, fourth = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    sum += y.Get(i) / kCount;
    squares += y.Get(i) * y.Get(i) / kCount;
    fourth += std::pow(y.Get(i), 4) / kCount;
  }
  EXPECT_NEAR(sum, 0, 0.06);
  EXPECT_NEAR(squares, 1, 0.1);
  EXPECT_NEAR(fourth, 3, 0.6);
}

TEST_F(RandomOperators, BernoulliAndMultinomialByFrequencies) {
  const HostTensor p = Floats({kCount}, std::vector<double>(kCount, 0.3));
  const HostTensor hits =
      RunOperator({.op = "Bernoulli", .inputs = {p}, .attributes = {{"seed", 1.0f}}})[0];
  const HostTensor classes =
      RunOperator({.op = "Multinomial",
                   .inputs = {Floats({1, 3}, {std::log(0.5), std::log(0.3), std::log(0.2)})},
                   .attributes = {{"seed", 1.0f}, {"sample_size", kCount}}})[0];
  double share = 0, counts[3] = {};
  for (int64_t i = 0; i < kCount; ++i) {
    share += hits.Get(i) / kCount;
    counts[classes.GetInt(i)] += 1.0 / kCount;
  }
  EXPECT_NEAR(share, 0.3, 0.03);
  EXPECT_NEAR(counts[0], 0.5, 0.03);
  EXPECT_NEAR(counts[2], 0.2, 0.03);
}

TEST(Bitwise, EveryPairOfBytes) {
  std::vector<int64_t> a, b;
  for (int64_t i = -128; i < 128; ++i) {
    a.push_back(i);
    b.push_back((i * 37 + 5) % 128);
  }
  const HostTensor x = Integers(DType::kInt8, {256}, a), y = Integers(DType::kInt8, {256}, b);
  const HostTensor both = RunOperator({.op = "BitwiseAnd", .inputs = {x, y}, .opset = 18})[0];
  const HostTensor any = RunOperator({.op = "BitwiseOr", .inputs = {x, y}, .opset = 18})[0];
  const HostTensor one = RunOperator({.op = "BitwiseXor", .inputs = {x, y}, .opset = 18})[0];
  const HostTensor inverse = RunOperator({.op = "BitwiseNot", .inputs = {x}, .opset = 18})[0];
  for (int64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(both.GetInt(i), a[i] & b[i]);
    EXPECT_EQ(any.GetInt(i), a[i] | b[i]);
    EXPECT_EQ(one.GetInt(i), a[i] ^ b[i]);
    EXPECT_EQ(inverse.GetInt(i), ~a[i]);
  }
}

/// The determinant of a product is the product of determinants; rows of zeros at the pivot count.
TEST(Det, OfTriangularMatricesInAnyOrderOfRows) {
  ExpectClose(
      RunOperator(
          {.op = "Det", .inputs = {Floats({3, 3, 3}, {2, 5, 7, 0, 3, 9, 0, 0, 4,  // triangular
                                                      0, 0, 4, 2, 5, 7, 0, 3, 9,  // an even order
                                                      0, 3, 9, 2, 5, 7, 0, 0, 4})}})[0],  // odd
      {24, 24, -24});
}

TEST(Col2Im, CountsHowManyBlocksCoverAnElement) {
  const HostTensor ones = Floats({1, 4, 6}, std::vector<double>(24, 1));
  ExpectClose(RunOperator({.op = "Col2Im",
                           .inputs = {ones, Integers(DType::kInt64, {2}, {3, 4}),
                                      Integers(DType::kInt64, {2}, {2, 2})},
                           .opset = 18,
                           .constants = {1, 2}})[0],
              {1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1});
}

/// Every element of every block added where it belongs, along one axis.
std::vector<double> OverlapAdd(const std::vector<double>& blocks, int64_t image, int64_t block,
                               int64_t stride, int64_t dilation, int64_t pad) {
  std::vector<double> sums(image);
  const int64_t count = std::ssize(blocks) / block;
  for (int64_t k = 0; k < block; ++k) {
    for (int64_t number = 0; number < count; ++number) {
      const int64_t at = number * stride + k * dilation - pad;
      if (at >= 0 && at < image) sums[at] += blocks[k * count + number];
    }
  }
  return sums;
}

TEST(Col2Im, AddsBlocksOfAllStridesAndDilations) {
  constexpr int64_t kImage = 23, kBlock = 5, kPad = 1;
  for (int64_t stride = 1; stride <= 6; ++stride) {
    for (int64_t dilation = 1; dilation <= 4; ++dilation) {
      const int64_t count = (kImage + kPad - (kBlock - 1) * dilation - 1) / stride + 1;
      std::vector<double> blocks(kBlock * count);
      for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<double>(i % 7 + 1);
      SCOPED_TRACE(fmt::format("stride {}, dilation {}", stride, dilation));
      ExpectClose(RunOperator({.op = "Col2Im",
                               .inputs = {Floats({1, kBlock, count}, blocks),
                                          Integers(DType::kInt64, {1}, {kImage}),
                                          Integers(DType::kInt64, {1}, {kBlock})},
                               .attributes = {{"strides", std::vector<int64_t>{stride}},
                                              {"dilations", std::vector<int64_t>{dilation}},
                                              {"pads", std::vector<int64_t>{kPad, 0}}},
                               .opset = 18,
                               .constants = {1, 2}})[0],
                  OverlapAdd(blocks, kImage, kBlock, stride, dilation, kPad));
    }
  }
}

/// An image of many elements in blocks that overlap twice: two terms an element.
TEST(Col2Im, AddsUpNoMoreThanWhatOverlaps) {
  constexpr int64_t kBlock = 64, kStride = 32, kCount = 9;
  const Graph graph = ImportText(fmt::format("g (float[1, {}, {}] x) => (float[1, 1, 320] y) {{\n"
                                             "  image = Constant <value = int64[1] {{320}}> ()\n"
                                             "  block = Constant <value = int64[1] {{{}}}> ()\n"
                                             "  y = Col2Im <strides = [{}]> (x, image, block)\n}}",
                                             kBlock, kCount, kBlock, kStride),
                                 18);
  int64_t terms = 1;
  for (const Node& node : graph.nodes) {
    for (const tensor::Iter& iter : node.stage.iters) {
      if (iter.kind == tensor::IterKind::kReduction) terms *= iter.extent;
    }
  }
  EXPECT_EQ(terms, kBlock / kStride);
}

TEST(MaxUnpool, PutsElementsBack) {
  ExpectClose(RunOperator({.op = "MaxUnpool",
                           .inputs = {Floats({1, 1, 1, 2}, {5, 6}),
                                      Integers(DType::kInt64, {1, 1, 1, 2}, {4, 3})},
                           .attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                                          {"strides", std::vector<int64_t>{2, 2}}}})[0],
              {0, 0, 0, 6, 5, 0, 0, 0});
}

TEST(CenterCropPad, CutsAndPads) {
  ExpectClose(RunOperator({.op = "CenterCropPad",
                           .inputs = {Floats({1, 5}, {1, 2, 3, 4, 5}),
                                      Integers(DType::kInt64, {2}, {2, 2})},
                           .opset = 18,
                           .constants = {1}})[0],
              {2, 3, 0, 0});
}

}  // namespace
}  // namespace bayloom::graph
