// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "bayloom/cost/metrics.h"

namespace bayloom::pretrain {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A task's programs, best predicted first.
struct TaskResult {
  std::vector<double> seconds;  ///< infinite where infeasible
  std::vector<double> predicted, labels;
  double best = kInfinity;

  /// Of the k best predicted; where none of them runs, as bad as the worst that does.
  double BestOfFirst(size_t k) const {
    double first = kInfinity, worst = 0;
    for (size_t i = 0; i < seconds.size(); ++i) {
      if (i < k) first = std::min(first, seconds[i]);
      if (seconds[i] < kInfinity) worst = std::max(worst, seconds[i]);
    }
    return first < kInfinity ? first : worst;
  }
};

std::optional<TaskResult> Examine(const cost::ThroughputModel& model, record::ProgramPool& pool,
                                  record::TaskId task, const std::map<int64_t, Label>& measured,
                                  int min_programs) {
  std::vector<double> seconds, predicted;
  pool.Visit(task, record::ProgramPool::Part::kFeatures,
             [&](int64_t first, std::span<const record::PoolProgram> programs) {
               std::vector<const feature::FeatureMatrix*> features;
               const auto end = first + static_cast<int64_t>(programs.size());
               for (auto at = measured.lower_bound(first); at != measured.end() && at->first < end;
                    ++at) {
                 features.push_back(&programs[at->first - first].features);
                 seconds.push_back(at->second.value_or(kInfinity));
               }
               if (features.empty()) return;
               const std::vector<double> scores = model.Predict(features);
               predicted.insert(predicted.end(), scores.begin(), scores.end());
             });
  std::vector<size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return predicted[a] > predicted[b]; });
  TaskResult result;
  int feasible = 0;
  for (const size_t i : order) {
    result.seconds.push_back(seconds[i]);
    result.predicted.push_back(predicted[i]);
    result.best = std::min(result.best, seconds[i]);
    feasible += seconds[i] < kInfinity ? 1 : 0;
  }
  if (feasible < min_programs) return std::nullopt;
  for (const double s : result.seconds) result.labels.push_back(result.best / s);
  return result;
}

/// The share of the labels' variance that the predictions explain.
double CoefficientOfDetermination(const TaskResult& result) {
  const auto count = static_cast<double>(result.labels.size());
  const double mean = std::accumulate(result.labels.begin(), result.labels.end(), 0.0) / count;
  double total = 0, residual = 0;
  for (size_t i = 0; i < result.labels.size(); ++i) {
    total += std::pow(result.labels[i] - mean, 2);
    residual += std::pow(result.labels[i] - result.predicted[i], 2);
  }
  return total > 0 ? 1 - residual / total : 0;
}

}  // namespace

ModelEvaluation EvaluateModel(const cost::ThroughputModel& model, record::ProgramPool& pool,
                              const std::vector<record::PoolGroup>& groups,
                              const std::map<record::TaskId, std::map<int64_t, Label>>& measured,
                              int min_programs) {
  ModelEvaluation evaluation;
  std::map<record::TaskId, std::optional<TaskResult>> results;
  for (const record::PoolGroup& group : groups) {
    for (const record::PoolGroup::Member& member : group.members) {
      const auto labels = measured.find(member.task);
      if (labels == measured.end() || results.contains(member.task)) continue;
      results[member.task] = Examine(model, pool, member.task, labels->second, min_programs);
    }
  }
  for (const auto& [task, result] : results) {
    if (!result) continue;
    ++evaluation.tasks;
    evaluation.programs += static_cast<int64_t>(result->seconds.size());
    evaluation.rmse += cost::RootMeanSquareError(result->predicted, result->labels);
    evaluation.r2 += CoefficientOfDetermination(*result);
    evaluation.pairwise_accuracy += cost::PairwiseAccuracy(result->predicted, result->labels);
  }
  if (evaluation.tasks == 0) return evaluation;
  for (double* mean : {&evaluation.rmse, &evaluation.r2, &evaluation.pairwise_accuracy}) {
    *mean /= evaluation.tasks;
  }
  int counted = 0;
  for (const record::PoolGroup& group : groups) {
    double best = 0, first = 0, first5 = 0;
    for (const record::PoolGroup::Member& member : group.members) {
      const auto result = results.find(member.task);
      if (result == results.end() || !result->second) continue;
      best += member.weight * result->second->best;
      first += member.weight * result->second->BestOfFirst(1);
      first5 += member.weight * result->second->BestOfFirst(5);
    }
    if (best == 0) continue;
    ++counted;
    evaluation.top1 += best / first;
    evaluation.top5 += best / first5;
  }
  evaluation.top1 /= counted;
  evaluation.top5 /= counted;
  return evaluation;
}

}  // namespace bayloom::pretrain
