// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/sample.h"

#include <algorithm>
#include <map>

#include "bayloom/cost/metrics.h"

namespace bayloom::cost {

std::vector<const feature::FeatureMatrix*> FeaturesOf(std::span<const Sample> samples) {
  std::vector<const feature::FeatureMatrix*> features;
  features.reserve(samples.size());
  for (const Sample& sample : samples) features.push_back(&sample.features);
  return features;
}

void TaskBests::Add(const Sample& sample) {
  if (!sample.seconds) return;
  const auto [best, inserted] = best_seconds_.emplace(sample.task, *sample.seconds);
  if (!inserted) best->second = std::min(best->second, *sample.seconds);
}

double TaskBests::Label(uint64_t task, std::optional<double> seconds) const {
  return seconds ? best_seconds_.at(task) / *seconds : 0;
}

BatchMetrics EvaluateBatch(std::span<const double> predicted, std::span<const Sample> batch,
                           const TaskBests& bests) {
  struct Scores {
    std::vector<double> predicted, truth;
  };
  std::map<uint64_t, Scores> by_task;
  std::vector<double> truth;
  for (size_t i = 0; i < batch.size(); ++i) {
    truth.push_back(bests.Label(batch[i].task, batch[i].seconds));
    Scores& scores = by_task[batch[i].task];
    scores.predicted.push_back(predicted[i]);
    scores.truth.push_back(truth.back());
  }
  BatchMetrics metrics;
  metrics.samples = static_cast<int>(batch.size());
  metrics.rmse = RootMeanSquareError(predicted, truth);
  for (double p : predicted) metrics.mean_score += p / static_cast<double>(batch.size());
  for (const auto& [task, scores] : by_task) {
    const int count = static_cast<int>(scores.truth.size());
    const double share = static_cast<double>(count) / static_cast<double>(batch.size());
    metrics.spearman += share * SpearmanCorrelation(scores.predicted, scores.truth);
    metrics.pairwise_accuracy += share * PairwiseAccuracy(scores.predicted, scores.truth);
    metrics.top_recall += share * TopKRecall(scores.predicted, scores.truth, (count + 3) / 4);
    metrics.top1_score += share * TopKScore(scores.predicted, scores.truth, 1);
  }
  return metrics;
}

}  // namespace bayloom::cost
