// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/incremental_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/random_forest.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

RowMatrix RandomRows(int count, base::RandomStream& random) {
  RowMatrix rows(count, 3);
  for (double& x : rows.reshaped()) x = random.Uniform();
  return rows;
}

VectorXd Values(const RowMatrix& rows) {
  return (3 * rows.col(0).array()).sin() + rows.col(1).array() * rows.col(2).array();
}

void ExpectPredictionsOf(const Surrogate& surrogate, const RowMatrix& rows,
                         IncrementalPredictor& watched) {
  VectorXd mean, variance, expected_mean, expected_variance;
  watched.Predict(surrogate, mean, variance);
  surrogate.Predict(rows, expected_mean, expected_variance);
  EXPECT_LT((mean - expected_mean).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((variance - expected_variance).cwiseAbs().maxCoeff(), 1e-7);
}

void FollowsWhateverIsLearnt(Surrogate& surrogate) {
  base::RandomStream random(3);
  const RowMatrix candidates = RandomRows(300, random);
  const RowMatrix first = RandomRows(30, random);
  surrogate.Fit(first, Values(first), random);
  const auto watched = surrogate.TrackPredictions(candidates);
  ExpectPredictionsOf(surrogate, candidates, *watched);
  for (int i = 0; i < 12; ++i) {
    const RowMatrix more = RandomRows(1 + i % 3, random);
    surrogate.Add(more, Values(more));
    ExpectPredictionsOf(surrogate, candidates, *watched);
  }
  const RowMatrix all = RandomRows(60, random);
  surrogate.Fit(all, Values(all), random);
  ExpectPredictionsOf(surrogate, candidates, *watched);
}

void GoesToAndFroBetweenClones(Surrogate& surrogate) {
  base::RandomStream random(4);
  const RowMatrix candidates = RandomRows(200, random);
  const RowMatrix first = RandomRows(30, random);
  surrogate.Fit(first, Values(first), random);
  const auto watched = surrogate.TrackPredictions(candidates);
  for (int i = 0; i < 4; ++i) {
    const auto imagined = surrogate.Clone();
    const RowMatrix what_if = RandomRows(3, random);
    imagined->Add(what_if, VectorXd::Constant(3, -1));
    ExpectPredictionsOf(*imagined, candidates, *watched);
    ExpectPredictionsOf(surrogate, candidates, *watched);
    const RowMatrix more = RandomRows(1, random);
    surrogate.Add(more, Values(more));
    ExpectPredictionsOf(surrogate, candidates, *watched);
    ExpectPredictionsOf(*imagined, candidates, *watched);
  }
  const auto other = surrogate.Clone();
  const RowMatrix anew = RandomRows(40, random);
  other->Fit(anew, Values(anew), random);
  ExpectPredictionsOf(*other, candidates, *watched);
  ExpectPredictionsOf(surrogate, candidates, *watched);
}

TEST(WatchedRowsTest, FollowAGaussianProcess) {
  GaussianProcess process({0, 1, 2});
  FollowsWhateverIsLearnt(process);
}

TEST(WatchedRowsTest, FollowAForest) {
  RandomForest forest;
  FollowsWhateverIsLearnt(forest);
}

TEST(WatchedRowsTest, GoToAndFroBetweenClonesOfAGaussianProcess) {
  GaussianProcess process({0, 1, 2});
  GoesToAndFroBetweenClones(process);
}

TEST(WatchedRowsTest, GoToAndFroBetweenClonesOfAForest) {
  RandomForest forest;
  GoesToAndFroBetweenClones(forest);
}

}  // namespace
}  // namespace bayloom::model
