// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/earlier_ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// What the process learns from, and of that what its hyperparameters are learnt from.
constexpr size_t kMaxObservations = 400;
constexpr size_t kMaxFitted = 120;

GaussianProcessOptions ForScores() {
  GaussianProcessOptions options;
  options.scale = ObjectiveScale::kLinear;
  return options;
}

/// Places of the values in ascending order.
std::vector<Index> Ascending(const VectorXd& values) {
  std::vector<Index> order(static_cast<size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) { return values[i]; });
  return order;
}

/// Equal values share the mean of their ranks.
VectorXd LogisticScores(const VectorXd& values, const std::vector<Index>& order) {
  const double unit = std::numbers::sqrt3 / std::numbers::pi;
  const auto count = static_cast<double>(order.size());
  VectorXd scores(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double share = static_cast<double>(begin + end) / 2 / count;
    for (; begin < end; ++begin) scores[order[begin]] = unit * std::log(share / (1 - share));
  }
  return scores;
}

/// So many of the ascending places: half of them the first ones, the others evenly.
std::vector<Index> Thinned(const std::vector<Index>& order, size_t most) {
  if (order.size() <= most) return order;
  const size_t first = most / 2, others = most - first;
  std::vector<Index> thinned(order.begin(), order.begin() + static_cast<Index>(first));
  for (size_t i = 0; i < others; ++i) {
    thinned.push_back(order[first + (order.size() - first) * i / others]);
  }
  return thinned;
}

std::string BytesOf(const RowMatrix& rows, Index i) {
  return {reinterpret_cast<const char*>(rows.row(i).data()),
          static_cast<size_t>(rows.cols()) * sizeof(double)};
}

}  // namespace

EarlierRanking::EarlierRanking(const ColumnGroups& group_of_column, const TaskObservations& task,
                               const RowMatrix& failures, base::RandomStream& random)
    : process_(group_of_column, ForScores()) {
  CheckFinite(task.values);
  RowMatrix rows(task.rows.rows() + failures.rows(), task.rows.cols());
  rows.topRows(task.rows.rows()) = task.rows;
  rows.bottomRows(failures.rows()) = failures;
  VectorXd values(rows.rows());
  values.head(task.values.size()) = task.values;
  values.tail(failures.rows()).setConstant(std::numeric_limits<double>::infinity());

  const std::vector<Index> order = Ascending(values);
  const VectorXd scores = LogisticScores(values, order);
  // Of several observations of one row the best counts.
  for (const Index i : order) known_.emplace(BytesOf(rows, i), scores[i]);

  const std::vector<Index> learnt = Thinned(order, kMaxObservations);
  const std::vector<Index> fitted = Thinned(learnt, kMaxFitted);
  process_.Fit(rows(fitted, Eigen::all), scores(fitted), random);
  if (fitted.size() < learnt.size()) {
    process_.Condition(rows(learnt, Eigen::all), scores(learnt),
                       KernelHyperparameters(process_.hyperparameters()));
  }
}

VectorXd EarlierRanking::Scores(const RowMatrix& rows) const {
  VectorXd scores(rows.rows());
  std::vector<Index> unknown;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto found = known_.find(BytesOf(rows, i));
    if (found != known_.end()) {
      scores[i] = found->second;
    } else {
      unknown.push_back(i);
    }
  }
  if (unknown.empty()) return scores;
  const VectorXd means = process_.PredictMean(rows(unknown, Eigen::all));
  for (size_t i = 0; i < unknown.size(); ++i) {
    scores[unknown[i]] = process_.Untransform(means[static_cast<Index>(i)]);
  }
  return scores;
}

}  // namespace bayloom::model
