// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/prior_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/model/incremental_predictor.h"

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Odds that an earlier task is like the new one, before anything is observed.
constexpr double kPriorOdds = 3;
/// The share of pairs in order by a task that is alike.
constexpr double kAlike = 0.8;
/// The skill expected beforehand, and the comparisons that this counts as.
constexpr double kPriorSkill = 0.5, kPriorComparisons = 2;
/// Keeps the regression from following the noise of a few observations that score alike.
constexpr double kRidge = 0.1;

GaussianProcessOptions OfResiduals(GaussianProcessOptions options) {
  options.scale = ObjectiveScale::kLinear;
  return options;
}

/// Predictions of a PriorMeanSurrogate: scores are looked up once.
class PriorMeanPredictor final : public IncrementalPredictor {
 public:
  PriorMeanPredictor(RowMatrix rows, std::unique_ptr<IncrementalPredictor> residual)
      : rows_(std::move(rows)), residual_(std::move(residual)) {}

  void Predict(const Surrogate& surrogate, VectorXd& mean, VectorXd& variance) override {
    const auto& prior = static_cast<const PriorMeanSurrogate&>(surrogate);
    if (scores_.rows() != rows_.rows()) scores_ = prior.ScoresOf(rows_);
    residual_->Predict(prior.residual(), mean, variance);
    prior.AddPriorMean(scores_, mean, variance);
  }

 private:
  RowMatrix rows_;
  std::unique_ptr<IncrementalPredictor> residual_;
  MatrixXd scores_;
};

}  // namespace

RankingTrust RankingTrust::Of(const VectorXd& scores, const VectorXd& values) {
  double in_order = 0, pairs = 0;
  for (Index i = 0; i < values.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (values[i] == values[j]) continue;
      ++pairs;
      const double by_scores = scores[i] - scores[j], by_values = values[i] - values[j];
      in_order += by_scores == 0 ? 0.5 : (by_scores < 0) == (by_values < 0) ? 1 : 0;
    }
  }
  const double share = pairs > 0 ? in_order / pairs : 0.5;
  const double comparisons = pairs > 0 ? static_cast<double>(values.size() - 1) : 0;
  const double log_odds =
      std::log(kPriorOdds) +
      comparisons * (share * std::log(kAlike / 0.5) + (1 - share) * std::log((1 - kAlike) / 0.5));
  const double skill = (kPriorComparisons * kPriorSkill + comparisons * (2 * share - 1)) /
                       (kPriorComparisons + comparisons);
  return {1 / (1 + std::exp(-log_odds)), std::max(0.0, skill)};
}

PriorMeanSurrogate::PriorMeanSurrogate(ColumnGroups group_of_column,
                                       std::vector<TaskObservations> earlier,
                                       std::vector<RowMatrix> failures,
                                       GaussianProcessOptions options)
    : group_of_column_(std::move(group_of_column)),
      earlier_(std::move(earlier)),
      failures_(std::move(failures)),
      objective_scale_(options.scale),
      residual_(group_of_column_, OfResiduals(std::move(options))) {}

void PriorMeanSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                             base::RandomStream& random) {
  CheckFinite(values);
  if (!rankings_) {
    std::vector<EarlierRanking> rankings;
    for (size_t i = 0; i < earlier_.size(); ++i) {
      rankings.emplace_back(group_of_column_, earlier_[i], failures_[i], random);
    }
    rankings_ = std::make_shared<const std::vector<EarlierRanking>>(std::move(rankings));
  }
  scale_ = Standardizer::Choose(values, objective_scale_);
  const VectorXd standard = scale_.Apply(values);
  const MatrixXd scores = ScoresOf(rows);
  Weigh(scores, standard);
  residual_.Fit(rows, standard - scores * coefficients_, random);
}

void PriorMeanSurrogate::Weigh(const MatrixXd& scores, const VectorXd& standard) {
  const Index tasks = scores.cols();
  trust_.clear();
  VectorXd weights(tasks), probabilities(tasks);
  for (Index i = 0; i < tasks; ++i) {
    const RankingTrust trust = RankingTrust::Of(scores.col(i), standard);
    trust_.push_back(trust);
    probabilities[i] = trust.probability;
    weights[i] = trust.skill * trust.skill;
  }
  coefficients_ = VectorXd::Zero(tasks);
  if (!(weights.sum() > 0)) return;
  weights /= weights.sum();
  VectorXd sum = scores * weights;
  sum.array() -= sum.mean();
  const double slope = sum.dot(standard) / (sum.squaredNorm() + kRidge);
  if (slope > 0) coefficients_ = slope * weights.cwiseProduct(probabilities);
}

void PriorMeanSurrogate::Add(const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  residual_.Add(rows, scale_.Apply(values) - ScoresOf(rows) * coefficients_);
}

MatrixXd PriorMeanSurrogate::ScoresOf(const RowMatrix& rows) const {
  MatrixXd scores(rows.rows(), std::ssize(*rankings_));
  for (Index i = 0; i < scores.cols(); ++i) {
    scores.col(i) = (*rankings_)[static_cast<size_t>(i)].Scores(rows);
  }
  return scores;
}

void PriorMeanSurrogate::AddPriorMean(const MatrixXd& scores, VectorXd& mean,
                                      VectorXd& variance) const {
  const double spread = ResidualSpread();
  mean = (scores * coefficients_).array() + residual_.Untransform(0) + spread * mean.array();
  variance *= spread * spread;
}

void PriorMeanSurrogate::Predict(const RowMatrix& rows, VectorXd& mean, VectorXd& variance) const {
  residual_.Predict(rows, mean, variance);
  AddPriorMean(ScoresOf(rows), mean, variance);
}

double PriorMeanSurrogate::NoiseVariance() const {
  return ResidualSpread() * ResidualSpread() * residual_.NoiseVariance();
}

std::unique_ptr<Surrogate> PriorMeanSurrogate::Clone() const {
  return std::make_unique<PriorMeanSurrogate>(*this);
}

std::unique_ptr<IncrementalPredictor> PriorMeanSurrogate::TrackPredictions(RowMatrix rows) const {
  std::unique_ptr<IncrementalPredictor> residual = residual_.TrackPredictions(rows);
  return std::make_unique<PriorMeanPredictor>(std::move(rows), std::move(residual));
}

}  // namespace bayloom::model
