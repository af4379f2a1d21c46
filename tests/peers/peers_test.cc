// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bayloom/base/random.h"
#include "benchmarks/alternate.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"
#include "benchmarks/peers/onednn_int8.h"

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

/// Bytes of the whole range, of either sign.
template <class Byte>
std::vector<Byte> RandomBytes(int64_t count, base::RandomStream& random) {
  std::vector<Byte> bytes(count);
  for (Byte& byte : bytes) byte = static_cast<Byte>(random.UniformInt(256));
  return bytes;
}

/// round((sum + bias) * scale), half to even, in 0 .. 255.
uint8_t Requantized(int64_t sum, int32_t bias, float scale) {
  const float level = std::nearbyint(static_cast<float>(sum + bias) * scale);
  return static_cast<uint8_t>(std::clamp(level, 0.0F, 255.0F));
}

/// The library multiplies bytes without saturation where the processor has instructions for it.
bool HasVnni() { return __builtin_cpu_supports("avx512vnni"); }

TEST(PeerQuantizedLayer, ConvolvesBytes) {
  if (!HasVnni()) GTEST_SKIP() << "needs AVX512-VNNI";
  for (const ConvolutionLayer& s : {ConvolutionLayer{"dense", 9, 16, 32, 3, 1, 1},
                                    ConvolutionLayer{"strided", 9, 3, 8, 3, 2, 1},
                                    ConvolutionLayer{"pointwise", 5, 24, 40, 1, 1, 0}}) {
    base::RandomStream random(2);
    const auto input = RandomBytes<uint8_t>(s.InputCount(), random);
    const auto weights = RandomBytes<int8_t>(s.WeightCount(), random);
    std::vector<int32_t> bias(s.out);
    std::vector<float> scale(s.out);
    for (int64_t o = 0; o < s.out; ++o) {
      bias[o] = static_cast<int32_t>(random.UniformInt(2000)) - 1000;
      scale[o] = static_cast<float>(0.0005 + 0.001 * random.Uniform());
    }
    std::vector<uint8_t> expected;
    for (int64_t at = 0; at < s.OutputCount(); ++at) {
      const int64_t o = at % s.out, x = at / s.out % s.OutputHeight();
      const int64_t y = at / s.out / s.OutputHeight();
      int64_t sum = 0;
      for (int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
        const int64_t iy = y * s.stride + tap / s.kernel - s.padding;
        const int64_t ix = x * s.stride + tap % s.kernel - s.padding;
        if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.height) continue;
        for (int64_t i = 0; i < s.in; ++i) {
          sum += input[(iy * s.height + ix) * s.in + i] * weights[(tap * s.in + i) * s.out + o];
        }
      }
      expected.push_back(Requantized(sum, bias[o], scale[o]));
    }
    PeerQuantizedLayer peer(s, {input, weights, bias, scale}, 2);
    peer.Run();
    EXPECT_EQ(peer.Output(), expected) << s.name;
  }
}

TEST(PeerQuantizedLayer, MultipliesMatricesOfBytes) {
  if (!HasVnni()) GTEST_SKIP() << "needs AVX512-VNNI";
  const int64_t m = 5, n = 48, k = 37;
  base::RandomStream random(3);
  const auto input = RandomBytes<uint8_t>(m * k, random);
  const auto weights = RandomBytes<int8_t>(k * n, random);
  const std::vector<int32_t> bias(n, 77);
  std::vector<float> scale(n);
  for (int64_t c = 0; c < n; ++c) scale[c] = static_cast<float>(c + 1) * 1e-4F;
  std::vector<uint8_t> expected;
  for (int64_t at = 0; at < m * n; ++at) {
    int64_t sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += input[at / n * k + i] * weights[i * n + at % n];
    expected.push_back(Requantized(sum, 77, scale[at % n]));
  }
  PeerQuantizedLayer peer(m, n, k, {input, weights, bias, scale}, 1);
  peer.Run();
  EXPECT_EQ(peer.Output(), expected);
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
