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

/// The share of pairs in order by a task that is alike.
constexpr double kAlike = 0.8;
/// An earlier task that is less probably like the new one is left out.
constexpr double kMinProbability = 0.5;
/// The skill expected beforehand, and the comparisons that this counts as.
constexpr double kPriorSkill = 0.5, kPriorComparisons = 2;
/// Keeps the regression from following the noise of a few observations that score alike.
constexpr double kRidge = 0.1;

/// Of all pairs of observations with different values.
template <typename Visit>
void ForEachPair(const VectorXd& values, const Visit& visit) {
  for (Index i = 0; i < values.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (values[i] != values[j]) visit(i, j);
    }
  }
}

/// 1 if the scores put the pair in the order of its values, 0 if not, one half if they are equal.
double InOrder(const Eigen::Ref<const VectorXd>& scores, const VectorXd& values, Index i, Index j) {
  if (scores[i] == scores[j]) return 0.5;
  return (scores[i] < scores[j]) == (values[i] < values[j]) ? 1 : 0;
}

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

double ProbabilityOfAlike(const VectorXd& scores, const VectorXd& values) {
  double in_order = 0, pairs = 0;
  ForEachPair(values, [&](Index i, Index j) {
    ++pairs;
    in_order += InOrder(scores, values, i, j);
  });
  const double share = pairs > 0 ? in_order / pairs : 0.5;
  const double comparisons = pairs > 0 ? static_cast<double>(values.size() - 1) : 0;
  const double log_odds =
      comparisons * (share * std::log(kAlike / 0.5) + (1 - share) * std::log((1 - kAlike) / 0.5));
  return 1 / (1 + std::exp(-log_odds));
}

VectorXd SkillsApart(const MatrixXd& scores, const VectorXd& values) {
  double pairs = 0, disputed = 0;
  VectorXd in_order = VectorXd::Zero(scores.cols()), verdicts(scores.cols());
  ForEachPair(values, [&](Index i, Index j) {
    ++pairs;
    for (Index k = 0; k < scores.cols(); ++k) {
      verdicts[k] = InOrder(scores.col(k), values, i, j);
    }
    if (verdicts.minCoeff() == verdicts.maxCoeff()) return;
    ++disputed;
    in_order += verdicts;
  });
  if (disputed == 0) return VectorXd::Constant(scores.cols(), kPriorSkill);
  const double comparisons = static_cast<double>(values.size() - 1) * disputed / pairs;
  const VectorXd tau = 2 * in_order.array() / disputed - 1;
  const VectorXd skills = (kPriorComparisons * kPriorSkill + comparisons * tau.array()) /
                          (kPriorComparisons + comparisons);
  return skills.cwiseMax(0);
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
  probabilities_ = VectorXd(tasks);
  VectorXd weights = SkillsApart(scores, standard).cwiseAbs2();
  for (Index i = 0; i < tasks; ++i) {
    probabilities_[i] = ProbabilityOfAlike(scores.col(i), standard);
    if (probabilities_[i] < kMinProbability) weights[i] = 0;
  }
  coefficients_ = VectorXd::Zero(tasks);
  if (!(weights.sum() > 0)) return;
  weights /= weights.sum();
  VectorXd sum = scores * weights;
  sum.array() -= sum.mean();
  const double slope = sum.dot(standard) / (sum.squaredNorm() + kRidge);
  if (slope > 0) coefficients_ = slope * weights.cwiseProduct(probabilities_);
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
