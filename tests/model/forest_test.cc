// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/model/feasibility_forest.h"
#include "bayloom/model/random_forest.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

TEST(RandomForest, PredictsAFunctionAndHowFarItIsOff) {
  base::RandomStream random(1);
  const RowMatrix rows = UniformRows(400, 4, random), queries = UniformRows(300, 4, random);
  RandomForest forest({.scale = ObjectiveScale::kLinear});
  forest.Fit(rows, Evaluate(rows, Bowl), random);
  VectorXd mean, variance;
  forest.Predict(queries, mean, variance);
  int within = 0;
  double squares = 0;
  for (int i = 0; i < 300; ++i) {
    const double error = mean(i) - forest.Transform(Bowl(queries.row(i)));
    squares += error * error;
    within += std::abs(error) < 2 * std::sqrt(variance(i));
  }
  EXPECT_LT(std::sqrt(squares / 300), 0.35);  // 1 for predicting the mean
  EXPECT_GT(within, 240);
}

TEST(RandomForest, IsSurerAtTheDataThanBetween) {
  base::RandomStream random(2);
  const RowMatrix rows = UniformRows(60, 2, random), queries = UniformRows(300, 2, random);
  RandomForest forest;
  forest.Fit(rows, Evaluate(rows, Bowl), random);
  VectorXd mean, at_data, between;
  forest.Predict(rows, mean, at_data);
  forest.Predict(queries, mean, between);
  EXPECT_LT(at_data.mean(), between.mean());
}

TEST(RandomForest, AddingMovesPredictionsTowardsWhatWasAdded) {
  base::RandomStream random(3);
  const RowMatrix rows = UniformRows(50, 2, random);
  RandomForest forest;
  forest.Fit(rows, Evaluate(rows, Bowl), random);
  const std::unique_ptr<Surrogate> copy = forest.Clone();
  const RowMatrix query = RowMatrix::Constant(1, 2, 0.5);
  VectorXd before, after, variance;
  copy->Predict(query, before, variance);
  copy->Add(query, VectorXd::Constant(1, 100));
  copy->Predict(query, after, variance);
  EXPECT_GT(after(0), before(0) + 1);
  forest.Predict(query, after, variance);
  EXPECT_EQ(after, before);
}

TEST(RandomForest, BearsConstantsAndSingleRows) {
  base::RandomStream random(4);
  RandomForest forest;
  for (const int n : {1, 30}) {
    forest.Fit(UniformRows(n, 2, random), VectorXd::Constant(n, 5), random);
    VectorXd mean, variance;
    forest.Predict(UniformRows(10, 2, random), mean, variance);
    EXPECT_DOUBLE_EQ(forest.Untransform(mean(3)), 5);
    EXPECT_GT(variance(3), 0);
  }
}

TEST(FeasibilityForest, LearnsAHiddenConstraint) {
  base::RandomStream random(5);
  auto fits = [](const auto& row) { return row(0) + row(1) < 1; };
  const RowMatrix rows = UniformRows(300, 5, random), queries = UniformRows(500, 5, random);
  std::vector<bool> feasible(300);
  for (int i = 0; i < 300; ++i) feasible[i] = fits(rows.row(i));
  FeasibilityForest forest;
  forest.Fit(rows, feasible, random);
  const VectorXd probability = forest.Probability(queries);
  int right = 0;
  for (int i = 0; i < 500; ++i) right += (probability(i) > 0.5) == fits(queries.row(i));
  EXPECT_GT(right, 430);
  EXPECT_GE(probability.minCoeff(), 0);
  EXPECT_LE(probability.maxCoeff(), 1);
  const RowMatrix corners{{0.05, 0.05, 0.5, 0.5, 0.5}, {0.95, 0.95, 0.5, 0.5, 0.5}};
  EXPECT_GT(forest.Probability(corners)(0), 0.9);
  EXPECT_LT(forest.Probability(corners)(1), 0.1);
}

TEST(FeasibilityForest, WhereAllIsFeasibleAllWillBe) {
  base::RandomStream random(6);
  FeasibilityForest forest;
  forest.Fit(UniformRows(10, 2, random), std::vector<bool>(10, true), random);
  EXPECT_EQ(forest.Probability(UniformRows(5, 2, random)), VectorXd::Ones(5));
}

}  // namespace
}  // namespace bayloom::model
