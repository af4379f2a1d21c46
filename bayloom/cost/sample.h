// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/feature/program_features.h"

namespace bayloom::cost {

/// What a cost model learns from: a measured candidate.
struct Sample {
  uint64_t task = 0;  ///< candidates of one task compete with each other; any stable number
  feature::FeatureMatrix features;
  std::optional<double> seconds;  ///< nullopt: infeasible
  double prior = 0;               ///< a score known otherwise, which the model is to correct
};

/// The programs of a batch, as CostModel::Predict takes them.
std::vector<const feature::FeatureMatrix*> FeaturesOf(std::span<const Sample> samples);

/// Keeps every task's best time, and with it makes times of different tasks comparable.
class TaskBests {
 public:
  void Add(const Sample& sample);
  /// Normalized throughput: the task's best time so far over this time, in (0, 1]; 0 if
  /// infeasible. The sample's time must have been added.
  double Label(uint64_t task, std::optional<double> seconds) const;

 private:
  std::unordered_map<uint64_t, double> best_seconds_;
};

/// How well a batch of measurements was predicted before the model learnt it. Truths are labels
/// (TaskBests) with the batch's own times included. Ranks are compared within tasks and averaged
/// over the samples.
struct BatchMetrics {
  int samples = 0;
  int training_samples = 0;  ///< the model had learnt from so many; 0: scores were random
  double rmse = 0;
  double mean_score = 0;  ///< what was predicted of the batch
  double spearman = 0;
  double pairwise_accuracy = 0;
  double top_recall = 0;      ///< TopKRecall, k = a quarter of the task's samples in the batch
  double top1_score = 0;      ///< TopKScore, k = 1
  double update_seconds = 0;  ///< spent learning the batch afterwards
};

/// Fills in all but `training_samples` and `update_seconds`.
BatchMetrics EvaluateBatch(std::span<const double> predicted, std::span<const Sample> batch,
                           const TaskBests& bests);

}  // namespace bayloom::cost
