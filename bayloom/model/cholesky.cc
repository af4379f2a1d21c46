// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/cholesky.h"

#include <algorithm>
#include <utility>

#include "bayloom/model/dense_eigen.h"

namespace bayloom::model {

using Eigen::Index;
using Eigen::MatrixXd;

bool CholeskyInPlace(Eigen::Ref<MatrixXd> matrix) {
  return Dense().cholesky(MutableViewOf(matrix));
}

void InvertCholeskyInPlace(Eigen::Ref<MatrixXd> factor) {
  Dense().invert_cholesky(MutableViewOf(factor));
}

bool GrowingCholesky::Reset(const MatrixXd& matrix) {
  MatrixXd factor = matrix;
  if (!CholeskyInPlace(factor)) return false;
  size_ = factor.rows();
  storage_ = std::move(factor);
  return true;
}

bool GrowingCholesky::Append(const MatrixXd& cross, const MatrixXd& corner) {
  // [L, 0; S^T, T] with S = L^-1 cross and T T^T = corner - S^T S.
  MatrixXd side = cross;
  SolveLower(side);
  MatrixXd tip = corner;
  tip.selfadjointView<Eigen::Lower>().rankUpdate(side.transpose(), -1);
  if (!CholeskyInPlace(tip)) return false;

  const Index grown = size_ + tip.rows();
  if (grown > storage_.rows()) {
    const Index capacity = std::max(grown, 3 * storage_.rows() / 2);
    storage_.conservativeResize(capacity, capacity);
  }
  storage_.block(size_, 0, tip.rows(), size_) = side.transpose();
  storage_.block(size_, size_, tip.rows(), tip.rows()) = tip;
  size_ = grown;
  return true;
}

void GrowingCholesky::SolveLower(Eigen::Ref<MatrixXd> b) const {
  Dense().solve_lower(ViewOf(storage_.topLeftCorner(size_, size_)), MutableViewOf(b));
}

Eigen::VectorXd GrowingCholesky::Solve(const Eigen::VectorXd& b) const {
  const auto factor = storage_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>();
  Eigen::VectorXd x = factor.solve(b);
  factor.transpose().solveInPlace(x);
  return x;
}

}  // namespace bayloom::model
