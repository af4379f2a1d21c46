// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/objective_model.h"

#include <algorithm>

namespace bayloom::optimizer {
namespace {

/// Trials, in proportion, after which hyperparameters are learnt anew.
constexpr double kGrowth = 1.1;

}  // namespace

bool ObjectiveModel::Update(const Memory& memory, base::RandomStream& random) {
  const std::vector<Observation>& trials = memory.trials();
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  const auto gather = [&] {
    configurations.clear();
    values.clear();
    for (size_t i = learnt_; i < trials.size(); ++i) {
      if (!trials[i].outcome.ok()) continue;
      configurations.push_back(trials[i].configuration);
      values.push_back(trials[i].outcome.value);
    }
  };
  gather();
  const auto grown = static_cast<double>(feasible_) + static_cast<double>(values.size());
  const bool fit =
      learnt_ == 0 || grown >= kGrowth * feasible_at_fit_ ||
      !std::all_of(values.begin(), values.end(), [&](double v) { return transform_.Accepts(v); });
  if (fit) {
    learnt_ = 0;
    feasible_ = 0;
    gather();
    transform_ = ObjectiveTransform(values, scale_);
  }
  learnt_ = trials.size();
  feasible_ += static_cast<int>(values.size());
  if (values.empty()) return false;

  const model::RowMatrix rows = features_(configurations);
  Eigen::VectorXd transformed(std::ssize(values));
  std::transform(values.begin(), values.end(), transformed.begin(), transform_);
  if (fit) {
    surrogate_->Fit(rows, transformed, random);
    feasible_at_fit_ = feasible_;
    least_ = transformed.minCoeff();
  } else {
    surrogate_->Add(rows, transformed);
    least_ = std::min(least_, transformed.minCoeff());
  }
  return fit;
}

}  // namespace bayloom::optimizer
