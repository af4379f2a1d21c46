// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace bayloom::base {
namespace {

TEST(RandomStreamTest, SameSeedGivesTheSameNumbers) {
  RandomStream a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t x = a.Next();
    EXPECT_EQ(x, b.Next());
    differs |= x != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomStreamTest, UniformIntIsUniformByChiSquare) {
  RandomStream stream(1);
  constexpr int kBins = 7, kDraws = 70000;
  std::array<int, kBins> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[stream.UniformInt(kBins)];
  double chi2 = 0;
  for (int c : counts) chi2 += (c - 10000.0) * (c - 10000.0) / 10000.0;
  EXPECT_LT(chi2, 22.46);  // 99.9 % quantile, 6 degrees of freedom
}

TEST(RandomStreamTest, WeightedNeverDrawsZeroWeight) {
  RandomStream stream(3);
  const std::vector<double> weights = {0, 1, 0, 3, 0};
  int threes = 0;
  for (int i = 0; i < 4000; ++i) {
    const int k = stream.Weighted(weights);
    ASSERT_TRUE(k == 1 || k == 3);
    threes += k == 3;
  }
  EXPECT_NEAR(threes, 3000, 150);
}

}  // namespace
}  // namespace bayloom::base
