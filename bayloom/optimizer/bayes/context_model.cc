// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/context_model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bayloom/model/cholesky.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/optimizer/contexts.h"

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Trials, in proportion, after which hyperparameters are learnt again.
constexpr double kContextRefitGrowth = 1.2;
/// Observations that the process learns from at most; each costs all contexts.
constexpr int kMaxContextObservations = 900;
/// Standard deviation of what an offset may still be wrong by, in those of the values.
constexpr double kOffsetDeviation = 3;

model::GaussianProcessOptions ContextProcessOptions() {
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  return options;
}

}  // namespace

std::shared_ptr<ContextModel> MakeContextModel(std::shared_ptr<const space::Space> joint,
                                               const OptimizerOptions& options) {
  return std::make_shared<ContextModel>(std::move(joint), options);
}

ContextModel::ContextModel(std::shared_ptr<const space::Space> joint,
                           const OptimizerOptions& options)
    : options_(options.bayesian),
      random_(options.seed),
      history_(joint),
      features_(joint, options_.features),
      process_(features_.group_of_column(), ContextProcessOptions()),
      feasibility_(features_) {}

int ContextModel::Join() {
  best_.push_back(-1);
  offsets_.emplace_back();
  return contexts() - 1;
}

void ContextModel::Record(int context, const space::Configuration& configuration,
                          const trial::Outcome& outcome) {
  const bool is_known = history_.OutcomeOf(configuration) != nullptr;
  history_.Record(configuration, outcome);
  if (is_known) {  // a later outcome of the same trial: everything is learnt again
    learnt_ = 0;
    feasibility_.Forget();
    std::ranges::fill(best_, -1);
    for (int i = 0; i < std::ssize(context_of_); ++i) {
      int& best = best_[static_cast<size_t>(context_of_[static_cast<size_t>(i)])];
      const trial::Outcome& other = history_.trials()[static_cast<size_t>(i)].outcome;
      if (other.ok() && (best < 0 || other.value < history_.trials()[best].outcome.value)) best = i;
    }
    return;
  }
  context_of_.push_back(context);
  int& best = best_[static_cast<size_t>(context)];
  if (outcome.ok() && (best < 0 || outcome.value < history_.trials()[best].outcome.value)) {
    best = static_cast<int>(context_of_.size()) - 1;
  }
}

const Observation* ContextModel::BestOf(int context) const {
  const int best = best_[static_cast<size_t>(context)];
  return best < 0 ? nullptr : &history_.trials()[static_cast<size_t>(best)];
}

ContextModel::Scale ContextModel::FittingScale() const {
  const auto& ranking = history_.ranking();
  if (ranking.begin()->first > 0) return Scale::kLog;
  if (ranking.rbegin()->first < 0) return Scale::kNegatedLog;
  return Scale::kLinear;
}

double ContextModel::Scaled(double value) const {
  if (scale_ == Scale::kLog) return std::log(value);
  if (scale_ == Scale::kNegatedLog) return -std::log(-value);
  return value;
}

bool ContextModel::Learn() {
  if (history_.feasible() == 0) return false;
  if (options_.learn_feasibility) feasibility_.Update(history_, random_);
  std::vector<int> fresh;
  for (size_t i = learnt_; i < history_.trials().size(); ++i) {
    if (history_.trials()[i].outcome.ok()) fresh.push_back(static_cast<int>(i));
  }
  const bool is_first = learnt_ == 0;
  learnt_ = history_.trials().size();
  const size_t held = held_.size() + fresh.size();
  const bool has_grown =
      static_cast<double>(held) >= kContextRefitGrowth * static_cast<double>(held_at_fit_);
  if (is_first || FittingScale() != scale_ || (!fresh.empty() && has_grown) ||
      held > static_cast<size_t>(kMaxContextObservations)) {
    Fit();
  } else if (!fresh.empty()) {
    Add(fresh);
  }
  return true;
}

std::vector<int> ContextModel::Selected() const {
  std::vector<int> feasible;
  for (int i = 0; i < std::ssize(context_of_); ++i) {
    if (history_.trials()[static_cast<size_t>(i)].outcome.ok()) feasible.push_back(i);
  }
  if (std::ssize(feasible) <= kMaxContextObservations) return feasible;
  // Two thirds of what it can learn from, so that some are added before a selection is made again.
  const size_t count = size_t{kMaxContextObservations} * 2 / 3;
  const size_t each = std::max<size_t>(1, count / 2 / best_.size());
  std::vector<size_t> taken_of(best_.size());
  std::set<int> taken;
  for (const auto& [value, place] : history_.ranking()) {
    if (taken_of[static_cast<size_t>(context_of_[static_cast<size_t>(place)])]++ < each) {
      taken.insert(place);
    }
  }
  std::vector<int> others;
  for (const int place : feasible) {
    if (!taken.contains(place)) others.push_back(place);
  }
  const size_t left = count - std::min(count, taken.size());
  const size_t newest = std::min(left / 2, others.size());
  taken.insert(others.end() - static_cast<int64_t>(newest), others.end());
  others.resize(others.size() - newest);
  const size_t drawn = std::min(left - newest, others.size());
  for (size_t i = 0; i < drawn; ++i) taken.insert(others[i * others.size() / drawn]);
  return {taken.begin(), taken.end()};
}

model::RowMatrix ContextModel::RowsOf(std::span<const int> places) const {
  std::vector<space::Configuration> configurations;
  for (const int place : places) {
    configurations.push_back(history_.trials()[static_cast<size_t>(place)].configuration);
  }
  return features_(configurations);
}

VectorXd ContextModel::Centred(std::span<const int> places) const {
  VectorXd values(std::ssize(places));
  for (Index i = 0; i < values.size(); ++i) {
    const auto place = static_cast<size_t>(places[static_cast<size_t>(i)]);
    values[i] = Scaled(history_.trials()[place].outcome.value) -
                *offsets_[static_cast<size_t>(context_of_[place])];
  }
  return values;
}

void ContextModel::MeetContexts(std::span<const int> places) {
  std::vector<double> sums(best_.size());
  std::vector<int> counts(best_.size());
  const bool knows = !held_.empty();
  const VectorXd means = knows ? MeansAt(RowsOf(places)) : VectorXd::Zero(std::ssize(places));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<size_t>(places[i]);
    const auto context = static_cast<size_t>(context_of_[place]);
    const double expected = knows ? process_.Untransform(means[static_cast<Index>(i)]) : 0;
    sums[context] += Scaled(history_.trials()[place].outcome.value) - expected;
    ++counts[context];
  }
  for (size_t c = 0; c < counts.size(); ++c) {
    if (!offsets_[c] && counts[c] > 0) offsets_[c] = sums[c] / counts[c];
  }
}

void ContextModel::Fit() {
  const std::vector<int> places = Selected();
  const bool is_new_scale = std::exchange(scale_, FittingScale()) != scale_;
  if (is_new_scale) {
    held_.clear();
    std::ranges::fill(offsets_, std::nullopt);
  }
  MeetContexts(places);
  const bool is_first = held_.empty();
  held_ = places;
  held_at_fit_ = places.size();
  const model::RowMatrix rows = RowsOf(places);
  // The first time offsets are means, which hyperparameters should not be learnt from.
  for (int pass = 0; pass < (is_first ? 2 : 1); ++pass) {
    process_.Fit(rows, Centred(places), random_);
    Correct();
    const double spread = process_.Untransform(1) - process_.Untransform(0);
    for (size_t c = 0; c < offsets_.size(); ++c) {
      if (offsets_[c]) *offsets_[c] += spread * corrections_[static_cast<Index>(c)];
    }
  }
  process_.Condition(rows, Centred(places), process_.hyperparameters());
  Correct();
}

void ContextModel::Add(std::span<const int> places) {
  MeetContexts(places);
  process_.Add(RowsOf(places), Centred(places));
  held_.insert(held_.end(), places.begin(), places.end());
  Correct();
}

void ContextModel::Correct() {
  const auto n = static_cast<Index>(held_.size());
  MatrixXd member = MatrixXd::Zero(n, contexts());
  for (Index i = 0; i < n; ++i) {
    member(i, context_of_[static_cast<size_t>(held_[static_cast<size_t>(i)])]) = 1;
  }
  MatrixXd solved = member;  // K^-1 H
  for (Index c = 0; c < solved.cols(); ++c) solved.col(c) = process_.factor().Solve(member.col(c));
  mean_ = process_.mean();
  VectorXd residuals(n);
  const VectorXd centred = Centred(held_);
  for (Index i = 0; i < n; ++i) residuals[i] = process_.Transform(centred[i]) - mean_;
  const VectorXd explained = process_.factor().Solve(residuals);
  MatrixXd normal = member.transpose() * solved;
  normal.diagonal().array() += 1 / (kOffsetDeviation * kOffsetDeviation);
  model::GrowingCholesky factor;
  if (!factor.Reset(normal)) throw model::FitFailure("the contexts' offsets cannot be estimated");
  corrections_ = factor.Solve(member.transpose() * explained);
  weights_ = explained - solved * corrections_;
}

VectorXd ContextModel::MeansAt(const model::RowMatrix& rows) const {
  constexpr Index kMeansAtOnce = 256;
  VectorXd means(rows.rows());
  for (Index begin = 0; begin < rows.rows(); begin += kMeansAtOnce) {
    const Index size = std::min(kMeansAtOnce, rows.rows() - begin);
    const MatrixXd cross = process_.Covariance(process_.Scaled(rows.middleRows(begin, size)));
    means.segment(begin, size) = (cross.transpose() * weights_).array() + mean_;
  }
  return means;
}

std::optional<double> ContextModel::LeastMean(int context) const {
  const Observation* const best = BestOf(context);
  const std::optional<double>& offset = offsets_[static_cast<size_t>(context)];
  if (best == nullptr || !offset) return std::nullopt;
  return process_.Transform(Scaled(best->outcome.value) - *offset) - corrections_[context];
}

}  // namespace bayloom::optimizer
