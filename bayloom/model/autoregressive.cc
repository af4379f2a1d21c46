// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/autoregressive.h"

#include <algorithm>
#include <utility>

#include "bayloom/model/incremental_predictor.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

/// Observations that the slope 1 counts as beforehand.
constexpr double kPriorObservations = 3;

GaussianProcessOptions OfDifferences(GaussianProcessOptions options) {
  options.scale = ObjectiveScale::kLinear;
  return options;
}

/// The objective's unit on a scale.
double UnitOf(const Surrogate& surrogate) {
  return 1 / (surrogate.Untransform(1) - surrogate.Untransform(0));
}

class AutoregressivePredictor final : public IncrementalPredictor {
 public:
  AutoregressivePredictor(std::unique_ptr<IncrementalPredictor> lower,
                          std::unique_ptr<IncrementalPredictor> difference)
      : lower_(std::move(lower)), difference_(std::move(difference)) {}

  void Predict(const Surrogate& surrogate, VectorXd& mean, VectorXd& variance) override {
    const auto& whole = static_cast<const AutoregressiveSurrogate&>(surrogate);
    VectorXd lower_mean, lower_variance;
    lower_->Predict(whole.lower(), lower_mean, lower_variance);
    difference_->Predict(whole.difference(), mean, variance);
    whole.AddLower(lower_mean, lower_variance, mean, variance);
  }

 private:
  std::unique_ptr<IncrementalPredictor> lower_;
  std::unique_ptr<IncrementalPredictor> difference_;
};

}  // namespace

AutoregressiveSurrogate::AutoregressiveSurrogate(ColumnGroups group_of_column,
                                                 const Surrogate& lower,
                                                 GaussianProcessOptions options)
    : lower_(lower), difference_(std::move(group_of_column), OfDifferences(std::move(options))) {}

VectorXd AutoregressiveSurrogate::LowerMeans(const RowMatrix& rows) const {
  VectorXd means, variance;
  lower_.Predict(rows, means, variance);
  for (double& mean : means) mean = lower_.Untransform(mean);
  return means;
}

void AutoregressiveSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                                  base::RandomStream& random) {
  CheckFinite(values);
  scale_ = Standardizer::Choose(values, ObjectiveScale::kLinear);
  const VectorXd lower = LowerMeans(rows);
  const VectorXd centred = lower.array() - lower.mean();
  const double spread = 1 / UnitOf(lower_);
  const double prior = kPriorObservations * spread * spread;
  slope_ = std::max(0.0, (centred.dot(values) + prior) / (centred.squaredNorm() + prior));
  difference_.Fit(rows, values - slope_ * lower, random);
}

void AutoregressiveSurrogate::Add(const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  difference_.Add(rows, values - slope_ * LowerMeans(rows));
}

VectorXd AutoregressiveSurrogate::LowerVariance(const VectorXd& lower_variance,
                                                const VectorXd& difference_variance) const {
  const double factor = slope_ / UnitOf(lower_) * UnitOf(difference_);
  const double prior = difference_.hyperparameters().signal_variance;
  return factor * factor * lower_variance.array() * (difference_variance.array() / prior).min(1);
}

void AutoregressiveSurrogate::AddLower(const VectorXd& lower_mean, const VectorXd& lower_variance,
                                       VectorXd& mean, VectorXd& variance) const {
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    mean[i] =
        scale_.Apply(difference_.Untransform(mean[i]) + slope_ * lower_.Untransform(lower_mean[i]));
  }
  const double factor = UnitOf(*this) / UnitOf(difference_);
  variance = factor * factor * (variance + LowerVariance(lower_variance, variance));
}

void AutoregressiveSurrogate::Predict(const RowMatrix& rows, VectorXd& mean,
                                      VectorXd& variance) const {
  VectorXd lower_mean, lower_variance;
  lower_.Predict(rows, lower_mean, lower_variance);
  difference_.Predict(rows, mean, variance);
  AddLower(lower_mean, lower_variance, mean, variance);
}

double AutoregressiveSurrogate::NoiseVariance() const {
  const double factor = UnitOf(*this) / UnitOf(difference_);
  return factor * factor * difference_.NoiseVariance();
}

std::unique_ptr<Surrogate> AutoregressiveSurrogate::Clone() const {
  return std::make_unique<AutoregressiveSurrogate>(*this);
}

std::unique_ptr<IncrementalPredictor> AutoregressiveSurrogate::TrackPredictions(
    RowMatrix rows) const {
  std::unique_ptr<IncrementalPredictor> lower = lower_.TrackPredictions(rows);
  return std::make_unique<AutoregressivePredictor>(std::move(lower),
                                                   difference_.TrackPredictions(std::move(rows)));
}

}  // namespace bayloom::model
