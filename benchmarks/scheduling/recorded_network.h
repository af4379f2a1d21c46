// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom {

/// One task as one tuning found it.
struct RecordedCurve {
  std::vector<double> best_after_trial;  ///< seconds of the best program; infinity before any
  std::vector<double> trial_seconds;     ///< of tuning, the search's share included

  /// Cost before the first slot: of the first feasible program.
  double FirstCost() const;
};

struct RecordedOperator {
  std::string name;
  double weight = 1;
  double flops = 0;
  double lower_bound = 0;
  double expected_cost = 0;           ///< see scheduling::TaskProgress
  std::vector<RecordedCurve> curves;  ///< of several tunings
};

/// A network all of whose tasks were tuned for long, several times.
struct RecordedNetwork {
  std::string name;
  std::vector<RecordedOperator> tasks;
};

/// Reads the sessions of all stores; those of one model are tunings of one network. Throws
/// InputError where a session did not write down its tasks' weights.
std::vector<RecordedNetwork> LoadRecordedNetworks(std::span<const std::string> stores,
                                                  double peak_flops_per_second);

}  // namespace bayloom
