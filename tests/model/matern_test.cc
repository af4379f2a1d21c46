// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/matern.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Matern, HasTheValuesOfItsFormula) {
  const MatrixXd origin = MatrixXd::Zero(1, 1);
  for (const double r : {0.0, 1e-3, 0.5, 1.0, 4.0}) {
    const double a = std::sqrt(5.0) * r;
    EXPECT_NEAR(Matern52(origin, MatrixXd::Constant(1, 1, r))(0, 0),
                (1 + a + a * a / 3) * std::exp(-a), 1e-12);
  }
}

TEST(Matern, MeasuresGroupsInTheirLengthScales) {
  RowMatrix rows(2, 4);
  rows << 0, 0, 0, 0, 1, 3, 4, 2;
  const MatrixXd scaled = ScaledColumns(rows, kThreeGroups, Eigen::Vector3d(0.5, 2, 4));
  EXPECT_DOUBLE_EQ((scaled.row(0) - scaled.row(1)).squaredNorm(), 4 + 25.0 / 4 + 0.25);
}

TEST(Matern, TriangleIsTheKernelAndItsSlope) {
  base::RandomStream random(1);
  const RowMatrix rows = UniformRows(70, 4, random);
  const VectorXd lengths = Eigen::Vector3d(0.3, 0.8, 1.5);
  KernelTriangle kernel;
  const MatrixXd scaled = ScaledColumns(rows, kThreeGroups, lengths);
  Matern52Triangle(scaled, kernel);
  const MatrixXd full = Matern52(scaled, scaled);
  for (int i = 0; i < 70; ++i) {
    for (int j = 0; j <= i; ++j) ASSERT_NEAR(kernel.value(i, j), full(i, j), 1e-12);
  }
  // The slope by one group's length-scale, against finite differences.
  const double step = 1e-5;
  auto at = [&](double change) {
    VectorXd changed = lengths;
    changed(1) *= std::exp(change);
    const MatrixXd moved = ScaledColumns(rows, kThreeGroups, changed);
    return Matern52(moved, moved);
  };
  const MatrixXd difference = (at(step) - at(-step)) / (2 * step);
  for (int i = 0; i < 70; ++i) {
    for (int j = 0; j < i; ++j) {
      const double squared = (scaled.row(i) - scaled.row(j)).segment(1, 2).squaredNorm();
      ASSERT_NEAR(kernel.slope(i, j) * squared, difference(i, j), 1e-8);
    }
  }
}

TEST(Matern, WeighsSquaredDistancesByPairs) {
  base::RandomStream random(2);
  const MatrixXd scaled = UniformRows(40, 4, random);
  const MatrixXd weights = MatrixXd::NullaryExpr(40, 40, [&] { return random.Normal(); });
  VectorXd expected = VectorXd::Zero(3);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int column = 0; column < 4; ++column) {
        const double distance = scaled(i, column) - scaled(j, column);
        expected(kThreeGroups[column]) += 2 * weights(i, j) * distance * distance;
      }
    }
  }
  EXPECT_TRUE(WeightedSquaredDistances(weights, scaled, kThreeGroups).isApprox(expected, 1e-10));
}

TEST(Matern, IsPositiveSemidefinite) {
  base::RandomStream random(3);
  const MatrixXd scaled = 4 * UniformRows(60, 4, random);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(Matern52(scaled, scaled));
  EXPECT_GT(solver.eigenvalues().minCoeff(), 0);
}

}  // namespace
}  // namespace bayloom::model
