// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/graph/one_operator.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

/// A type of bytes with a zero point: both ends of its range, and a number between.
struct Byte {
  DType dtype;
  int64_t zero;
  int64_t Lowest() const { return dtype == DType::kInt8 ? -128 : 0; }
  int64_t Highest() const { return Lowest() + 255; }
  int64_t Clipped(double level) const {
    return static_cast<int64_t>(
        std::clamp(level, static_cast<double>(Lowest()), static_cast<double>(Highest())));
  }
  HostTensor Zero() const { return Integers(dtype, {}, {zero}); }
};

std::vector<Byte> AllBytes() {
  return {{DType::kUInt8, 0},   {DType::kUInt8, 131}, {DType::kUInt8, 255},
          {DType::kInt8, -128}, {DType::kInt8, 3},    {DType::kInt8, 127}};
}

/// Both ends of the range in turns of several lengths.
HostTensor Ends(const Byte& byte, std::vector<int64_t> shape, int64_t turn) {
  HostTensor ends = HostTensor::Zeros(byte.dtype, std::move(shape));
  for (int64_t i = 0; i < ends.ElementCount(); ++i) {
    ends.SetInt(i, i / turn % 2 == 0 ? byte.Highest() : byte.Lowest());
  }
  return ends;
}

int32_t Wrapped(int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(sum)); }

/// sum over k of (a - za) * (b - zb), a [m, k] and b [k, n].
std::vector<int64_t> Products(const HostTensor& a, int64_t za, const HostTensor& b, int64_t zb) {
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  std::vector<int64_t> sums(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m * n; ++i) {
    for (int64_t t = 0; t < k; ++t) {
      sums[i] += (a.GetInt(i / n * k + t) - za) * (b.GetInt(t * n + i % n) - zb);
    }
  }
  return sums;
}

TEST(QuantizedLimits, LevelsSaturateAndTiesGoToEven) {
  std::vector<double> reals = {1e30, -1e30, 511, -511};
  for (int i = -600; i <= 600; ++i) reals.push_back(i);  // odd ones are ties at a scale of 2
  const HostTensor x = Floats({static_cast<int64_t>(reals.size())}, reals);
  for (const Byte& byte : AllBytes()) {
    const HostTensor y = RunOperator({.op = "QuantizeLinear",
                                      .inputs = {x, Floats({}, {2}), byte.Zero()},
                                      .constants = {1, 2}})[0];
    ASSERT_EQ(y.dtype, byte.dtype);
    for (size_t i = 0; i < reals.size(); ++i) {
      const double level = std::nearbyint(reals[i] / 2) + static_cast<double>(byte.zero);
      EXPECT_EQ(y.GetInt(static_cast<int64_t>(i)), byte.Clipped(level))
          << reals[i] << " with zero point " << byte.zero;
    }
  }
}

TEST(QuantizedLimits, ProductsOfEndsWithZeroPointsAtEnds) {
  constexpr int64_t kTerms = 33;  // no whole number of instructions
  for (const Byte& left : AllBytes()) {
    for (const Byte& right : AllBytes()) {
      SCOPED_TRACE(::testing::Message() << left.zero << " and " << right.zero);
      const HostTensor a = Ends(left, {5, kTerms}, 3), b = Ends(right, {kTerms, 18}, 7);
      for (const std::set<int>& constants : {std::set<int>{2, 3}, std::set<int>{1, 2, 3}}) {
        const HostTensor y = RunOperator({.op = "MatMulInteger",
                                          .inputs = {a, b, left.Zero(), right.Zero()},
                                          .constants = constants})[0];
        const std::vector<int64_t> expected = Products(a, left.zero, b, right.zero);
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(y.GetInt(static_cast<int64_t>(i)), expected[i]) << i;
        }
      }
    }
  }
}

TEST(QuantizedLimits, RequantizedProductsSaturateAndTiesGoToEven) {
  constexpr int64_t kTerms = 12;
  for (const Byte& left : AllBytes()) {
    const Byte right{DType::kInt8, 0};
    for (const Byte& result : AllBytes()) {
      // Products times 2^-15: of the order of the levels, with ties among them.
      const HostTensor a = Ends(left, {7, kTerms}, 5), b = Ends(right, {kTerms, 16}, 3);
      const std::vector<double> scales = {0.0625, 0.03125, 64};
      const HostTensor y = RunOperator(
          {.op = "QLinearMatMul",
           .inputs = {a, Floats({}, {scales[0]}), left.Zero(), b, Floats({}, {scales[1]}),
                      right.Zero(), Floats({}, {scales[2]}), result.Zero()},
           .constants = {1, 2, 3, 4, 5, 6, 7}})[0];
      const std::vector<int64_t> sums = Products(a, left.zero, b, right.zero);
      for (size_t i = 0; i < sums.size(); ++i) {
        const double real = static_cast<double>(sums[i]) * scales[0] * scales[1] / scales[2];
        ASSERT_EQ(y.GetInt(static_cast<int64_t>(i)),
                  result.Clipped(std::nearbyint(real) + static_cast<double>(result.zero)))
            << "zero points " << left.zero << " and " << result.zero << ", sum " << sums[i];
      }
    }
  }
}

/// The standard leaves 32 bits to accumulators: sums that fit are exact, others wrap.
TEST(QuantizedLimits, AccumulatorsHold32Bits) {
  constexpr int64_t kFits = 33025, kWraps = kFits + 1;  // times 255 * 255: beside 2^31
  static_assert(kFits * 255 * 255 <= std::numeric_limits<int32_t>::max());
  static_assert(kWraps * 255 * 255 > std::numeric_limits<int32_t>::max());
  const Byte byte{DType::kUInt8, 0};
  for (int64_t terms : {kFits, kWraps}) {
    const HostTensor a = Ends(byte, {1, terms}, terms), b = Ends(byte, {terms, 18}, terms * 18);
    const HostTensor y =
        RunOperator({.op = "MatMulInteger", .inputs = {a, b}, .constants = {1}})[0];
    for (int64_t i = 0; i < y.ElementCount(); ++i) {
      ASSERT_EQ(y.GetInt(i), Wrapped(terms * 255 * 255)) << terms;
    }
  }
}

}  // namespace
}  // namespace bayloom::graph
