// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/fit_hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "bayloom/model/log_posterior.h"
#include "bayloom/model/minimize.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

/// Far outside of what data or priors ask for.
constexpr double kMinLengthScale = 1e-2, kMaxLengthScale = 1e3;
constexpr double kMinSignal = 1e-2, kMaxSignal = 1e3;
constexpr double kMaxNoise = 10;

/// A point of the search: logarithms of hyperparameters and their log posterior.
struct Point {
  VectorXd logs;
  double log_posterior;
};

Point Climb(const LogPosterior& posterior, const VectorXd& start,
            const HyperparameterSearch& search, int max_evaluations) {
  VectorXd lower = VectorXd::Constant(start.size(), std::log(kMinLengthScale));
  VectorXd upper = VectorXd::Constant(start.size(), std::log(kMaxLengthScale));
  lower.tail<2>() << std::log(kMinSignal), std::log(search.min_noise);
  upper.tail<2>() << std::log(kMaxSignal), std::log(kMaxNoise);
  auto negated = [&](const VectorXd& logs, VectorXd* gradient) {
    const double value = -posterior(logs, gradient);
    if (gradient != nullptr) *gradient = -*gradient;
    return value;
  };
  const MinimizeOptions options{.max_evaluations = max_evaluations, .relative_tolerance = 1e-4};
  Point end;
  end.logs = Minimize(negated, start, lower, upper, options, end.log_posterior);
  end.log_posterior = -end.log_posterior;
  return end;
}

VectorXd DrawStart(int groups, const HyperparameterSearch& search, base::RandomStream& random) {
  auto decades = [&](double from, double to) {
    return std::log(10.0) * (from + (to - from) * random.Uniform());
  };
  VectorXd logs(groups + 2);
  const double usual = std::log(UsualLengthScale(groups));
  for (int group = 0; group < groups; ++group) logs(group) = usual + decades(-1, 0.5);
  logs(groups) = decades(-1, 0.5);
  logs(groups + 1) = std::max(decades(-5, -1), std::log(search.min_noise));
  return logs;
}

/// Up to `count` of 0..n-1, drawn at random, in ascending order.
std::vector<int> DrawRows(int n, int count, base::RandomStream& random) {
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  if (n <= count) return rows;
  random.Shuffle(rows);
  rows.resize(count);
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

KernelHyperparameters DefaultHyperparameters(int groups) {
  return {.length_scales = VectorXd::Constant(groups, UsualLengthScale(groups)),
          .signal_variance = 1,
          .noise_variance = 1e-2};
}

FittedHyperparameters RefineHyperparameters(const RowMatrix& rows,
                                            const ColumnGroups& group_of_column,
                                            const VectorXd& observations,
                                            const KernelHyperparameters& start,
                                            const HyperparameterSearch& search) {
  const LogPosterior posterior(rows, group_of_column, observations, search.priors);
  const Point end = Climb(posterior, start.ToLogs(), search, search.refine_evaluations);
  return {KernelHyperparameters::FromLogs(end.logs), end.log_posterior};
}

FittedHyperparameters SearchHyperparameters(const RowMatrix& rows,
                                            const ColumnGroups& group_of_column,
                                            const VectorXd& observations,
                                            const KernelHyperparameters& start,
                                            const HyperparameterSearch& search,
                                            base::RandomStream& random) {
  const std::vector<int> drawn =
      DrawRows(static_cast<int>(rows.rows()), search.search_rows, random);
  const RowMatrix some_rows = rows(drawn, Eigen::all);
  const VectorXd some_observations = observations(drawn);
  const LogPosterior posterior(some_rows, group_of_column, some_observations, search.priors);

  std::vector<Point> starts{{start.ToLogs(), 0}};
  const int groups = static_cast<int>(start.length_scales.size());
  for (int i = 0; i < search.random_starts; ++i) {
    starts.push_back({DrawStart(groups, search, random), 0});
  }
  for (Point& point : starts) point.log_posterior = posterior(point.logs, nullptr);
  // The start given is climbed from in any case; then the best of the others.
  std::sort(starts.begin() + 1, starts.end(),
            [](const Point& a, const Point& b) { return a.log_posterior > b.log_posterior; });
  starts.resize(std::min<size_t>(starts.size(), search.refined_starts));

  Point best{starts.front().logs, -std::numeric_limits<double>::infinity()};
  for (const Point& point : starts) {
    Point end = Climb(posterior, point.logs, search, search.search_evaluations);
    if (end.log_posterior > best.log_posterior) best = std::move(end);
  }
  return RefineHyperparameters(rows, group_of_column, observations,
                               KernelHyperparameters::FromLogs(best.logs), search);
}

}  // namespace bayloom::model
