// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/pack_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bayloom::cost {
namespace {

TEST(PackSum, LossIsHalfTheWeightedSquareOfTheScoresErrors) {
  const PackSum objective({2, 1}, {1.0, 0.0});
  // Scores 0.5 and 2: errors -0.5 with weight 1, and 2 with the least weight.
  const std::vector<float> predictions = {0.25f, 0.25f, 2.0f};
  EXPECT_NEAR(objective.Loss(predictions), 0.5 * 0.25 + 0.5 * PackSum::kMinWeight * 4, 1e-9);
  EXPECT_NEAR(objective.Rmse(predictions), std::sqrt((0.25 + 4) / 2), 1e-9);
}

TEST(PackSum, PriorsAreWhatTheRowsCorrect) {
  const PackSum objective({2, 1}, {1.0, 0.0}, {0.5, 2.0});
  EXPECT_EQ(objective.Loss(std::vector<float>{0.25f, 0.25f, -2.0f}), 0);
}

TEST(PackSum, GradientEqualsFiniteDifferences) {
  const PackSum objective({3, 1, 7}, {0.8, 0.0, 0.3}, {0.1, 0.0, -0.2});
  std::vector<float> predictions;
  for (int i = 0; i < objective.row_count(); ++i) predictions.push_back(0.1f * i - 0.3f);
  std::vector<float> gradient(11), curvature(11);
  objective.Gradient(predictions, 0.2, gradient, curvature);
  for (int i = 0; i < objective.row_count(); ++i) {
    const float step = 1e-3f;
    std::vector<float> above = predictions, below = predictions;
    above[i] += step;
    below[i] -= step;
    EXPECT_NEAR(gradient[i],
                (objective.Loss(above) - objective.Loss(below)) / (above[i] - below[i]), 1e-4)
        << "row " << i;
  }
}

TEST(PackSum, NewtonStepsOfAllRowsTogetherNeverOvershoot) {
  for (int rows : {1, 4, 12, 50}) {
    const PackSum objective({rows}, {1.0});
    std::vector<float> predictions(rows, 0), gradient(rows), curvature(rows);
    objective.Gradient(predictions, 0.2, gradient, curvature);
    double score = 0;
    for (int row = 0; row < rows; ++row) score -= 0.2 * gradient[row] / curvature[row];
    EXPECT_GT(score, 0.1) << rows;
    EXPECT_LE(score, 1 + 1e-6) << rows;
  }
}

}  // namespace
}  // namespace bayloom::cost
