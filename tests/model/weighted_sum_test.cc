// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/weighted_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

/// Share of pairs of queries that predictions put in order.
double InOrder(const Surrogate& model, const RowMatrix& queries) {
  VectorXd mean, variance;
  model.Predict(queries, mean, variance);
  int in_order = 0, pairs = 0;
  for (int i = 0; i < queries.rows(); ++i) {
    for (int j = 0; j < i; ++j, ++pairs) {
      in_order += (mean(i) < mean(j)) == (Waves(queries.row(i)) < Waves(queries.row(j)));
    }
  }
  return static_cast<double>(in_order) / pairs;
}

TEST(WeightedSum, TrustsTheTaskThatRanksAlike) {
  base::RandomStream random(1);
  const TaskObservations alike = Observe(40, Waves, random), other = Observe(40, Unrelated, random);
  const TaskObservations few = Observe(6, Waves, random);
  const RowMatrix queries = UniformRows(100, 2, random);
  WeightedSurrogate weighted(kTwoGroups, {alike, other});
  weighted.Fit(few.rows, few.values, random);
  EXPECT_NEAR(weighted.weights().sum(), 1, 1e-12);
  EXPECT_GT(weighted.weights()(0), 2 * weighted.weights()(1));
  WeightedSurrogate sum(kTwoGroups, {alike, other}, few.rows.rows() + 1);
  sum.Fit(few.rows, few.values, random);
  EXPECT_NEAR(sum.weights()(0), 1.0 / 3, 1e-12);
  GaussianProcess alone(kTwoGroups);
  alone.Fit(few.rows, few.values, random);
  EXPECT_GT(InOrder(weighted, queries), InOrder(alone, queries));
  EXPECT_GT(InOrder(weighted, queries), InOrder(sum, queries));
}

TEST(WeightedSum, LearnsFromWhatIsAdded) {
  base::RandomStream random(2);
  const TaskObservations other = Observe(30, Unrelated, random), few = Observe(3, Waves, random);
  const TaskObservations more = Observe(40, Waves, random);
  const RowMatrix queries = UniformRows(100, 2, random);
  WeightedSurrogate weighted(kTwoGroups, {other});
  weighted.Fit(few.rows, few.values, random);
  const auto copy = weighted.Clone();
  const double before = InOrder(weighted, queries);
  weighted.Add(more.rows, more.values);
  EXPECT_GT(InOrder(weighted, queries), before);
  EXPECT_NEAR(InOrder(*copy, queries), before, 1e-3);
  const double lowest = few.values.minCoeff();
  EXPECT_NEAR(weighted.Untransform(weighted.Transform(lowest)), lowest, 1e-9);
}

}  // namespace
}  // namespace bayloom::model
