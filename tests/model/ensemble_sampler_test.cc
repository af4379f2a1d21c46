// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/ensemble_sampler.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd Ball(int dimensions, int walkers, base::RandomStream& random) {
  return MatrixXd::NullaryExpr(dimensions, walkers, [&] { return 0.1 * random.Normal(); });
}

TEST(EnsembleSampler, HasTheMomentsOfASkewedNormal) {
  // Correlated, and a thousand times wider along one axis than along the other.
  Eigen::Matrix2d covariance;
  covariance << 1, 800, 800, 1e6;
  const Eigen::Matrix2d precision = covariance.inverse();
  const Eigen::Vector2d centre(2, -3);
  auto density = [&](const VectorXd& x) {
    return -0.5 * (x - centre).dot(precision * (x - centre));
  };
  base::RandomStream random(1);
  const EnsembleChain chain = SampleEnsemble(density, Ball(2, 10, random), 20000, random);
  const MatrixXd samples = chain.samples.rightCols(150000);
  const VectorXd mean = samples.rowwise().mean();
  const MatrixXd centred = samples.colwise() - mean;
  const MatrixXd found = centred * centred.transpose() / 150000;
  EXPECT_NEAR(mean(0), 2, 0.05);
  EXPECT_NEAR(mean(1), -3, 50);
  EXPECT_NEAR(found(0, 0), 1, 0.06);
  EXPECT_NEAR(found(0, 1), 800, 60);
  EXPECT_NEAR(found(1, 1), 1e6, 6e4);
  EXPECT_GT(chain.accepted, 0.4);
  EXPECT_LT(chain.accepted, 0.9);
}

TEST(EnsembleSampler, StaysWhereTheDensityIsPositive) {
  auto exponential = [](const VectorXd& x) {
    return x(0) < 0 ? -std::numeric_limits<double>::infinity() : -x(0);
  };
  base::RandomStream random(2);
  const MatrixXd start = MatrixXd::NullaryExpr(1, 8, [&] { return random.Uniform(); });
  const EnsembleChain chain = SampleEnsemble(exponential, start, 20000, random);
  EXPECT_GE(chain.samples.minCoeff(), 0);
  EXPECT_NEAR(chain.samples.mean(), 1, 0.05);
  EXPECT_NEAR(chain.samples.cwiseAbs2().mean(), 2, 0.2);
}

TEST(EnsembleSampler, DoesTheSameInStretchedCoordinates) {
  auto narrow = [](const VectorXd& x) { return -0.5 * x.squaredNorm(); };
  const Eigen::Vector3d stretch(8, 0.5, 64);  // powers of two: no rounding
  auto wide = [&](const VectorXd& x) { return narrow(x.cwiseQuotient(stretch)); };
  base::RandomStream a(3), b(3);
  const MatrixXd start = Ball(3, 12, a);
  const MatrixXd stretched = stretch.asDiagonal() * Ball(3, 12, b);
  EXPECT_EQ(MatrixXd(stretch.asDiagonal() * SampleEnsemble(narrow, start, 200, a).samples),
            SampleEnsemble(wide, stretched, 200, b).samples);
}

}  // namespace
}  // namespace bayloom::model
