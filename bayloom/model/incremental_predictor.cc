// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/incremental_predictor.h"

#include <algorithm>

#include "bayloom/model/dense.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/log_posterior.h"
#include "bayloom/model/random_forest.h"

namespace bayloom::model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void GaussianProcessIncrementalPredictor::Predict(const Surrogate& surrogate, VectorXd& mean,
                                                  VectorXd& variance) {
  const auto& process = static_cast<const GaussianProcess&>(surrogate);
  const std::vector<uint64_t>& observations = process.witnesses();
  const auto shared =
      std::mismatch(witnesses_.begin(), witnesses_.end(), observations.begin(), observations.end());
  const auto count = static_cast<size_t>(shared.first - witnesses_.begin());
  while (count > 0 && witnesses_.size() > count) Drop();
  if (count == 0) {
    Rebuild(process);
  } else {
    ReserveObservations(std::ssize(observations));
    while (witnesses_.size() < observations.size()) Append(process);
  }
  const Index n = std::ssize(witnesses_);
  mean = (whitened_.leftCols(n) * process.WhitenedResiduals()).array() + process.mean();
  const double signal = process.hyperparameters().signal_variance;
  variance = (signal - explained_.array()).max(signal * kNugget);
}

void GaussianProcessIncrementalPredictor::Rebuild(const GaussianProcess& process) {
  witnesses_ = process.witnesses();
  ReserveObservations(std::ssize(witnesses_));
  scaled_ = process.Scaled(rows_);
  for (Index begin = 0; begin < rows_.rows(); begin += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows_.rows() - begin);
    MatrixXd cross = process.Covariance(scaled_.middleRows(begin, size));
    process.factor().SolveLower(cross);
    whitened_.block(begin, 0, size, cross.rows()) = cross.transpose();
  }
  explained_ = whitened_.leftCols(std::ssize(witnesses_)).rowwise().squaredNorm();
}

/// One more row of V: (k_i - sum_j<i L_ij v_j) / L_ii.
void GaussianProcessIncrementalPredictor::Append(const GaussianProcess& process) {
  const Index i = std::ssize(witnesses_);
  const VectorXd factor_row = process.factor().Row(i);
  VectorXd column = process.CovarianceOf(i, scaled_);
  column.noalias() -= whitened_.leftCols(i) * factor_row.head(i);
  column /= factor_row[i];
  explained_ += column.cwiseAbs2();
  whitened_.col(i) = column;
  witnesses_.push_back(process.witnesses()[static_cast<size_t>(i)]);
}

void GaussianProcessIncrementalPredictor::Drop() {
  witnesses_.pop_back();
  explained_ -= whitened_.col(std::ssize(witnesses_)).cwiseAbs2();
}

void GaussianProcessIncrementalPredictor::ReserveObservations(Index count) {
  if (whitened_.rows() == rows_.rows() && count <= whitened_.cols()) return;
  whitened_.conservativeResize(rows_.rows(), count + count / 4 + 8);
}

void ForestIncrementalPredictor::Predict(const Surrogate& surrogate, VectorXd& mean,
                                         VectorXd& variance) {
  const auto& forest = static_cast<const RandomForest&>(surrogate);
  if (grown_ != forest.grown()) {
    grown_ = forest.grown();
    leaves_ = forest.LeavesOf(rows_);
  }
  forest.PredictLeaves(leaves_, mean, variance);
}

}  // namespace bayloom::model
