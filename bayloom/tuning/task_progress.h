#pragma once

#include <limits>
#include <string>
#include <vector>

namespace bayloom {

/// How a task has got on: everything a TaskScheduler may look at.
struct TaskProgress {
  std::string name;
  double weight = 1;  ///< how often one run of the whole (a network) runs the task
  double flops = 0;   ///< arithmetic of one run
  /// Learning curve: seconds of the best feasible program after each trial; infinity while there
  /// is none.
  std::vector<double> best_after_trial;
  /// Number of trials done at the end of each slot the task was given; the last may have been
  /// cut short.
  std::vector<int> slot_ends;
  /// No more trials wanted: its design spaces are exhausted or its trial limit is reached.
  bool finished = false;

  int trials() const { return static_cast<int>(best_after_trial.size()); }
  int slots() const { return static_cast<int>(slot_ends.size()); }
  /// Infinity while there is no feasible program.
  double best_seconds() const { return BestAfter(trials()); }
  double BestAfterSlot(int slot) const { return BestAfter(slot_ends[slot]); }

 private:
  double BestAfter(int trials) const {
    return trials == 0 ? std::numeric_limits<double>::infinity() : best_after_trial[trials - 1];
  }
};

}  // namespace bayloom
