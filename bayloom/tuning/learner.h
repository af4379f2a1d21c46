// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/run/phase_times.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::tuning {

/// A trial to learn from.
struct TrainingSample {
  uint64_t task;  ///< structural hash of the workload
  const sketch::Candidate* candidate;
  const trial::Outcome* outcome;
};

/// Puts a cost model to work: turns candidates into features, in parallel, and keeps account of
/// the time. Without a model all scores are equal and nothing is learnt.
class Learner {
 public:
  /// `model` may be null; all three must outlive the learner.
  Learner(cost::CostModel* model, base::ThreadPool& pool, run::PhaseClock& clock)
      : model_(model), pool_(pool), clock_(clock) {}

  /// One score per candidate of the task (structural hash of its workload); the higher the faster.
  std::vector<double> Score(uint64_t task, std::span<const sketch::Candidate* const> candidates);
  /// How many programs of the task's next batch the model wants regardless of their scores.
  int ExplorationCount(uint64_t task) const { return model_ ? model_->ExplorationCount(task) : 0; }
  /// Learns and returns how well they would have been predicted.
  std::optional<cost::BatchMetrics> Learn(std::span<const TrainingSample> trials);
  /// Learns what an earlier run learnt, batch by batch as it did.
  void Remember(std::span<const TrainingSample> trials);

 private:
  std::vector<cost::Sample> Samples(std::span<const TrainingSample> trials);
  std::vector<feature::FeatureMatrix> Features(
      std::span<const sketch::Candidate* const> candidates);

  cost::CostModel* model_;
  base::ThreadPool& pool_;
  run::PhaseClock& clock_;
};

}  // namespace bayloom::tuning
