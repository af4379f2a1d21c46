// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/run/phase_times.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/trial/outcome.h"
#include "bayloom/tuning/program_objective.h"

namespace bayloom::tuning {

/// A trial to learn from.
struct TrainingSample {
  uint64_t task;  ///< structural hash of the workload
  const sketch::Candidate* candidate;
  const trial::Outcome* outcome;
  double calls = 1;  ///< of the task, for the program's cost in objectives besides the latency
};

/// Puts cost models to work: turns candidates into features, in parallel, and keeps account of
/// the time. Without a model, and where it cannot be fitted, all scores are equal and nothing is
/// learnt. With a model of latencies, each other objective has a model of its own, which learns
/// those costs as the first one learns times.
class Learner {
 public:
  /// `model` may be null; all three must outlive the learner. `objectives` begin with the latency.
  Learner(cost::CostModel* model, base::ThreadPool& pool, run::PhaseClock& clock,
          const std::vector<ProgramObjective>& objectives = {ProgramObjective::kLatency});

  /// The latency and, where there are models, the others.
  const std::vector<ProgramObjective>& objectives() const { return objectives_; }
  /// One score per candidate of the task (structural hash of its workload) in one of the
  /// objectives, by its place; the higher the better.
  std::vector<double> Score(size_t objective, uint64_t task,
                            std::span<const sketch::Candidate* const> candidates);
  /// How many programs of the task's next batch the model wants regardless of their scores.
  int ExplorationCount(uint64_t task) const {
    return models_.empty() ? 0 : models_[0]->ExplorationCount(task);
  }
  /// Whether scores of the task say something before anything was measured of it.
  bool IsInformed(uint64_t task) const { return !models_.empty() && models_[0]->IsInformed(task); }
  /// Learns and returns how well they would have been predicted.
  std::optional<cost::BatchMetrics> Learn(std::span<const TrainingSample> trials);
  /// Learns what an earlier run learnt, batch by batch as it did.
  void Remember(std::span<const TrainingSample> trials);

 private:
  std::vector<cost::Sample> Samples(std::span<const TrainingSample> trials);
  /// The same samples with what programs cost in one of the objectives.
  std::vector<cost::Sample> SamplesFor(size_t objective, std::span<const TrainingSample> trials,
                                       std::vector<cost::Sample> samples) const;
  std::vector<feature::FeatureMatrix> Features(
      std::span<const sketch::Candidate* const> candidates);

  std::vector<ProgramObjective> objectives_;
  std::vector<cost::CostModel*> models_;  ///< of the objectives; none if nothing is learnt
  std::vector<std::unique_ptr<cost::CostModel>> own_models_;
  base::ThreadPool& pool_;
  run::PhaseClock& clock_;
};

}  // namespace bayloom::tuning
