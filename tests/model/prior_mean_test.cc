// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/prior_mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/model/incremental_predictor.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

const RowMatrix kNoFailures = RowMatrix::Zero(0, 2);

/// Increasing in Waves, in another unit and of another distribution.
double Steep(const Eigen::RowVectorXd& x) { return 1e6 * std::exp(3 * Waves(x)); }
double Opposite(const Eigen::RowVectorXd& x) { return -Waves(x); }

PriorMeanSurrogate Fitted(std::vector<TaskObservations> earlier, const TaskObservations& task) {
  base::RandomStream random(9);
  std::vector<RowMatrix> failures(earlier.size(), kNoFailures);
  PriorMeanSurrogate model(kTwoGroups, std::move(earlier), std::move(failures));
  model.Fit(task.rows, task.values, random);
  return model;
}

double Error(const Surrogate& model, const RowMatrix& queries) {
  VectorXd mean, variance;
  model.Predict(queries, mean, variance);
  double squares = 0;
  for (Eigen::Index i = 0; i < queries.rows(); ++i) {
    squares += std::pow(model.Untransform(mean[i]) - Waves(queries.row(i)), 2);
  }
  return std::sqrt(squares / static_cast<double>(queries.rows()));
}

TEST(EarlierRanking, ScoresRanksNotValues) {
  base::RandomStream random(1);
  const TaskObservations waves = Observe(50, Waves, random);
  const TaskObservations steep = {waves.rows, Evaluate(waves.rows, Steep)};
  base::RandomStream first(2), second(2);
  const EarlierRanking one(kTwoGroups, waves, kNoFailures, first);
  const EarlierRanking other(kTwoGroups, steep, kNoFailures, second);
  const VectorXd scores = one.Scores(waves.rows);
  EXPECT_EQ(scores, other.Scores(waves.rows));
  const RowMatrix queries = UniformRows(30, 2, random);
  EXPECT_EQ(one.Scores(queries), other.Scores(queries));
  EXPECT_NEAR(scores.mean(), 0, 1e-12);
  // Logistic scores of 50 ranks: the ends are log(0.01 / 0.99) over pi / sqrt(3).
  EXPECT_NEAR(scores.minCoeff(), -2.5334, 1e-4);
  EXPECT_NEAR(scores.maxCoeff(), 2.5334, 1e-4);
}

TEST(EarlierRanking, WhatFailedIsLast) {
  base::RandomStream random(1);
  const TaskObservations waves = Observe(20, Waves, random);
  const RowMatrix failures = UniformRows(5, 2, random);
  const EarlierRanking ranking(kTwoGroups, waves, failures, random);
  const VectorXd of_failures = ranking.Scores(failures);
  EXPECT_EQ(of_failures.minCoeff(), of_failures.maxCoeff());
  EXPECT_GT(of_failures.minCoeff(), ranking.Scores(waves.rows).maxCoeff());
}

TEST(ProbabilityOfAlike, GrowsAndFallsWithTheOrderOfPairs) {
  const VectorXd values = VectorXd::LinSpaced(10, 1, 2);
  EXPECT_DOUBLE_EQ(ProbabilityOfAlike(values.head(1), values.head(1)), 0.5);
  // Nine comparisons, all in order: odds of (0.8 / 0.5)^9.
  const double odds = std::pow(0.8 / 0.5, 9);
  EXPECT_NEAR(ProbabilityOfAlike(values, values), odds / (1 + odds), 1e-12);
  EXPECT_LT(ProbabilityOfAlike(-values, values), 0.01);
}

TEST(SkillsApart, CountPairsThatNotAllTasksPutInTheSameOrder) {
  const VectorXd values = VectorXd::LinSpaced(6, 1, 2);
  Eigen::MatrixXd scores(6, 2);
  scores << values, -values;
  const VectorXd skills = SkillsApart(scores, values);
  EXPECT_DOUBLE_EQ(skills[0], (2 * 0.5 + 5) / 7);
  EXPECT_EQ(skills[1], 0);
  // One that all put last says nothing of which one to follow.
  VectorXd more(7);
  more << values, 9;
  Eigen::MatrixXd more_scores(7, 2);
  more_scores << scores, 9, 9;
  const VectorXd unchanged = SkillsApart(more_scores, more);
  EXPECT_NEAR(unchanged[0], (1 + 6 * 15. / 21) / (2 + 6 * 15. / 21), 1e-12);
  EXPECT_EQ(unchanged[1], 0);
  // Nothing is disputed of one task, or of equal ones.
  EXPECT_EQ(SkillsApart(scores.leftCols(1), values)[0], 0.5);
  scores.col(1) = scores.col(0);
  EXPECT_EQ(SkillsApart(scores, values), VectorXd::Constant(2, 0.5));
}

TEST(PriorMean, NeedsFewObservationsWhereATaskRanksAlike) {
  base::RandomStream random(3);
  const TaskObservations alike = Observe(120, Steep, random);
  const TaskObservations other = Observe(120, Unrelated, random);
  const TaskObservations few = Observe(10, Waves, random);
  const RowMatrix queries = UniformRows(200, 2, random);
  const PriorMeanSurrogate model = Fitted({other, alike}, few);
  EXPECT_GT(model.coefficients()[1], model.coefficients()[0]);
  GaussianProcess alone(kTwoGroups);
  alone.Fit(few.rows, few.values, random);
  EXPECT_LT(Error(model, queries), 0.6 * Error(alone, queries));
}

TEST(PriorMean, WithAWrongTaskIsThePlainProcess) {
  base::RandomStream random(4);
  const TaskObservations opposite = Observe(80, Opposite, random);
  const TaskObservations task = Observe(25, Waves, random);
  const PriorMeanSurrogate model = Fitted({opposite}, task);
  EXPECT_EQ(model.coefficients()[0], 0);
  EXPECT_LT(model.probabilities()[0], 1e-3);
  GaussianProcessOptions linear;
  linear.scale = ObjectiveScale::kLinear;
  GaussianProcess alone(kTwoGroups, linear);
  alone.Fit(task.rows, task.values, random);
  const RowMatrix queries = UniformRows(200, 2, random);
  EXPECT_NEAR(Error(model, queries), Error(alone, queries), 0.1 * Error(alone, queries) + 1e-3);
}

TEST(PriorMean, OneTrialThatAllPutLastDoesNotHideWhichTaskRanksAlike) {
  base::RandomStream random(6);
  std::vector<TaskObservations> earlier = {
      Observe(60, Steep, random), Observe(60, Unrelated, random), Observe(60, Opposite, random)};
  TaskObservations task = Observe(6, Waves, random);
  const auto add = [](TaskObservations& to, double value) {
    to.rows.conservativeResize(to.rows.rows() + 1, Eigen::NoChange);
    to.rows.bottomRows(1).setConstant(0.5);
    to.values.conservativeResize(to.rows.rows());
    to.values[to.values.size() - 1] = value;
  };
  for (TaskObservations& one : earlier) add(one, 1e9);
  add(task, 50);
  const VectorXd coefficients = Fitted(earlier, task).coefficients();
  EXPECT_GT(coefficients[0], 0.9 * coefficients.sum());
}

TEST(PriorMean, TracksWhatItPredicts) {
  base::RandomStream random(5);
  const TaskObservations earlier = Observe(60, Waves, random);
  const TaskObservations few = Observe(12, Waves, random), more = Observe(3, Waves, random);
  const RowMatrix queries = UniformRows(40, 2, random);
  PriorMeanSurrogate model = Fitted({earlier}, few);
  const auto tracked = model.TrackPredictions(queries);
  const auto expect_equal = [&](const Surrogate& surrogate) {
    VectorXd mean, variance, tracked_mean, tracked_variance;
    surrogate.Predict(queries, mean, variance);
    tracked->Predict(surrogate, tracked_mean, tracked_variance);
    EXPECT_LT((mean - tracked_mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((variance - tracked_variance).cwiseAbs().maxCoeff(), 1e-9);
  };
  expect_equal(model);
  const auto copy = model.Clone();
  copy->Add(more.rows, more.values);
  expect_equal(*copy);
  expect_equal(model);
  EXPECT_NEAR(model.Untransform(model.Transform(0.25)), 0.25, 1e-12);
}

}  // namespace
}  // namespace bayloom::model
