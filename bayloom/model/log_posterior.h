// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

#include "bayloom/model/hyperparameters.h"
#include "bayloom/model/matern.h"

namespace bayloom::model {

/// Added to the diagonal of every covariance, in units of the signal variance, so that it is
/// positive definite in floating point for all data.
inline constexpr double kNugget = 1e-8;

/// The logarithm of the posterior density of a Gaussian process's hyperparameters, given
/// standardized observations z at n rows:
///
///     log p = -1/2 r^T K^-1 r - 1/2 log|K| - n/2 log(2 pi) - m^2/2 + log prior,   r = z - m,
///
/// where K = signal (Matern-5/2 + nugget I) + noise I (Rasmussen and Williams 2006, eq. 2.30) and
/// m, the constant mean with prior N(0, 1), is where p is largest:
/// m = 1^T K^-1 z / (1 + 1^T K^-1 1). So derivatives need not look at how m changes.
class LogPosterior {
 public:
  /// Keeps references to all of these.
  LogPosterior(const RowMatrix& rows, const ColumnGroups& group_of_column,
               const Eigen::VectorXd& observations, const KernelPriors& priors);

  /// At the logarithms of hyperparameters (KernelHyperparameters::ToLogs). Writes the gradient by
  /// them (Rasmussen and Williams, eq. 5.9) where it is not null. O(n^3). Minus infinity where the
  /// covariance is numerically not positive definite. Not thread safe: keeps work space.
  double operator()(const Eigen::VectorXd& logs, Eigen::VectorXd* gradient) const;

 private:
  const RowMatrix& rows_;
  const ColumnGroups& group_of_column_;
  const Eigen::VectorXd& observations_;
  const KernelPriors& priors_;
  mutable KernelTriangle kernel_;
  mutable Eigen::MatrixXd factor_;
};

}  // namespace bayloom::model
