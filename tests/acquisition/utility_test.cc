// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/utility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace bayloom::acquisition {
namespace {

TEST(UtilityTest, AllKindsPreferALowerMean) {
  for (AcquisitionKind kind :
       {AcquisitionKind::kExpectedImprovement, AcquisitionKind::kProbabilityOfImprovement,
        AcquisitionKind::kConfidenceBound}) {
    const Utility utility{.kind = kind, .best = 1};
    EXPECT_GT(utility(0.5, 1), utility(0.6, 1));
    EXPECT_GT(utility(100, 1), utility(101, 1));
  }
}

TEST(UtilityTest, ImprovementAndBoundPreferWhatIsUnknown) {
  for (AcquisitionKind kind :
       {AcquisitionKind::kExpectedImprovement, AcquisitionKind::kConfidenceBound}) {
    const Utility utility{.kind = kind, .best = 1};
    EXPECT_GT(utility(2, 1.1), utility(2, 1));
    EXPECT_GT(utility(0, 1.1), utility(0, 1));
  }
}

TEST(UtilityTest, NoiseIsOneMoreVariance) {
  for (AcquisitionKind kind :
       {AcquisitionKind::kExpectedImprovement, AcquisitionKind::kProbabilityOfImprovement,
        AcquisitionKind::kConfidenceBound}) {
    EXPECT_EQ((Utility{.kind = kind, .best = 1, .noise = 0.5}(2, 1)),
              (Utility{.kind = kind, .best = 1}(2, 1.5)));
  }
}

TEST(FeasibilityTest, ThresholdsAreElevenStepsAsLikely) {
  base::RandomStream random(1);
  std::map<double, int> counts;
  constexpr int kDraws = 11000;
  for (int i = 0; i < kDraws; ++i) ++counts[DrawFeasibilityThreshold(0.2, random)];
  ASSERT_EQ(counts.size(), 11u);
  EXPECT_EQ(counts.begin()->first, 0);
  EXPECT_DOUBLE_EQ(counts.rbegin()->first, 0.2);
  double chi_square = 0;
  for (const auto& [threshold, count] : counts) chi_square += std::pow(count - 1000, 2) / 1000;
  EXPECT_LT(chi_square, 29.6);  // 99.9 % of 10 degrees of freedom
}

TEST(FeasibilityTest, BelowTheThresholdIsNever) {
  EXPECT_EQ(LogFeasibility(0.04, 0.05), -std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(LogFeasibility(0.5, 0.05), std::log(0.5));
}

TEST(FeasibilityTest, WithoutThresholdNothingIsImpossible) {
  EXPECT_TRUE(std::isfinite(LogFeasibility(0, 0)));
}

}  // namespace
}  // namespace bayloom::acquisition
