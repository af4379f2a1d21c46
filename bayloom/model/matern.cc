// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/matern.h"

#include <algorithm>

#include "bayloom/model/dense_eigen.h"

namespace bayloom::model {

using Eigen::Index;
using Eigen::MatrixXd;

int CountGroups(const ColumnGroups& group_of_column) {
  return group_of_column.empty()
             ? 0
             : *std::max_element(group_of_column.begin(), group_of_column.end()) + 1;
}

MatrixXd ScaledColumns(const RowMatrix& rows, const ColumnGroups& group_of_column,
                       const Eigen::VectorXd& length_scales) {
  MatrixXd scaled(rows.rows(), rows.cols());
  for (Index column = 0; column < rows.cols(); ++column) {
    scaled.col(column) = rows.col(column) / length_scales(group_of_column[column]);
  }
  return scaled;
}

MatrixXd Matern52(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd kernel(a.rows(), b.rows());
  Dense().matern52(ViewOf(a), ViewOf(b), MutableViewOf(kernel));
  return kernel;
}

void Matern52Triangle(const MatrixXd& scaled, KernelTriangle& kernel) {
  kernel.value.resize(scaled.rows(), scaled.rows());
  kernel.slope.resize(scaled.rows(), scaled.rows());
  Dense().matern52_triangle(ViewOf(scaled), MutableViewOf(kernel.value),
                            MutableViewOf(kernel.slope));
}

Eigen::VectorXd WeightedSquaredDistances(const MatrixXd& weights, const MatrixXd& scaled,
                                         const ColumnGroups& group_of_column) {
  // sum_ij w_ij (x_i - x_j)^2 = 2 (sum_i x_i^2 (sum_j w_ij) - sum_i x_i (sum_j w_ij x_j)).
  MatrixXd columns(scaled.rows(), scaled.cols() + 1);
  columns << scaled, Eigen::VectorXd::Ones(scaled.rows());
  MatrixXd weighed(columns.rows(), columns.cols());
  Dense().multiply_symmetric(ViewOf(weights), ViewOf(columns), MutableViewOf(weighed));
  const auto row_sums = weighed.rightCols<1>();

  Eigen::VectorXd sums = Eigen::VectorXd::Zero(CountGroups(group_of_column));
  for (Index column = 0; column < scaled.cols(); ++column) {
    const auto x = scaled.col(column);
    sums(group_of_column[column]) += 2 * (x.cwiseAbs2().dot(row_sums) - x.dot(weighed.col(column)));
  }
  return sums;
}

}  // namespace bayloom::model
