// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/external/objective.h"
#include "bayloom/pareto/front.h"

namespace bayloom::external {

/// When a search has found enough, or finds nothing more; beside its budget.
struct StopRules {
  /// A value of each objective, as evaluations answer it: one trial that is at least as good in all
  /// of them ends the search. Empty: none does.
  std::vector<double> target;
  /// So many trials in a row without an improvement end the search. 0: never.
  int64_t plateau_trials = 0;
  /// What counts as an improvement of a single objective: more than this share of the best value.
  /// With several objectives every trial that none before dominates counts.
  double plateau_gain = 0;
};

/// Follows a search trial by trial, those before it was resumed included.
class StopRuleWatch {
 public:
  StopRuleWatch(StopRules rules, std::vector<Objective> objectives);

  /// `point`: what is minimized, of a feasible trial. `extends_front`: no trial before is as good.
  void Add(const std::optional<pareto::Point>& point, bool extends_front);

  bool HasReachedTarget() const { return has_reached_target_; }
  bool HasConverged() const {
    return rules_.plateau_trials > 0 && best_ && since_gain_ >= rules_.plateau_trials;
  }

 private:
  StopRules rules_;
  pareto::Point target_;  ///< minimized
  bool has_reached_target_ = false;
  int64_t since_gain_ = 0;      ///< trials
  std::optional<double> best_;  ///< of the first objective, at the last gain
};

}  // namespace bayloom::external
