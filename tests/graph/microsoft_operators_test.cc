// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/result.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

constexpr const char* kDomain = "com.microsoft";

HostTensor Scalar(double value) { return Floats({}, {value}); }
HostTensor Level(int64_t value) { return Integers(DType::kUInt8, {}, {value}); }

double Quantized(double x, double scale, double zero) {
  return std::clamp(std::nearbyint(x / scale) + zero, 0.0, 255.0);
}

TEST(MicrosoftOperators, SkipLayerNormalizationNormalizesTheSum) {
  const HostTensor x = RandomTensor({2, 3, 8}, 1), skip = RandomTensor({2, 3, 8}, 2);
  const HostTensor gamma = RandomTensor({8}, 3), beta = RandomTensor({8}, 4);
  const auto outputs = RunOperator({.op = "SkipLayerNormalization",
                                    .inputs = {x, skip, gamma, beta},
                                    .attributes = {{"epsilon", 1e-5f}},
                                    .domain = kDomain,
                                    .outputs = 4});
  std::vector<double> expected;
  for (int64_t row = 0; row < 6; ++row) {
    double mean = 0, variance = 0;
    const auto sum = [&](int64_t c) { return x.Get(row * 8 + c) + skip.Get(row * 8 + c); };
    for (int64_t c = 0; c < 8; ++c) mean += sum(c) / 8;
    for (int64_t c = 0; c < 8; ++c) variance += (sum(c) - mean) * (sum(c) - mean) / 8;
    for (int64_t c = 0; c < 8; ++c) {
      expected.push_back((sum(c) - mean) / std::sqrt(variance + 1e-5) * gamma.Get(c) + beta.Get(c));
    }
  }
  ExpectClose(outputs[0], expected);
  EXPECT_NEAR(outputs[3].Get(11), x.Get(11) + skip.Get(11), 1e-6);
}

/// One new token behind 1 and 2 tokens of a cache; each head sees what comes before and itself.
TEST(MicrosoftOperators, GroupQueryAttentionWithKnownLengths) {
  const HostTensor token = Floats({2, 1, 1}, {1, 1}), past = Floats({2, 1, 2, 1}, {1, 9, 1, 1});
  const auto outputs = RunOperator(
      {.op = "GroupQueryAttention",
       .inputs = {token, token, Floats({2, 1, 1}, {6, 8}), past, Floats({2, 1, 2, 1}, {2, 9, 2, 5}),
                  Integers(DType::kInt32, {2}, {1, 2}), Integers(DType::kInt32, {}, {3})},
       .attributes = {{"num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}},
       .domain = kDomain,
       .constants = {5, 6},
       .outputs = 3});
  ExpectClose(outputs[0], {4, 5});
  ExpectClose(outputs[2], {2, 6, 0, 2, 5, 8});
}

TEST(MicrosoftOperators, RootMeanSquareOfTheSum) {
  const HostTensor x = RandomTensor({3, 8}, 1), skip = RandomTensor({3, 8}, 2);
  const HostTensor gamma = RandomTensor({8}, 3);
  const HostTensor y = RunOperator({.op = "SkipSimplifiedLayerNormalization",
                                    .inputs = {x, skip, gamma},
                                    .attributes = {{"epsilon", 1e-5f}},
                                    .domain = kDomain})[0];
  std::vector<double> expected;
  for (int64_t row = 0; row < 3; ++row) {
    double squares = 0;
    const auto sum = [&](int64_t c) { return x.Get(row * 8 + c) + skip.Get(row * 8 + c); };
    for (int64_t c = 0; c < 8; ++c) squares += sum(c) * sum(c) / 8;
    for (int64_t c = 0; c < 8; ++c) {
      expected.push_back(sum(c) / std::sqrt(squares + 1e-5) * gamma.Get(c));
    }
  }
  ExpectClose(y, expected);
}

TEST(MicrosoftOperators, QLinearAddAddsRealValues) {
  const HostTensor a = RandomIntegers(DType::kUInt8, {3, 5}, 0, 256, 1);
  const HostTensor b = RandomIntegers(DType::kUInt8, {3, 5}, 0, 256, 2);
  const HostTensor y = RunOperator(
      {.op = "QLinearAdd",
       .inputs = {a, Scalar(0.5), Level(3), b, Scalar(0.25), Level(9), Scalar(0.75), Level(20)},
       .domain = kDomain})[0];
  std::vector<double> expected;
  for (int64_t i = 0; i < 15; ++i) {
    const double sum = (a.Get(i) - 3) * 0.5 + (b.Get(i) - 9) * 0.25;
    expected.push_back(Quantized(sum, 0.75, 20));
  }
  EXPECT_EQ(y.dtype, DType::kUInt8);
  ExpectClose(y, expected, 0);
}

TEST(MicrosoftOperators, QGemmHasScalesPerColumn) {
  const HostTensor a = RandomIntegers(DType::kUInt8, {2, 8}, 0, 256, 1);
  const HostTensor b = RandomIntegers(DType::kInt8, {3, 8}, -128, 128, 2);
  const HostTensor c = RandomIntegers(DType::kInt32, {3}, -50, 50, 3);
  const std::vector<double> scales = {0.01, 0.02, 0.005};
  const HostTensor y = RunOperator({.op = "QGemm",
                                    .inputs = {a, Scalar(0.1), Level(100), b, Floats({3}, scales),
                                               Integers(DType::kInt8, {3}, {0, 1, -1}), c},
                                    .attributes = {{"transB", int64_t{1}}},
                                    .domain = kDomain})[0];
  std::vector<double> expected;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double sum = c.Get(j);
      const double zero = j == 0 ? 0 : j == 1 ? 1 : -1;
      for (int64_t k = 0; k < 8; ++k) sum += (a.Get(i * 8 + k) - 100) * (b.Get(j * 8 + k) - zero);
      expected.push_back(sum * 0.1 * scales[j]);
    }
  }
  ExpectClose(y, expected);
}

/// Weights of all widths, with K in the middle of a block.
TEST(MicrosoftOperators, MatMulNBitsUnpacksWeights) {
  const int64_t n = 3, k = 24, size = 16, blocks = 2;
  for (const auto& [bits, rows] : {std::pair<int64_t, int64_t>{2, 2}, {4, 1}, {4, 20}, {8, 2}}) {
    const int64_t bytes = size * bits / 8, zero_bytes = (blocks * bits + 7) / 8;
    const HostTensor a = RandomTensor({rows, k}, 1);
    const HostTensor b = RandomIntegers(DType::kUInt8, {n, blocks, bytes}, 0, 256, 2);
    const HostTensor scales = RandomTensor({n * blocks}, 3);
    const HostTensor zeros = RandomIntegers(DType::kUInt8, {n * zero_bytes}, 0, 256, 4);
    for (const std::set<int>& constants : {std::set<int>{}, std::set<int>{1, 2, 3}}) {
      const HostTensor y =
          RunOperator({.op = "MatMulNBits",
                       .inputs = {a, b, scales, zeros},
                       .attributes = {{"N", n}, {"K", k}, {"bits", bits}, {"block_size", size}},
                       .domain = kDomain,
                       .constants = constants})[0];
      const auto unpacked = [&](const HostTensor& t, int64_t row, int64_t element) {
        const int64_t byte = t.GetInt(row + element * bits / 8);
        return static_cast<double>((byte >> (element * bits % 8)) & ((1 << bits) - 1));
      };
      std::vector<double> expected;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t e = 0; e < k; ++e) {
            const double weight =
                unpacked(b, j * blocks * bytes, e) - unpacked(zeros, j * zero_bytes, e / size);
            sum += a.Get(i * k + e) * weight * scales.Get(j * blocks + e / size);
          }
          expected.push_back(sum);
        }
      }
      ExpectClose(y, expected, 1e-4);
    }
  }
}

TEST(MicrosoftOperators, FusedMatMulTransposes) {
  const HostTensor a = RandomTensor({4, 2}, 1), b = RandomTensor({3, 4}, 2);
  const HostTensor y =
      RunOperator({.op = "FusedMatMul",
                   .inputs = {a, b},
                   .attributes = {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}},
                   .domain = kDomain})[0];
  std::vector<double> expected;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 4; ++k) sum += a.Get(k * 2 + i) * b.Get(j * 4 + k);
      expected.push_back(sum / 2);
    }
  }
  ExpectClose(y, expected);
}

TEST(MicrosoftOperators, RefusalsSayWhatHelps) {
  const HostTensor x = RandomTensor({1, 2, 6}, 1);
  const auto reason = [&](const std::string& op) {
    try {
      RunOperator({.op = op, .inputs = {x, x, x}, .domain = kDomain});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(reason("MultiHeadAttention").find("num_heads"), std::string::npos);
  EXPECT_NE(reason("BiasGeluuu").find("BiasGeluuu"), std::string::npos);
}

}  // namespace
}  // namespace bayloom::graph
