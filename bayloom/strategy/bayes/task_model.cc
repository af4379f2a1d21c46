// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/task_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bayloom/model/fit_failure.h"

namespace bayloom::strategy {
namespace {

/// More take too long: the fastest are kept, which matter most, and a sample of the others.
constexpr size_t kFastest = 160, kOthers = 96;

/// Programs from which on it learns.
constexpr size_t kMinCount = 4;
/// Before that, what programs may differ by in throughput, and how far one has to go for it.
constexpr double kDefaultDeviation = 0.2;
constexpr double kDefaultLengthScale = 0.5;

model::KernelHyperparameters Usual(const DecisionRows& rows) {
  model::KernelHyperparameters usual =
      model::DefaultHyperparameters(model::CountGroups(rows.group_of_column()));
  usual.length_scales.setConstant(kDefaultLengthScale);
  return usual;
}

/// Places among the programs, which are sorted, of those that are learnt from.
std::vector<size_t> Thinned(std::span<const ScoredCandidate> tried) {
  std::vector<size_t> kept(tried.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  if (kept.size() <= kFastest + kOthers) return kept;
  std::sort(kept.begin() + kFastest, kept.end(), [&](size_t a, size_t b) {
    return tried[a].candidate->hash < tried[b].candidate->hash;
  });
  kept.resize(kFastest + kOthers);
  return kept;
}

model::GaussianProcessOptions ProcessOptions() {
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  options.search.random_starts = 4;
  options.search.refined_starts = 1;
  return options;
}

}  // namespace

TaskModel::TaskModel(const DecisionRows& rows, std::span<const ScoredCandidate> tried,
                     std::span<const double> expected, base::RandomStream& random)
    : rows_(rows), process_(rows.group_of_column(), ProcessOptions()), unit_(kDefaultDeviation) {
  if (tried.empty()) return;
  const double best = tried.front().rating;
  std::vector<CandidatePtr> programs;
  std::vector<double> surprises;
  for (size_t i : Thinned(tried)) {
    programs.push_back(tried[i].candidate);
    surprises.push_back((best > 0 ? tried[i].rating / best : 0) - expected[i]);
  }
  const Eigen::VectorXd values =
      Eigen::Map<const Eigen::VectorXd>(surprises.data(), std::ssize(surprises));
  try {
    if (programs.size() >= kMinCount) {
      process_.Fit(rows_(programs), values, random);
      unit_ = process_.Untransform(1) - process_.Untransform(0);
    } else {
      process_.Condition(rows_(programs), values, Usual(rows_));
    }
  } catch (const model::FitFailure&) {
    Forget();
  }
}

void TaskModel::Forget() {
  process_ = model::GaussianProcess(rows_.group_of_column(), ProcessOptions());
  unit_ = kDefaultDeviation;
}

Posterior TaskModel::Predict(std::span<const CandidatePtr> programs) const {
  if (process_.observations() == 0) return Prior(std::ssize(programs));
  Posterior beliefs;
  process_.Predict(rows_(programs), beliefs.mean, beliefs.deviation);
  return InShares(std::move(beliefs));
}

TrackedPrograms TaskModel::TrackPredictions(std::span<const CandidatePtr> programs) const {
  return {std::ssize(programs), process_.TrackPredictions(rows_(programs))};
}

Posterior TaskModel::Predict(TrackedPrograms& watched) const {
  if (process_.observations() == 0) return Prior(watched.count);
  Posterior beliefs;
  watched.rows->Predict(process_, beliefs.mean, beliefs.deviation);
  return InShares(std::move(beliefs));
}

Posterior TaskModel::Prior(Eigen::Index programs) const {
  return {Eigen::VectorXd::Zero(programs), Eigen::VectorXd::Constant(programs, unit_)};
}

/// From the process's scale, and its variances for deviations.
Posterior TaskModel::InShares(Posterior standardized) const {
  for (double& mean : standardized.mean) mean = process_.Untransform(mean);
  standardized.deviation = standardized.deviation.cwiseMax(0).cwiseSqrt() * unit_;
  return standardized;
}

void TaskModel::ConditionOn(const CandidatePtr& program) {
  const model::RowMatrix row = rows_({&program, 1});
  try {
    if (process_.observations() == 0) {
      process_.Condition(row, Eigen::VectorXd::Zero(1), Usual(rows_));
      return;
    }
    Eigen::VectorXd mean, variance;
    process_.Predict(row, mean, variance);
    mean[0] = process_.Untransform(mean[0]);
    process_.Add(row, mean);
  } catch (const model::FitFailure&) {
    Forget();
  }
}

}  // namespace bayloom::strategy
