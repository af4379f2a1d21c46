// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/gaussian_process.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/model/fit_failure.h"
#include "bayloom/model/log_posterior.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const ColumnGroups kThree = {0, 1, 2};

struct Predictions {
  VectorXd mean, variance;
};

Predictions Predict(const Surrogate& model, const RowMatrix& rows) {
  Predictions predictions;
  model.Predict(rows, predictions.mean, predictions.variance);
  return predictions;
}

/// Root of the mean squared error, on the objective's own scale.
double Error(const Surrogate& model, const RowMatrix& rows, const VectorXd& values) {
  VectorXd mean = Predict(model, rows).mean;
  for (double& value : mean) value = model.Untransform(value);
  return std::sqrt((mean - values).squaredNorm() / static_cast<double>(values.size()));
}

TEST(GaussianProcess, PosteriorIsTheDenseClosedForm) {
  base::RandomStream random(1);
  const RowMatrix rows = UniformRows(40, 3, random), queries = UniformRows(300, 3, random);
  const VectorXd values = Evaluate(rows, Bowl);
  const KernelHyperparameters at{Eigen::Vector3d(0.5, 0.9, 2), 1.7, 0.01};
  GaussianProcess model(kThree, LinearOptions());
  model.Condition(rows, values, at);

  const MatrixXd train = ScaledColumns(rows, kThree, at.length_scales);
  const MatrixXd test = ScaledColumns(queries, kThree, at.length_scales);
  const MatrixXd inverse =
      (1.7 * Matern52(train, train) + (0.01 + 1.7 * kNugget) * MatrixXd::Identity(40, 40))
          .inverse();
  const VectorXd standard = Standardizer(values, false).Apply(values);
  const double mean = (inverse * standard).sum() / (1 + inverse.sum());
  const MatrixXd cross = 1.7 * Matern52(train, test);
  const VectorXd means =
      (cross.transpose() * inverse * (standard.array() - mean).matrix()).array() + mean;
  const VectorXd variances = 1.7 - (cross.transpose() * inverse * cross).diagonal().array();

  const Predictions predictions = Predict(model, queries);
  EXPECT_LT((predictions.mean - means).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((predictions.variance - variances).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(GaussianProcess, AddingIsConditioningOnAll) {
  base::RandomStream random(2);
  const RowMatrix rows = UniformRows(60, 3, random), queries = UniformRows(50, 3, random);
  const VectorXd values = Evaluate(rows, Bowl);
  GaussianProcess grown(kThree, LinearOptions());
  grown.Fit(rows.topRows(30), values.head(30), random);
  const auto hyperparameters = grown.hyperparameters();
  for (int i = 30; i < 40; ++i) grown.Add(rows.row(i), values.segment(i, 1));
  grown.Add(rows.bottomRows(20), values.tail(20));

  GaussianProcess whole(kThree, LinearOptions());
  whole.Condition(rows, values, hyperparameters);
  const Predictions a = Predict(grown, queries), b = Predict(whole, queries);
  for (int i = 0; i < 50; ++i) {  // the two scales differ: the grown one keeps its first
    EXPECT_NEAR(grown.Untransform(a.mean(i)), whole.Untransform(b.mean(i)), 2e-3);
    EXPECT_NEAR(a.variance(i), b.variance(i), 1e-8);
  }
}

TEST(GaussianProcess, RecoversASmoothFunctionAndWhichColumnsMatter) {
  base::RandomStream random(3);
  const RowMatrix rows = UniformRows(60, 3, random), queries = UniformRows(200, 3, random);
  GaussianProcess model(kThree, LinearOptions());
  model.Fit(rows, Evaluate(rows, Bowl), random);
  EXPECT_LT(Error(model, queries, Evaluate(queries, Bowl)), 0.02);  // its deviation is 0.4
  const VectorXd lengths = model.hyperparameters().length_scales;
  EXPECT_GT(lengths(2), 3 * lengths(0));
  EXPECT_GT(lengths(2), 3 * lengths(1));
  EXPECT_LT(model.hyperparameters().noise_variance, 1e-3);
}

TEST(GaussianProcess, IsCalibratedUnderNoise) {
  base::RandomStream random(4);
  const RowMatrix rows = UniformRows(150, 2, random), queries = UniformRows(400, 2, random);
  auto wavy = [](const Eigen::RowVectorXd& x) { return std::sin(8 * x(0)) * std::cos(5 * x(1)); };
  VectorXd values = Evaluate(rows, wavy);
  for (double& value : values) value += 0.2 * random.Normal();
  GaussianProcess model({0, 1}, LinearOptions());
  model.Fit(rows, values, random);
  const Predictions predictions = Predict(model, queries);
  int within = 0, observations_within = 0;
  for (int i = 0; i < 400; ++i) {
    const double value = wavy(queries.row(i));
    const double error = predictions.mean(i) - model.Transform(value);
    within += std::abs(error) < 2 * std::sqrt(predictions.variance(i));
    const double seen = predictions.mean(i) - model.Transform(value + 0.2 * random.Normal());
    const double variance = predictions.variance(i) + model.NoiseVariance();
    observations_within += std::abs(seen) < 2 * std::sqrt(variance);
  }
  EXPECT_GT(within, 360);  // 95 % if all were right
  EXPECT_GT(observations_within, 360);
  EXPECT_LT(observations_within, 400);
  // The noise's share of the variance is found.
  const double share = 0.04 / (0.04 + 0.25);
  EXPECT_NEAR(model.NoiseVariance(), share, 0.4 * share);
}

TEST(GaussianProcess, IsSureWhereItHasLookedAndUnsureElsewhere) {
  base::RandomStream random(5);
  const RowMatrix rows = UniformRows(30, 3, random);
  GaussianProcess model(kThree, LinearOptions());
  model.Fit(rows, Evaluate(rows, Bowl), random);
  RowMatrix far = RowMatrix::Constant(1, 3, 100);
  const double at_data = Predict(model, rows).variance.maxCoeff();
  const double elsewhere = Predict(model, far).variance(0);
  EXPECT_LT(at_data, 1e-2 * elsewhere);

  const RowMatrix query = RowMatrix::Constant(1, 3, 0.5);
  const double before = Predict(model, query).variance(0);
  model.Add(query, VectorXd::Constant(1, 3.5));
  EXPECT_LT(Predict(model, query).variance(0), before);
}

TEST(GaussianProcess, DoesNotCareAboutTheOrderOfRowsNorOfColumns) {
  base::RandomStream random(6);
  const RowMatrix rows = UniformRows(50, 3, random), queries = UniformRows(20, 3, random);
  const VectorXd values = Evaluate(rows, Bowl);
  const KernelHyperparameters at{Eigen::Vector2d(0.5, 0.9), 1, 0.01};
  const std::vector<int> turned = {2, 0, 1};
  std::vector<int> shuffled(50);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  random.Shuffle(shuffled);

  GaussianProcess model({0, 1, 1}, LinearOptions()), other({1, 0, 1}, LinearOptions());
  model.Condition(rows, values, at);
  other.Condition(rows(shuffled, turned), values(shuffled), at);
  const Predictions a = Predict(model, queries);
  const Predictions b = Predict(other, queries(Eigen::all, turned));
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(GaussianProcess, PriorsMoveLengthScales) {
  base::RandomStream random(7);
  const RowMatrix rows = UniformRows(12, 3, random);
  const VectorXd values = Evaluate(rows, Bowl);
  auto shortest = [&](std::optional<GammaPrior> prior) {
    GaussianProcessOptions options = LinearOptions();
    options.search.priors.length_scale = prior;
    GaussianProcess model(kThree, options);
    base::RandomStream same(8);
    model.Fit(rows, values, same);
    return model.hyperparameters().length_scales.maxCoeff();
  };
  EXPECT_LT(shortest(GammaPrior{30, 60}), 1);  // most of its mass is around 0.5
  EXPECT_GT(shortest(GammaPrior{30, 3}), 4);   // around 10
}

TEST(GaussianProcess, UsualLengthScalesLearnFromFewerRowsThanColumns) {
  constexpr int kColumns = 300, kRows = 150;
  base::RandomStream random(8);
  const RowMatrix rows = UniformRows(kRows, kColumns, random),
                  queries = UniformRows(300, kColumns, random);
  auto sum = [](const Eigen::RowVectorXd& x) {
    double total = 0;
    for (Eigen::Index i = 0; i < x.size(); ++i) total += x(i) * static_cast<double>(i % 3 - 1);
    return total;
  };
  const VectorXd truth = Evaluate(queries, sum);
  ColumnGroups groups(kColumns);
  std::iota(groups.begin(), groups.end(), 0);
  auto unexplained = [&](double length_scale) {
    KernelHyperparameters usual = DefaultHyperparameters(kColumns);
    usual.length_scales.setConstant(length_scale);
    GaussianProcess model(groups, LinearOptions());
    model.Condition(rows, Evaluate(rows, sum), usual);
    const double error = Error(model, queries, truth);
    return error * error / (truth.array() - truth.mean()).square().mean();
  };
  // 150 observations say at most a half of what there is to know about 300 weights.
  EXPECT_LT(unexplained(UsualLengthScale(kColumns)), 0.75);
  EXPECT_GT(unexplained(1), 0.99);
  EXPECT_EQ(UsualLengthScale(40), 1);
}

TEST(GaussianProcess, ChoosesTheLogarithmWhereItExplainsMore) {
  base::RandomStream random(9);
  const RowMatrix rows = UniformRows(60, 3, random), queries = UniformRows(100, 3, random);
  auto skewed = [](const Eigen::RowVectorXd& x) { return std::exp(4 * Bowl(x)); };
  GaussianProcess automatic(kThree), linear(kThree, LinearOptions());
  automatic.Fit(rows, Evaluate(rows, skewed), random);
  linear.Fit(rows, Evaluate(rows, skewed), random);
  EXPECT_TRUE(automatic.log_objective());
  EXPECT_FALSE(linear.log_objective());
  EXPECT_LT(Error(automatic, queries, Evaluate(queries, skewed)),
            Error(linear, queries, Evaluate(queries, skewed)));

  GaussianProcess straight(kThree);
  auto additive = [](const Eigen::RowVectorXd& x) { return 0.01 + 3 * x(0) + x(1); };
  straight.Fit(rows, Evaluate(rows, additive), random);
  EXPECT_FALSE(straight.log_objective());
}

TEST(GaussianProcess, TransformsThereAndBack) {
  base::RandomStream random(10);
  const RowMatrix rows = UniformRows(20, 3, random);
  for (const ObjectiveScale scale : {ObjectiveScale::kLinear, ObjectiveScale::kLog}) {
    GaussianProcessOptions options;
    options.scale = scale;
    GaussianProcess model(kThree, options);
    model.Fit(rows, Evaluate(rows, Bowl), random);
    EXPECT_NEAR(model.Untransform(model.Transform(3.25)), 3.25, 1e-12);
    EXPECT_LT(model.Transform(3), model.Transform(3.1));
  }
}

TEST(GaussianProcess, LeavesTheLogarithmForAValueThatHasNone) {
  base::RandomStream random(11);
  RowMatrix rows = UniformRows(20, 3, random);
  VectorXd values = Evaluate(rows, Bowl);
  GaussianProcessOptions options;
  options.scale = ObjectiveScale::kLog;
  GaussianProcess model(kThree, options);
  model.Fit(rows, values, random);
  ASSERT_TRUE(model.log_objective());
  const RowMatrix centre = RowMatrix::Constant(1, 3, 0.5);
  const double before = Predict(model, centre).mean(0);
  model.Add(centre, VectorXd::Constant(1, -1));
  EXPECT_LT(Predict(model, centre).mean(0), before);  // finite, and taken for a very good one

  values(7) = -1;
  model.Fit(rows, values, random);
  EXPECT_FALSE(model.log_objective());
}

TEST(GaussianProcess, BearsConstantsDuplicatesAndSingleRows) {
  base::RandomStream random(12);
  GaussianProcess model(kThree);
  for (const int n : {1, 2, 40}) {
    const RowMatrix rows = UniformRows(n, 3, random);
    model.Fit(rows, VectorXd::Constant(n, 7), random);
    const Predictions predictions = Predict(model, UniformRows(10, 3, random));
    EXPECT_NEAR(model.Untransform(predictions.mean(0)), 7, 1e-6);
    EXPECT_TRUE(predictions.variance.allFinite());
  }

  const RowMatrix same = RowMatrix::Constant(50, 3, 0.5);
  const VectorXd noisy = VectorXd::NullaryExpr(50, [&] { return 1 + random.Uniform(); });
  GaussianProcess repeated(kThree, LinearOptions());
  repeated.Fit(same, noisy, random);
  repeated.Add(same, noisy);
  EXPECT_NEAR(repeated.Untransform(Predict(repeated, same).mean(0)), noisy.mean(), 1e-2);
}

TEST(GaussianProcess, RefusesWhatIsNotFinite) {
  base::RandomStream random(13);
  GaussianProcess model(kThree);
  const RowMatrix rows = UniformRows(2, 3, random);
  EXPECT_THROW(model.Fit(rows, Eigen::Vector2d(1, std::nan("")), random), FitFailure);
}

TEST(GaussianProcess, ClonesLearnOnTheirOwn) {
  base::RandomStream random(14);
  const RowMatrix rows = UniformRows(20, 3, random);
  GaussianProcess model(kThree);
  model.Fit(rows, Evaluate(rows, Bowl), random);
  const Predictions before = Predict(model, rows);
  model.Clone()->Add(rows, VectorXd::Constant(20, 9));
  EXPECT_EQ(Predict(model, rows).mean, before.mean);
}

TEST(GaussianProcess, OneSeedGivesTheSameModel) {
  base::RandomStream rows_random(15);
  const RowMatrix rows = UniformRows(30, 3, rows_random);
  auto lengths = [&] {
    base::RandomStream random(16);
    GaussianProcess model(kThree);
    model.Fit(rows, Evaluate(rows, Bowl), random);
    return model.hyperparameters().length_scales;
  };
  EXPECT_EQ(lengths(), lengths());
}

}  // namespace
}  // namespace bayloom::model
