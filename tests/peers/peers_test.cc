// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bayloom/base/random.h"
#include "benchmarks/alternate.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"

namespace bayloom {
namespace {

std::vector<float> RandomValues(int64_t count, base::RandomStream& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

/// One output of the convolution, by definition.
float ConvolveAt(const ConvolutionLayer& s, const std::vector<float>& input,
                 const std::vector<float>& weights, const std::vector<float>& bias, int64_t y,
                 int64_t x, int64_t o) {
  const int64_t in = s.in / s.groups;
  const int64_t first = o / (s.out / s.groups) * in;
  double sum = bias[o];
  for (int64_t ky = 0; ky < s.kernel; ++ky) {
    for (int64_t kx = 0; kx < s.kernel; ++kx) {
      const int64_t iy = y * s.stride + ky - s.padding;
      const int64_t ix = x * s.stride + kx - s.padding;
      if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.height) continue;
      for (int64_t i = 0; i < in; ++i) {
        sum += double{input[(iy * s.height + ix) * s.in + first + i]} *
               weights[((ky * s.kernel + kx) * in + i) * s.out + o];
      }
    }
  }
  return static_cast<float>(std::max(sum, 0.0));
}

TEST(PeerConvolution, TakesAndGivesPlainChannelsLastArrays) {
  for (const ConvolutionLayer& shape : {ConvolutionLayer{"dense", 9, 16, 32, 3, 1, 1},
                                        ConvolutionLayer{"strided", 9, 3, 8, 3, 2, 1},
                                        ConvolutionLayer{"pointwise", 5, 24, 40, 1, 1, 0},
                                        ConvolutionLayer{"grouped", 6, 32, 64, 3, 1, 1, 2},
                                        ConvolutionLayer{"depthwise", 7, 32, 32, 3, 1, 1, 32}}) {
    base::RandomStream random(1);
    const std::vector<float> input = RandomValues(shape.InputCount(), random);
    const std::vector<float> weights = RandomValues(shape.WeightCount(), random);
    const std::vector<float> bias = RandomValues(shape.out, random);
    std::vector<float> expected;
    for (int64_t y = 0; y < shape.OutputHeight(); ++y) {
      for (int64_t x = 0; x < shape.OutputHeight(); ++x) {
        for (int64_t o = 0; o < shape.out; ++o) {
          expected.push_back(ConvolveAt(shape, input, weights, bias, y, x, o));
        }
      }
    }
    PeerConvolution peer(shape, input, weights, bias, 2);
    peer.Run();
    EXPECT_THAT(peer.Output(), testing::Pointwise(testing::FloatNear(1e-4F), expected))
        << shape.name;
  }
}

TEST(PeerMatmul, MultipliesRowMajorMatrices) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};     // 2 x 3
  const std::vector<float> b = {1, 0, 0, 1, 10, 100};  // 3 x 2
  std::vector<float> c(4);
  PeerMatmul(2, 2, 3, a, b, c, 1).Run();
  EXPECT_THAT(c, testing::ElementsAre(31, 302, 64, 605));
}

TEST(Alternate, GivesEverySideTheSameTurns) {
  std::vector<int> order;
  const auto side = [&](int i) {
    return [&order, i] {
      if (order.empty() || order.back() != i) order.push_back(i);
    };
  };
  const std::vector<RunTime> times = Alternate({side(0), side(1)}, {3, 1e-4});
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 0, 1, 0, 1));
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GT(times[0].median, 0);
  EXPECT_GE(times[0].iqr, 0);
}

}  // namespace
}  // namespace bayloom
