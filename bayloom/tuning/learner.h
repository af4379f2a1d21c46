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
/// learnt. With a model of latencies, each of the further objectives has a model of its own, which
/// learns those costs as the other one learns times.
class Learner {
 public:
  /// `model` may be null; all three must outlive the learner. `objectives` begin with the latency.
  Learner(cost::CostModel* model, base::ThreadPool& pool, run::PhaseClock& clock,
          const std::vector<ProgramObjective>& objectives = {ProgramObjective::kLatency});

  /// One score per candidate of the task (structural hash of its workload); the higher the faster.
  std::vector<double> Score(uint64_t task, std::span<const sketch::Candidate* const> candidates);
  /// The same for one of the further objectives that there are models of: the higher the better.
  std::vector<double> ScoreFor(ProgramObjective objective, uint64_t task,
                               std::span<const sketch::Candidate* const> candidates);
  /// Objectives that there are models of, besides the latency.
  std::vector<ProgramObjective> further() const;
  /// How many programs of the task's next batch the model wants regardless of their scores.
  int ExplorationCount(uint64_t task) const { return model_ ? model_->ExplorationCount(task) : 0; }
  /// Whether scores of the task say something before anything was measured of it.
  bool IsInformed(uint64_t task) const { return model_ && model_->IsInformed(task); }
  /// Learns and returns how well they would have been predicted.
  std::optional<cost::BatchMetrics> Learn(std::span<const TrainingSample> trials);
  /// Learns what an earlier run learnt, batch by batch as it did.
  void Remember(std::span<const TrainingSample> trials);

 private:
  struct Further {
    ProgramObjective objective;
    std::unique_ptr<cost::CostModel> model;
  };

  std::vector<double> Predict(cost::CostModel& model, uint64_t task,
                              std::span<const sketch::Candidate* const> candidates);
  std::vector<cost::Sample> Samples(std::span<const TrainingSample> trials);
  /// The same samples with what programs cost in another objective.
  static std::vector<cost::Sample> SamplesFor(ProgramObjective objective,
                                              std::span<const TrainingSample> trials,
                                              std::vector<cost::Sample> samples);
  std::vector<feature::FeatureMatrix> Features(
      std::span<const sketch::Candidate* const> candidates);

  cost::CostModel* model_;
  std::vector<Further> further_;
  base::ThreadPool& pool_;
  run::PhaseClock& clock_;
};

}  // namespace bayloom::tuning
