// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/log_posterior.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Problem {
  RowMatrix rows;
  VectorXd observations;
};

Problem MakeProblem(int n) {
  base::RandomStream random(4);
  Problem problem{UniformRows(n, 4, random), {}};
  problem.observations = Evaluate(problem.rows, Bowl);
  problem.observations.array() -= problem.observations.mean();
  for (double& value : problem.observations) value += 0.1 * random.Normal();
  return problem;
}

VectorXd SomeLogs() {
  return KernelHyperparameters{Eigen::Vector3d(0.4, 0.7, 1.9), 1.3, 0.02}.ToLogs();
}

TEST(LogPosterior, IsTheDensityInClosedForm) {
  const Problem problem = MakeProblem(30);
  const KernelPriors none{.length_scale = {}, .signal_variance = {}, .noise_variance = {}};
  const auto at = KernelHyperparameters::FromLogs(SomeLogs());
  const MatrixXd scaled = ScaledColumns(problem.rows, kThreeGroups, at.length_scales);
  const MatrixXd covariance =
      at.signal_variance * Matern52(scaled, scaled) +
      (at.noise_variance + kNugget * at.signal_variance) * MatrixXd::Identity(30, 30);
  // The mean that maximizes the density: a dense solution of its normal equation.
  const MatrixXd inverse = covariance.inverse();
  const double mean = (inverse * problem.observations).sum() / (1 + inverse.sum());
  const VectorXd residual = problem.observations.array() - mean;
  const double expected = -0.5 * residual.dot(inverse * residual) -
                          0.5 * std::log(covariance.determinant()) -
                          15 * std::log(2 * std::numbers::pi) - 0.5 * mean * mean;
  EXPECT_NEAR(
      LogPosterior(problem.rows, kThreeGroups, problem.observations, none)(SomeLogs(), nullptr),
      expected, 1e-6);
}

TEST(LogPosterior, GradientIsThatOfFiniteDifferences) {
  const Problem problem = MakeProblem(70);
  for (const bool with_priors : {true, false}) {
    KernelPriors priors;
    if (!with_priors) priors = {.length_scale = {}, .signal_variance = {}, .noise_variance = {}};
    const LogPosterior posterior(problem.rows, kThreeGroups, problem.observations, priors);
    VectorXd gradient;
    posterior(SomeLogs(), &gradient);
    const VectorXd differences = DifferenceGradient(
        [&](const VectorXd& logs, VectorXd* out) { return posterior(logs, out); }, SomeLogs());
    EXPECT_LT((gradient - differences).cwiseAbs().maxCoeff(), 1e-4) << gradient.transpose() << "\n"
                                                                    << differences.transpose();
  }
}

TEST(LogPosterior, PriorsAddTheirLogDensities) {
  const Problem problem = MakeProblem(10);
  const KernelPriors none{.length_scale = {}, .signal_variance = {}, .noise_variance = {}};
  const KernelPriors some{
      .length_scale = GammaPrior{3, 6}, .signal_variance = {}, .noise_variance = {}};
  double expected = 0;
  for (const double length : {0.4, 0.7, 1.9}) expected += 2 * std::log(length) - 6 * length;
  EXPECT_NEAR(
      LogPosterior(problem.rows, kThreeGroups, problem.observations, some)(SomeLogs(), nullptr) -
          LogPosterior(problem.rows, kThreeGroups, problem.observations, none)(SomeLogs(), nullptr),
      expected, 1e-9);
}

}  // namespace
}  // namespace bayloom::model
