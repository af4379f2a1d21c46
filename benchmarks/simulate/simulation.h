// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/space.h"

namespace bayloom {

/// A tuning space that was run completely: a search on it costs nothing and its optimum is known.
struct RecordedTask {
  std::string name;  ///< "convolution/A100", or the scenario's
  std::shared_ptr<const space::Space> space;
  std::unordered_map<space::Configuration, trial::Outcome>
      outcomes;  ///< of all feasible configurations
  double optimum = 0;
};

/// Reads <folder>/<name>_T4.json.gz (or another recorded file) and the T1.json beside it; or the
/// scenario <folder>/<name>.yaml and <name>_T4.json.gz beside it, negated if it maximizes. Throws
/// InputError, also when a configuration has no record.
RecordedTask LoadRecordedTask(const std::string& path);

/// A search that found better and better values.
struct Curve {
  struct Point {
    int trial;  ///< from 1
    double value;
  };
  std::vector<Point> improvements;
  int trials = 0;
  double seconds_asking = 0;  ///< processor time of the optimizer

  /// Trials until a value within `share` of the optimum was found; a number above `trials` if none
  /// was.
  int TrialsToReach(double optimum, double share) const;
};

/// When a search ends: after so many trials, or when a value within `share` of the optimum is
/// found.
struct SimulationEnd {
  int trials;
  double share = 0;
};

Curve Simulate(const RecordedTask& task, std::string_view optimizer,
               const optimizer::OptimizerOptions& options, const SimulationEnd& end, int batch);

}  // namespace bayloom
