// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace bayloom::scheduling {

/// Slots after which a task without a feasible configuration is not expected to find one.
inline constexpr int kHopelessSlots = 3;

/// The progress of a task: everything a TaskScheduler may look at.
///
/// A task is anything that gets cheaper when it is given trials. Its cost is positive and in a
/// unit that all tasks share: seconds of one run for the operators of a network.
struct TaskProgress {
  std::string name;
  double weight = 1;  ///< how often one run of the whole (a network) runs the task
  /// How often it may come to run it in place of other tasks, times how likely (TaskAlternative).
  double chance = 0;
  /// How large the task is as far as that is known beforehand: floating-point operations of one
  /// run. 0 if nothing is known.
  double work = 0;
  /// What its cost is expected to be before any trial, from the limits of the machine: in a unit
  /// that all tasks share, for only the ratios matter. 0 if nothing is known.
  double expected_cost = 0;
  /// What it costs before any trial, as far as that is estimated: it counts in the whole until
  /// there is a feasible configuration. Infinity if nothing is known.
  double zero_trial_cost = std::numeric_limits<double>::infinity();
  /// Learning curve: cost of the best feasible configuration after each trial; infinity while
  /// there is none.
  std::vector<double> best_after_trial = {};
  /// Number of trials done at the end of each slot the task was given; the last may have been
  /// cut short.
  std::vector<int> slot_ends = {};
  /// No more trials wanted: its space is exhausted or its trial limit is reached.
  bool finished = false;
  /// A cost that no configuration can beat, e.g. the work at the machine's peak; 0 if unknown.
  double lower_bound = 0;
  /// Spent on its trials so far; 0 if unknown.
  double seconds = 0;

  /// What a gain of the task counts when it is decided which one gets trials.
  double importance() const { return weight + chance; }
  int trials() const { return static_cast<int>(best_after_trial.size()); }
  int slots() const { return static_cast<int>(slot_ends.size()); }
  /// Infinity while there is no feasible configuration.
  double best() const { return BestAfter(trials()); }
  /// Trials up to and with the first feasible configuration; trials() + 1 while there is none.
  int TrialsToFeasible() const {
    const auto first =
        std::ranges::find_if(best_after_trial, [](double cost) { return std::isfinite(cost); });
    return static_cast<int>(first - best_after_trial.begin()) + 1;
  }
  double BestAfterSlot(int slot) const { return BestAfter(slot_ends[slot]); }

 private:
  double BestAfter(int trials) const {
    return trials == 0 ? std::numeric_limits<double>::infinity() : best_after_trial[trials - 1];
  }
};

/// The weighted sum of the tasks' best costs, where there is none yet of their zero_trial_cost;
/// infinity while a task that has a weight has neither.
double CostOfTheWhole(std::span<const TaskProgress> tasks);
/// How many tasks that have a weight count by their zero_trial_cost.
int CountEstimated(std::span<const TaskProgress> tasks);

}  // namespace bayloom::scheduling
