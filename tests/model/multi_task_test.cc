// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/multi_task.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/log_posterior.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const ColumnGroups kHillGroups = {0, 1, 1};

double Hills(const Eigen::RowVectorXd& x) { return std::sin(6 * x(0)) + std::cos(4 * x(1)) * x(2); }

/// The same hills, elsewhere in height and scale, and a little bent.
double OtherHills(const Eigen::RowVectorXd& x) { return 5 + 2 * Hills(x) + 0.2 * x(0); }

PooledObservations MakePool() {
  base::RandomStream random(1);
  PooledObservations pool{UniformRows(45, 3, random), {}, {}};
  pool.values = Evaluate(pool.rows, Hills);
  for (int i = 0; i < 45; ++i) pool.tasks.push_back(i % 3);
  return pool;
}

Coregionalization SomeModel() {
  Coregionalization model;
  model.latents.push_back(
      {Eigen::Vector2d(0.4, 0.9), Eigen::Vector3d(1, 0.7, -0.4), Eigen::Vector3d(0.1, 0.3, 0.05)});
  model.latents.push_back(
      {Eigen::Vector2d(1.4, 0.3), Eigen::Vector3d(-0.2, 0.5, 0.6), Eigen::Vector3d(0.2, 0.1, 0.4)});
  model.noise_variance = Eigen::Vector3d(0.01, 0.04, 0.02);
  return model;
}

TEST(Coregionalization, PacksAndUnpacks) {
  const Coregionalization model = SomeModel();
  const VectorXd packed = model.Pack();
  EXPECT_TRUE(Coregionalization::Unpack(packed, 2, 3, 2).Pack().isApprox(packed));
}

TEST(Coregionalization, GradientIsThatOfFiniteDifferences) {
  const PooledObservations pool = MakePool();
  auto posterior = [&](const VectorXd& packed, VectorXd* gradient) {
    return LogCoregionalizationPosterior(pool, kHillGroups, {}, 3, 2, packed, gradient);
  };
  const VectorXd packed = SomeModel().Pack();
  VectorXd gradient;
  posterior(packed, &gradient);
  const VectorXd differences = DifferenceGradient(posterior, packed);
  EXPECT_LT((gradient - differences).cwiseAbs().maxCoeff(), 1e-4) << gradient.transpose() << "\n"
                                                                  << differences.transpose();
}

TEST(Coregionalization, OneTaskAndOneLatentIsAPlainGaussianProcess) {
  const PooledObservations pool = [] {
    PooledObservations all = MakePool();
    all.tasks.assign(45, 0);
    return all;
  }();
  Coregionalization model;
  model.latents.push_back(
      {Eigen::Vector2d(0.4, 0.9), VectorXd::Constant(1, 1.0), VectorXd::Constant(1, 0.5)});
  model.noise_variance = VectorXd::Constant(1, 0.01);
  const KernelHyperparameters same{Eigen::Vector2d(0.4, 0.9), 1.5, 0.01};
  CoregionalizationPriors priors;
  priors.mean_deviation = 1;
  const KernelPriors none{.length_scale = {}, .signal_variance = {}, .noise_variance = {}};
  const LogPosterior plain(pool.rows, kHillGroups, pool.values, none);

  // They differ by priors and a constant, which a change of the values leaves as they are.
  PooledObservations doubled = pool;
  doubled.values *= 2;
  auto coregionalized = [&](const PooledObservations& observations) {
    return LogCoregionalizationPosterior(observations, kHillGroups, priors, 1, 1, model.Pack(),
                                         nullptr);
  };
  const LogPosterior plain_doubled(pool.rows, kHillGroups, doubled.values, none);
  EXPECT_NEAR(coregionalized(doubled) - coregionalized(pool),
              plain_doubled(same.ToLogs(), nullptr) - plain(same.ToLogs(), nullptr), 1e-6);
}

TEST(MultiTask, AnEarlierTaskSavesObservationsOfTheNext) {
  base::RandomStream random(2);
  const TaskObservations earlier = Observe(80, Hills, random, 3),
                         few = Observe(6, OtherHills, random, 3);
  const RowMatrix queries = UniformRows(200, 3, random);
  auto error = [&](Surrogate& model) {
    model.Fit(few.rows, few.values, random);
    VectorXd mean, variance;
    model.Predict(queries, mean, variance);
    double squares = 0;
    for (int i = 0; i < 200; ++i) {
      const double difference = model.Untransform(mean(i)) - OtherHills(queries.row(i));
      squares += difference * difference / 200;
    }
    return std::sqrt(squares);
  };
  MultiTaskOptions options;
  options.scale = ObjectiveScale::kLinear;
  TransferSurrogate transfer(kHillGroups, {earlier}, options);
  GaussianProcess alone(kHillGroups);
  const double with = error(transfer), without = error(alone);
  EXPECT_LT(with, 0.3 * without);
  EXPECT_GT(transfer.model().TaskCorrelation()(0, 1), 0.9);
}

TEST(MultiTask, TasksWithNothingInCommonAreKeptApart) {
  base::RandomStream random(3);
  auto unlike = [](const Eigen::RowVectorXd& x) { return std::cos(5 * x(1) + 2 * x(0)); };
  const TaskObservations tasks[] = {Observe(60, Hills, random, 3), Observe(60, unlike, random, 3)};
  MultiTaskOptions options;
  options.scale = ObjectiveScale::kLinear;
  MultiTaskGaussianProcess model(kHillGroups, options);
  model.Fit(tasks, random);
  EXPECT_LT(std::abs(model.TaskCorrelation()(0, 1)), 0.6);
  EXPECT_NEAR(model.TaskCorrelation()(1, 1), 1, 1e-12);
  VectorXd mean, variance;
  model.Predict(1, tasks[1].rows, mean, variance);
  for (int i = 0; i < 60; ++i) {
    EXPECT_NEAR(model.Untransform(1, mean(i)), tasks[1].values(i), 0.15);
  }
}

TEST(MultiTask, AddingIsFittingAllUnderTheSameParameters) {
  base::RandomStream random(4);
  const TaskObservations tasks[] = {Observe(30, Hills, random, 3),
                                    Observe(20, OtherHills, random, 3)};
  MultiTaskGaussianProcess model(kHillGroups);
  model.Fit(tasks, random);
  const RowMatrix queries = UniformRows(40, 3, random);
  const TaskObservations more = Observe(5, Hills, random, 3);
  model.Add(0, more.rows, more.values);

  // Dense closed form, by the parameters learnt.
  RowMatrix rows(55, 3);
  rows << tasks[0].rows, tasks[1].rows, more.rows;
  std::vector<int> of(30, 0);
  of.insert(of.end(), 20, 1);
  of.insert(of.end(), 5, 0);
  const Coregionalization& parameters = model.parameters();
  MatrixXd covariance(55, 55);
  for (int j = 0; j < 55; ++j) {
    covariance.col(j) = parameters.Covariance(rows, of, rows.row(j), of[j], kHillGroups);
    covariance(j, j) = covariance(j, j) * (1 + kNugget) + parameters.noise_variance(of[j]);
  }
  const MatrixXd cross = parameters.Covariance(rows, of, queries, 1, kHillGroups);
  const double prior = parameters.Covariance(queries.topRows(1), std::vector<int>{1},
                                             queries.topRows(1), 1, kHillGroups)(0, 0);
  const VectorXd expected =
      prior - (cross.transpose() * covariance.inverse() * cross).diagonal().array();
  VectorXd mean, variance;
  model.Predict(1, queries, mean, variance);
  EXPECT_LT((variance - expected).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(MultiTask, PredictsATaskThatWasNeverObserved) {
  base::RandomStream random(5);
  const TaskObservations tasks[] = {Observe(30, Hills, random, 3), {RowMatrix(0, 3), VectorXd()}};
  MultiTaskGaussianProcess model(kHillGroups);
  model.Fit(tasks, random);
  VectorXd mean, known, unknown;
  model.Predict(0, tasks[0].rows, mean, known);
  model.Predict(1, tasks[0].rows, mean, unknown);
  EXPECT_TRUE(mean.allFinite());
  EXPECT_GT(unknown.minCoeff(), known.maxCoeff());
}

}  // namespace
}  // namespace bayloom::model
