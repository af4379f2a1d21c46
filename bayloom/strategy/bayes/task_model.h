// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/incremental_predictor.h"
#include "bayloom/strategy/bayes/decision_rows.h"
#include "bayloom/strategy/scored_candidate.h"

namespace bayloom::strategy {

/// What is predicted of programs without having run them, one number each for mean and standard
/// deviation of a difference.
struct Posterior {
  Eigen::VectorXd mean, deviation;
};

/// Programs that a model is asked about again and again while it is conditioned on more.
struct TrackedPrograms {
  Eigen::Index count;
  std::unique_ptr<model::IncrementalPredictor> rows;
};

/// A Gaussian process over the decisions of one task's programs that were tried. It predicts by how
/// much throughput, as a share of that of the task's best program, will differ from what was
/// expected; programs that failed have none.
/// It knows nothing of other tasks and no features: it errs elsewhere than cost models do, and
/// knows where it may err.
class TaskModel {
 public:
  /// `tried` are rated by runs per second, the fastest first, 0 if they have no time; of each,
  /// `expected` has the share that was expected. `rows` must outlive it.
  TaskModel(const DecisionRows& rows, std::span<const ScoredCandidate> tried,
            std::span<const double> expected, base::RandomStream& random);

  Posterior Predict(std::span<const CandidatePtr> programs) const;
  /// Predict(watched) is cheaper than Predict(programs) from the second time on.
  TrackedPrograms TrackPredictions(std::span<const CandidatePtr> programs) const;
  Posterior Predict(TrackedPrograms& watched) const;
  /// Takes a prediction for a measurement, so that what is much like it is no longer uncertain
  /// (kriging believer).
  void ConditionOn(const CandidatePtr& program);

 private:
  /// Where there is no fit: as before any trial.
  void Forget();
  Posterior Prior(Eigen::Index programs) const;
  Posterior InShares(Posterior standardized) const;

  const DecisionRows& rows_;
  model::GaussianProcess process_;
  double unit_;  ///< of its predictions, in shares of the best throughput
};

}  // namespace bayloom::strategy
