// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/weighted_sum.h"

#include <algorithm>
#include <utility>

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kFolds = 5;

/// 1 if predictions put all pairs in order, 0 if no more than chance does.
double RankingSkill(const VectorXd& predicted, const VectorXd& values) {
  int in_order = 0, pairs = 0;
  for (Index i = 0; i < values.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (values[i] == values[j]) continue;
      ++pairs;
      in_order += (predicted[i] < predicted[j]) == (values[i] < values[j]);
    }
  }
  return pairs == 0 ? 0 : std::max(0.0, 2.0 * in_order / pairs - 1);
}

}  // namespace

WeightedSurrogate::WeightedSurrogate(ColumnGroups group_of_column,
                                     std::vector<TaskObservations> earlier, Index min_ranked,
                                     GaussianProcessOptions options)
    : earlier_(std::move(earlier)),
      min_ranked_(min_ranked),
      untrained_(std::move(group_of_column), std::move(options)) {}

void WeightedSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                            base::RandomStream& random) {
  if (tasks_.empty()) {
    for (const TaskObservations& task : earlier_) {
      tasks_.push_back(untrained_);
      tasks_.back().Fit(task.rows, task.values, random);
    }
    tasks_.push_back(untrained_);
  }
  tasks_.back().Fit(rows, values, random);
  rows_ = rows;
  values_ = values;
  ComputeWeights();
}

void WeightedSurrogate::Add(const RowMatrix& rows, const VectorXd& values) {
  tasks_.back().Add(rows, values);
  const Index known = rows_.rows();
  rows_.conservativeResize(known + rows.rows(), Eigen::NoChange);
  rows_.bottomRows(rows.rows()) = rows;
  values_.conservativeResize(rows_.rows());
  values_.tail(values.size()) = values;
  ComputeWeights();
}

void WeightedSurrogate::ComputeWeights() {
  const auto count = static_cast<Index>(tasks_.size());
  weights_ = VectorXd::Ones(count);
  if (values_.size() >= min_ranked_) {
    VectorXd mean, variance;
    for (Index i = 0; i + 1 < count; ++i) {
      tasks_[static_cast<size_t>(i)].Predict(rows_, mean, variance);
      weights_[i] = RankingSkill(mean, values_);
    }
    weights_[count - 1] = RankingSkill(CrossValidated(), values_);
    if (weights_.sum() == 0) weights_[count - 1] = 1;
  }
  weights_ /= weights_.sum();
}

VectorXd WeightedSurrogate::CrossValidated() const {
  const Index count = values_.size(), folds = std::min(kFolds, count);
  VectorXd predicted(count), mean, variance;
  for (Index fold = 0; fold < folds; ++fold) {
    std::vector<Index> told, asked;
    for (Index i = 0; i < count; ++i) (i % folds == fold ? asked : told).push_back(i);
    GaussianProcess process = untrained_;
    process.Condition(rows_(told, Eigen::all), values_(told), Target().hyperparameters());
    process.Predict(rows_(asked, Eigen::all), mean, variance);
    for (size_t i = 0; i < asked.size(); ++i) {
      predicted[asked[i]] = process.Untransform(mean[static_cast<Index>(i)]);
    }
  }
  return predicted;
}

void WeightedSurrogate::Predict(const RowMatrix& rows, VectorXd& mean, VectorXd& variance) const {
  mean = VectorXd::Zero(rows.rows());
  VectorXd deviation = mean, task_mean, task_variance;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const double weight = weights_[static_cast<Index>(i)];
    if (weight == 0) continue;
    tasks_[i].Predict(rows, task_mean, task_variance);
    mean += weight * task_mean;
    deviation.array() += weight * task_variance.array().sqrt();
  }
  variance = deviation.array().square();
}

std::unique_ptr<Surrogate> WeightedSurrogate::Clone() const {
  return std::make_unique<WeightedSurrogate>(*this);
}

}  // namespace bayloom::model
