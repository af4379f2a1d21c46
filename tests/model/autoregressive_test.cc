// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/autoregressive.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/model/incremental_predictor.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

RowMatrix Grid(int count) {
  RowMatrix rows(count, 1);
  for (int i = 0; i < count; ++i) rows(i, 0) = static_cast<double>(i) / (count - 1);
  return rows;
}

VectorXd Wave(const RowMatrix& rows) {
  return rows.col(0).unaryExpr([](double x) { return std::sin(12 * x); });
}

/// A wave that 25 observations tell, and twice that and a line of which seven are known.
class AutoregressiveTest : public testing::Test {
 protected:
  AutoregressiveTest() {
    lower_.Fit(Grid(25), Wave(Grid(25)), random_);
    upper_.Fit(known_, Truth(known_), random_);
  }
  static VectorXd Truth(const RowMatrix& rows) {
    return 2 * Wave(rows) + 3 * rows.col(0) + VectorXd::Constant(rows.rows(), 10);
  }
  double WorstError(const Surrogate& surrogate) const {
    VectorXd mean, variance;
    surrogate.Predict(Grid(101), mean, variance);
    for (double& value : mean) value = surrogate.Untransform(value);
    return (mean - Truth(Grid(101))).cwiseAbs().maxCoeff();
  }

  base::RandomStream random_{1};
  RowMatrix known_ = Grid(7);
  GaussianProcess lower_{{0}, LinearOptions()};
  AutoregressiveSurrogate upper_{{0}, lower_, LinearOptions()};
};

TEST_F(AutoregressiveTest, WhatTheLowerSurrogateKnowsNeedNotBeObservedAgain) {
  GaussianProcess alone({0}, LinearOptions());
  alone.Fit(known_, Truth(known_), random_);
  EXPECT_LT(WorstError(upper_), 0.67 * WorstError(alone));
  EXPECT_GT(upper_.slope(), 1);
  EXPECT_LT(upper_.slope(), 3);
}

TEST_F(AutoregressiveTest, WhatTheLowerSurrogateDoesNotKnowAddsToTheVariance) {
  RowMatrix away(1, 1);
  away(0, 0) = 3;  // nothing is known there
  VectorXd mean, variance, difference_variance;
  upper_.Predict(away, mean, variance);
  upper_.difference().Predict(away, mean, difference_variance);
  const double unit = (upper_.difference().Untransform(1) - upper_.difference().Untransform(0)) /
                      (upper_.Untransform(1) - upper_.Untransform(0));
  EXPECT_GT(variance[0], 1.05 * unit * unit * difference_variance[0]);
  upper_.Predict(known_, mean, variance);
  EXPECT_LT(variance.maxCoeff(), 0.2);
}

TEST_F(AutoregressiveTest, WhatWasObservedItselfIsKnownWhereTheLowerSurrogateKnowsNothing) {
  RowMatrix rows(known_.rows() + 1, 1);
  rows << known_, 3;
  upper_.Fit(rows, Truth(rows), random_);
  VectorXd mean, variance;
  upper_.Predict(rows, mean, variance);
  EXPECT_LT(variance[known_.rows()], 0.1);
}

TEST_F(AutoregressiveTest, FollowedPredictionsAndClonesAgreeWithIt) {
  const std::unique_ptr<IncrementalPredictor> followed = upper_.TrackPredictions(Grid(7));
  RowMatrix row(1, 1);
  row(0, 0) = 0.4;
  const std::unique_ptr<Surrogate> clone = upper_.Clone();
  clone->Add(row, Truth(row));
  VectorXd mean, variance, followed_mean, followed_variance;
  for (const Surrogate* surrogate :
       {static_cast<const Surrogate*>(&upper_), static_cast<const Surrogate*>(clone.get())}) {
    surrogate->Predict(Grid(7), mean, variance);
    followed->Predict(*surrogate, followed_mean, followed_variance);
    EXPECT_LT((mean - followed_mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((variance - followed_variance).cwiseAbs().maxCoeff(), 1e-9);
  }
}

}  // namespace
}  // namespace bayloom::model
