// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

namespace bayloom::model {

/// Replaces the lower triangle of a symmetric matrix by its Cholesky factor L, A = L L^T. False
/// if A is not positive definite; it is then left in pieces.
bool CholeskyInPlace(Eigen::Ref<Eigen::MatrixXd> matrix);

/// Replaces the Cholesky factor in the lower triangle by the lower triangle of A^-1 = L^-T L^-1.
void InvertCholeskyInPlace(Eigen::Ref<Eigen::MatrixXd> factor);

/// The Cholesky factor of a symmetric positive definite matrix that grows by rows and columns.
/// Appending m to n of them costs O(n^2 m) instead of O((n + m)^3).
class GrowingCholesky {
 public:
  /// The factor of `matrix`, of which only the lower triangle is read.
  bool Reset(const Eigen::MatrixXd& matrix);

  /// Grows the matrix to [A, cross; cross^T, corner]. False, and nothing is changed, if that is
  /// not positive definite. Reads the lower triangle of `corner`.
  bool Append(const Eigen::MatrixXd& cross, const Eigen::MatrixXd& corner);

  Eigen::Index size() const { return size_; }
  /// The i-th row of L up to its diagonal.
  Eigen::VectorXd Row(Eigen::Index i) const { return storage_.row(i).head(i + 1); }
  /// L^-1 b, in place.
  void SolveLower(Eigen::Ref<Eigen::MatrixXd> b) const;
  /// A^-1 b.
  Eigen::VectorXd Solve(const Eigen::VectorXd& b) const;

 private:
  Eigen::Index size_ = 0;
  Eigen::MatrixXd storage_;  ///< L in the lower triangle of its first size_ rows and columns
};

}  // namespace bayloom::model
