// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/log_posterior.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "bayloom/model/cholesky.h"

namespace bayloom::model {

using Eigen::Index;
using Eigen::VectorXd;

LogPosterior::LogPosterior(const RowMatrix& rows, const ColumnGroups& group_of_column,
                           const VectorXd& observations, const KernelPriors& priors)
    : rows_(rows),
      group_of_column_(group_of_column),
      observations_(observations),
      priors_(priors) {}

double LogPosterior::operator()(const VectorXd& logs, VectorXd* gradient) const {
  const auto at = KernelHyperparameters::FromLogs(logs);
  const Index n = rows_.rows(), groups = at.length_scales.size();
  const double signal = at.signal_variance, noise = at.noise_variance;
  const Eigen::MatrixXd scaled = ScaledColumns(rows_, group_of_column_, at.length_scales);

  Matern52Triangle(scaled, kernel_);
  factor_ = signal * kernel_.value;
  factor_.diagonal().array() += signal * kNugget + noise;
  if (gradient != nullptr) gradient->setZero(logs.size());
  if (!CholeskyInPlace(factor_)) return -std::numeric_limits<double>::infinity();

  const auto lower = factor_.triangularView<Eigen::Lower>();
  const double log_determinant = 2 * factor_.diagonal().array().log().sum();
  const VectorXd half_ones = lower.solve(VectorXd::Ones(n));
  VectorXd whitened = lower.solve(observations_);
  const double mean = half_ones.dot(whitened) / (1 + half_ones.squaredNorm());
  whitened -= mean * half_ones;
  const double misfit = whitened.squaredNorm();
  const double prior = priors_.LogDensity(at, gradient);

  if (gradient != nullptr) {
    const VectorXd alpha = factor_.transpose().triangularView<Eigen::Upper>().solve(whitened);
    InvertCholeskyInPlace(factor_);
    const double trace = factor_.trace();
    // (alpha alpha^T - K^-1) o dK/d(log l), but for the squared distances.
    for (Index j = 0; j < n; ++j) {
      auto inverse = factor_.col(j).tail(n - j);
      const auto slope = kernel_.slope.col(j).tail(n - j);
      inverse = signal * (alpha(j) * alpha.tail(n - j) - inverse).cwiseProduct(slope);
    }
    gradient->head(groups) += 0.5 * WeightedSquaredDistances(factor_, scaled, group_of_column_);
    // K is the sum of a part that grows with the signal and one that grows with the noise.
    const double by_noise = 0.5 * noise * (alpha.squaredNorm() - trace);
    (*gradient)(groups) += 0.5 * (misfit - static_cast<double>(n)) - by_noise;
    (*gradient)(groups + 1) += by_noise;
  }
  return -0.5 * (misfit + log_determinant + mean * mean) -
         0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi) + prior;
}

}  // namespace bayloom::model
