// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/transfer/stacking.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/magnitudes.h"
#include "tests/model/test_data.h"

namespace bayloom::experimental {
namespace {

using Eigen::VectorXd;

double OtherWaves(const Eigen::RowVectorXd& x) { return 5 + 2 * model::Waves(x) + 0.3 * x(1); }

double Error(const model::Surrogate& model, const model::RowMatrix& queries) {
  VectorXd mean, variance;
  model.Predict(queries, mean, variance);
  double squares = 0;
  for (int i = 0; i < queries.rows(); ++i) {
    const double error = model.Untransform(mean(i)) - OtherWaves(queries.row(i));
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(queries.rows()));
}

TEST(Stacking, BeginsWhereEarlierTasksEnd) {
  base::RandomStream random(1);
  const model::TaskObservations first = model::Observe(40, model::Waves, random),
                                second = model::Observe(40, model::Waves, random);
  const model::TaskObservations few = model::Observe(8, OtherWaves, random);
  const model::RowMatrix queries = model::UniformRows(200, 2, random);
  StackedSurrogate stacked(model::kTwoGroups, {first, second});
  model::GaussianProcess alone(model::kTwoGroups);
  stacked.Fit(few.rows, few.values, random);
  alone.Fit(few.rows, few.values, random);
  EXPECT_LT(Error(stacked, queries), 0.5 * Error(alone, queries));
}

TEST(Stacking, WithoutEarlierTasksIsAPlainGaussianProcess) {
  base::RandomStream random(2);
  const model::TaskObservations task = model::Observe(30, OtherWaves, random);
  const model::RowMatrix queries = model::UniformRows(20, 2, random);
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  StackedSurrogate stacked(model::kTwoGroups, {}, options);
  model::GaussianProcess plain(model::kTwoGroups, options);
  base::RandomStream a(3), b(3);
  stacked.Fit(task.rows, task.values, a);
  plain.Fit(task.rows, task.values, b);
  VectorXd mean, variance, plain_mean, plain_variance;
  stacked.Predict(queries, mean, variance);
  plain.Predict(queries, plain_mean, plain_variance);
  EXPECT_LT((mean - plain_mean).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT((variance - plain_variance).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(Stacking, LearnsFromWhatIsAdded) {
  base::RandomStream random(4);
  const model::TaskObservations earlier = model::Observe(30, model::Waves, random),
                                few = model::Observe(5, OtherWaves, random);
  const model::TaskObservations more = model::Observe(40, OtherWaves, random);
  const model::RowMatrix queries = model::UniformRows(100, 2, random);
  StackedSurrogate stacked(model::kTwoGroups, {earlier});
  stacked.Fit(few.rows, few.values, random);
  const auto copy = stacked.Clone();
  const double before = Error(stacked, queries);
  stacked.Add(more.rows, more.values);
  EXPECT_LT(Error(stacked, queries), before);
  EXPECT_NEAR(Error(*copy, queries), before, 1e-6);  // sums are rounded as memory is aligned
  const VectorXd lowest = VectorXd::Constant(1, few.values.minCoeff());
  EXPECT_LT(stacked.Transform(lowest(0)), stacked.Transform(lowest(0) + 0.1));
}

TEST(Stacking, TakesValuesOfAnyMagnitude) {
  for (const model::Magnitudes& values : model::kMagnitudes) {
    SCOPED_TRACE(values.name);
    model::ExpectFinitePredictions(
        [](std::vector<model::TaskObservations> earlier) {
          return std::make_unique<StackedSurrogate>(model::kTwoGroups, std::move(earlier));
        },
        values);
  }
}

}  // namespace
}  // namespace bayloom::experimental
