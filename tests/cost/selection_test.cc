// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/selection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/base/result.h"
#include "tests/cost/random_selection_task.h"

namespace bayloom::cost {
namespace {

TEST(Selection, EveryMethodGivesDistinctProgramsAsManyAsThereAre) {
  for (const std::string& name : SelectionMethods().Names()) ExpectDistinctPrograms(name);
  EXPECT_THROW(CreateSelection("best"), InputError);
}

TEST(Selection, GreedyTakesTheBestPredicted) {
  RandomTask task(1, 5, 0);
  task.scores = {0.1, 0.5, 0.3, 0.5, 0.2};
  base::RandomStream random(1);
  EXPECT_EQ(MakeGreedySelection()->Select(task.Task(), 3, random), (std::vector<int>{1, 3, 2}));
}

TEST(Selection, BiasEndsOnceMeasuredProgramsAreFast) {
  // From the anchor 0.5, 0.05 is farther; weighed by the scores, 0.9 is.
  RandomTask task(1, 2, 1);
  task.scores = {0.05, 0.9};
  task.measured_scores = {0.5};
  base::RandomStream random(1);
  const auto method = CreateSelection("biased-diversity", {.divergence_threshold = 1});
  task.measured_labels = {0.3};  // -log 0.3 = 1.2
  EXPECT_EQ(method->Select(task.Task(), 1, random), std::vector<int>{1});
  task.measured_labels = {0.4};  // -log 0.4 = 0.92
  EXPECT_EQ(method->Select(task.Task(), 1, random), std::vector<int>{0});
}

TEST(Divergence, IsTheMeanOfMinusTheLogarithm) {
  EXPECT_NEAR(Divergence(std::vector<double>{1, 0.5}), 0.34657, 1e-5);
  EXPECT_DOUBLE_EQ(Divergence(std::vector<double>{0}), -std::log(kMinLabel));
  EXPECT_EQ(Divergence({}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace bayloom::cost
