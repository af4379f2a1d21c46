// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "bayloom/base/random.h"

namespace bayloom::model {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd PositiveDefinite(int n, uint64_t seed) {
  base::RandomStream random(seed);
  const MatrixXd half = MatrixXd::NullaryExpr(n, n, [&] { return random.Normal(); });
  return half * half.transpose() + MatrixXd::Identity(n, n);
}

TEST(Cholesky, InvertsInPlace) {
  for (const int n : {1, 7, 33, 150}) {
    const MatrixXd matrix = PositiveDefinite(n, 1);
    MatrixXd inverse = matrix;
    ASSERT_TRUE(CholeskyInPlace(inverse));
    InvertCholeskyInPlace(inverse);
    const MatrixXd full = inverse.selfadjointView<Eigen::Lower>();
    EXPECT_LT((full * matrix - MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-7) << n;
  }
}

TEST(Cholesky, RefusesIndefiniteMatrices) {
  MatrixXd matrix = MatrixXd::Identity(3, 3);
  matrix(2, 2) = -1;
  EXPECT_FALSE(CholeskyInPlace(matrix));
}

TEST(GrowingCholesky, GrownPieceByPieceSolvesAsTheWhole) {
  const int n = 90;
  const MatrixXd matrix = PositiveDefinite(n, 2);
  GrowingCholesky grown;
  ASSERT_TRUE(grown.Reset(matrix.topLeftCorner(20, 20)));
  for (int size = 20; size < n;) {
    const int added = size % 3 == 0 ? 1 : 7;
    const int end = std::min(n, size + added);
    ASSERT_TRUE(grown.Append(matrix.block(0, size, size, end - size),
                             matrix.block(size, size, end - size, end - size)));
    size = end;
  }
  const VectorXd b = VectorXd::LinSpaced(n, -1, 2);
  const VectorXd expected = matrix.ldlt().solve(b);
  EXPECT_TRUE(grown.Solve(b).isApprox(expected, 1e-9));

  MatrixXd solved = b;
  grown.SolveLower(solved);
  EXPECT_NEAR(solved.squaredNorm(), b.dot(expected), 1e-9 * b.dot(expected));
}

TEST(GrowingCholesky, RefusesToLoseDefinitenessAndStaysAsItWas) {
  GrowingCholesky factor;
  ASSERT_TRUE(factor.Reset(MatrixXd::Identity(2, 2)));
  EXPECT_FALSE(factor.Append(Eigen::Vector2d(1, 1), MatrixXd::Ones(1, 1)));
  EXPECT_EQ(factor.size(), 2);
  EXPECT_EQ(factor.Solve(Eigen::Vector2d(3, 4)), Eigen::Vector2d(3, 4));
}

}  // namespace
}  // namespace bayloom::model
