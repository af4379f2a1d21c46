// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

/// How fast tasks improve, learnt from all of them together.
///
/// Trials from s to t are expected to lower the logarithm of a task's best cost by
///
///     task's frailty * sum over octaves b of rate[b] * octaves of [s, t] in b,
///
/// an octave being trials 2^b to 2^(b+1): with equal rates the cost falls along a power
/// of the trials. The rates are common to all tasks, so that they fit the strategy in use and the
/// kind of the tasks; a frailty says how much more or less a task improves than those do (the
/// shared frailty model of survival analysis; Vaupel et al. 1979). Its prior is a gamma
/// distribution of mean 1, in which an improvement by a tenth counts as one event.
///
/// Of few observations rates come near a prior, an octave's being a part of the one before it.
class ImprovementRates {
 public:
  explicit ImprovementRates(std::span<const TaskProgress> tasks);

  /// The part of its best cost that the task is expected to lose in so many further trials,
  /// below 1. One that has no feasible configuration yet is as any other before its first trial.
  double ShareOfCost(size_t task, int more_trials) const;

  /// By octave, as far as there are observations.
  std::span<const double> rates() const { return rates_; }
  /// By task; 1 where nothing was observed.
  std::span<const double> frailties() const { return frailties_; }

 private:
  /// What one task did in one octave.
  struct Observation {
    int octave;
    double octaves;  ///< how much of it
    double gain;     ///< of the logarithm of the cost
  };
  static std::vector<Observation> ObservationsOf(const TaskProgress& task);
  void LearnRates(std::span<const std::vector<Observation>> observations);
  void LearnFrailties(std::span<const std::vector<Observation>> observations);
  double RateOf(int octave) const;

  std::vector<double> rates_;
  std::vector<double> frailties_;
  std::vector<int> trials_;  ///< of each task so far; 0 while it has no feasible configuration
};

}  // namespace bayloom::scheduling
