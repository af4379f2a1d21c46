// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "bayloom/model/surrogate.h"

namespace bayloom::model {

/// The group of each column, from 0 on: {0, 1, 1, 2} is three parameters, the second of which has
/// two columns.
using ColumnGroups = std::vector<int>;
int CountGroups(const ColumnGroups& group_of_column);

/// Rows with each column divided by its group's length-scale. Euclidean distances between such
/// rows are the r of the kernel (Hellsten et al. 2023, eq. 2),
///
///     r^2 = sum over groups of d_g^2 / l_g^2,   d_g = Euclidean distance over the group's columns.
Eigen::MatrixXd ScaledColumns(const RowMatrix& rows, const ColumnGroups& group_of_column,
                              const Eigen::VectorXd& length_scales);

/// The Matern-5/2 kernel of variance 1 between all rows of `a` and of `b`, both scaled:
///
///     k(r) = (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)
///
/// (Rasmussen and Williams 2006, eq. 4.17; eq. 1 of Hellsten et al. lacks the 1/3).
Eigen::MatrixXd Matern52(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The kernel within one set of rows, with what its gradient needs. Lower triangles only; what is
/// above the diagonal is left undefined.
struct KernelTriangle {
  Eigen::MatrixXd value;
  /// -2 dk/d(r^2) = 5/3 (1 + sqrt(5) r) exp(-sqrt(5) r), so that for a group's length-scale
  /// dk/d(log l_g) = slope * d_g^2 / l_g^2.
  Eigen::MatrixXd slope;
};
void Matern52Triangle(const Eigen::MatrixXd& scaled, KernelTriangle& kernel);

/// For each group g the sum over all pairs (i, j) of weights_ij d_g(i, j)^2 / l_g^2. Reads the
/// lower triangle of the symmetric `weights`.
Eigen::VectorXd WeightedSquaredDistances(const Eigen::MatrixXd& weights,
                                         const Eigen::MatrixXd& scaled,
                                         const ColumnGroups& group_of_column);

}  // namespace bayloom::model
