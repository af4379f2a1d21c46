// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/gaussian_process.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "bayloom/model/dense.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/incremental_predictor.h"
#include "bayloom/model/log_posterior.h"

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

GaussianProcess::GaussianProcess(ColumnGroups group_of_column, GaussianProcessOptions options)
    : group_of_column_(std::move(group_of_column)), options_(std::move(options)) {}

void GaussianProcess::Fit(const RowMatrix& rows, const VectorXd& values,
                          base::RandomStream& random) {
  CheckFinite(values);
  rows_ = rows;
  values_ = values;
  const Scales scales = PossibleScales();
  if (SearchIsDue(scales)) {
    Search(scales, random);
  } else {
    standardizer_ = Standardizer(values_, standardizer_.log());
    hyperparameters_ = RefineHyperparameters(rows_, group_of_column_, standardizer_.Apply(values_),
                                             hyperparameters_, options_.search)
                           .parameters;
  }
  Factorize();
}

void GaussianProcess::Condition(const RowMatrix& rows, const VectorXd& values,
                                const KernelHyperparameters& hyperparameters) {
  CheckFinite(values);
  rows_ = rows;
  values_ = values;
  standardizer_ = Standardizer(values_, !PossibleScales().linear);
  hyperparameters_ = hyperparameters;
  Factorize();
}

GaussianProcess::Scales GaussianProcess::PossibleScales() const {
  const bool positive = values_.minCoeff() > 0;
  if (!positive || options_.scale == ObjectiveScale::kLinear) return {true, false};
  return {options_.scale == ObjectiveScale::kAuto, true};
}

bool GaussianProcess::SearchIsDue(Scales scales) const {
  const bool scale_is_gone = standardizer_.log() ? !scales.log : !scales.linear;
  return searched_at_ == 0 || scale_is_gone ||
         observations() >= options_.search_growth * searched_at_;
}

void GaussianProcess::Search(Scales scales, base::RandomStream& random) {
  const int groups = CountGroups(group_of_column_);
  const auto start = searched_at_ == 0 ? DefaultHyperparameters(groups) : hyperparameters_;
  double most = -std::numeric_limits<double>::infinity();
  standardizer_ = Standardizer(values_, !scales.linear);
  hyperparameters_ = start;
  for (const bool log : {false, true}) {
    if (!(log ? scales.log : scales.linear)) continue;
    const Standardizer standardizer(values_, log);
    const auto fitted = SearchHyperparameters(rows_, group_of_column_, standardizer.Apply(values_),
                                              start, options_.search, random);
    const double explained = fitted.log_posterior + standardizer.LogJacobian(values_);
    if (!(explained > most)) continue;
    most = explained;
    standardizer_ = standardizer;
    hyperparameters_ = fitted.parameters;
  }
  searched_at_ = observations();
}

void GaussianProcess::Factorize() {
  scaled_ = ScaledColumns(rows_, group_of_column_, hyperparameters_.length_scales);
  KernelTriangle kernel;
  Matern52Triangle(scaled_, kernel);
  const double signal = hyperparameters_.signal_variance;
  MatrixXd covariance = signal * kernel.value;
  covariance.diagonal().array() += signal * kNugget + hyperparameters_.noise_variance;
  for (double jitter = kNugget; !factor_.Reset(covariance); jitter *= 10) {
    if (jitter > 1) throw FitFailure("the covariance of the observations has no Cholesky factor");
    covariance.diagonal().array() += signal * jitter;
  }
  ComputeWeights();
  witnesses_.clear();
  Witness(rows_.rows());
}

/// Observations that enter the factor are told apart from all others, of any process.
void GaussianProcess::Witness(Index count) {
  static std::atomic<uint64_t> seen = 0;
  for (Index i = 0; i < count; ++i) witnesses_.push_back(++seen);
}

void GaussianProcess::ComputeWeights() {
  const VectorXd standard = standardizer_.Apply(values_);
  const VectorXd ones = factor_.Solve(VectorXd::Ones(standard.size()));
  mean_ = ones.dot(standard) / (1 + ones.sum());
  weights_ = factor_.Solve(standard) - mean_ * ones;
}

void GaussianProcess::Add(const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  const Index known = rows_.rows(), added = rows.rows();
  rows_.conservativeResize(known + added, Eigen::NoChange);
  rows_.bottomRows(added) = rows;
  values_.conservativeResize(known + added);
  values_.tail(added) = values;
  const MatrixXd scaled = ScaledColumns(rows, group_of_column_, hyperparameters_.length_scales);
  const double signal = hyperparameters_.signal_variance;
  MatrixXd corner = signal * Matern52(scaled, scaled);
  corner.diagonal().array() += signal * kNugget + hyperparameters_.noise_variance;
  if (!factor_.Append(signal * Matern52(scaled_, scaled), corner)) {
    Factorize();
    return;
  }
  scaled_.conservativeResize(known + added, Eigen::NoChange);
  scaled_.bottomRows(added) = scaled;
  ComputeWeights();
  Witness(added);
}

void GaussianProcess::Predict(const RowMatrix& rows, VectorXd& mean, VectorXd& variance) const {
  mean.resize(rows.rows());
  variance.resize(rows.rows());
  const double signal = hyperparameters_.signal_variance;
  for (Index begin = 0; begin < rows.rows(); begin += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.rows() - begin);
    const MatrixXd scaled = ScaledColumns(rows.middleRows(begin, size), group_of_column_,
                                          hyperparameters_.length_scales);
    MatrixXd cross = signal * Matern52(scaled_, scaled);
    mean.segment(begin, size) = (cross.transpose() * weights_).array() + mean_;
    factor_.SolveLower(cross);
    variance.segment(begin, size) =
        (signal - cross.colwise().squaredNorm().transpose().array()).max(signal * kNugget);
  }
}

VectorXd GaussianProcess::PredictMean(const RowMatrix& rows) const {
  VectorXd mean(rows.rows());
  for (Index begin = 0; begin < rows.rows(); begin += kRowsAtOnce) {
    const Index size = std::min(kRowsAtOnce, rows.rows() - begin);
    const MatrixXd cross = Covariance(Scaled(rows.middleRows(begin, size)));
    mean.segment(begin, size) = (cross.transpose() * weights_).array() + mean_;
  }
  return mean;
}

VectorXd GaussianProcess::WhitenedResiduals() const {
  VectorXd residuals = standardizer_.Apply(values_).array() - mean_;
  factor_.SolveLower(residuals);
  return residuals;
}

MatrixXd GaussianProcess::Scaled(const RowMatrix& rows) const {
  return ScaledColumns(rows, group_of_column_, hyperparameters_.length_scales);
}

MatrixXd GaussianProcess::Covariance(const MatrixXd& scaled) const {
  return hyperparameters_.signal_variance * Matern52(scaled_, scaled);
}

VectorXd GaussianProcess::CovarianceOf(Index observation, const MatrixXd& scaled) const {
  return hyperparameters_.signal_variance * Matern52(scaled, scaled_.row(observation));
}

std::unique_ptr<IncrementalPredictor> GaussianProcess::TrackPredictions(RowMatrix rows) const {
  return std::make_unique<GaussianProcessIncrementalPredictor>(std::move(rows));
}

std::unique_ptr<Surrogate> GaussianProcess::Clone() const {
  return std::make_unique<GaussianProcess>(*this);
}

}  // namespace bayloom::model
