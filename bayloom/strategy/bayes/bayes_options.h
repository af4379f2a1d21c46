// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "bayloom/acquisition/utility.h"

namespace bayloom::strategy {

/// What a perfect tile is to an optimizer.
enum class TilingEncoding : uint8_t {
  kIndex,          ///< a place in the sorted list of all tilings (Rocke 2024, section 3.3.1)
  kFactorization,  ///< its factors, which are near when few prime factors lie elsewhere
};

/// What an optimizer does when its memory is full (Rocke 2024, section 3.5).
enum class Eviction : uint8_t {
  kReset,        ///< forgets all but the input schedules, and begins anew
  kLeastRecent,  ///< forgets the oldest tenth
};

/// Which of the programs found are measured (Rocke 2024, section 3.6).
enum class Selection : uint8_t { kBestPerInput, kBestOverall };

/// Settings of the search of Rocke 2024, chapter 3; the defaults are the thesis's.
struct ThesisOptions {
  TilingEncoding encoding = TilingEncoding::kIndex;
  acquisition::AcquisitionKind acquisition = acquisition::AcquisitionKind::kConfidenceBound;
  /// kappa of the confidence bound, xi of the improvements (BayesianOptions::trade_off); by
  /// default 0.1 and 0.01.
  std::optional<double> trade_off = {};
  Eviction eviction = Eviction::kReset;
  int memory_limit = 250;  ///< programs an optimizer knows at most
  Selection selection = Selection::kBestPerInput;
  bool reduce_domain = false;  ///< sequential domain reduction, after each input schedule
  /// Probability that an input schedule is a fresh sample, and part of the measured programs that
  /// are drawn blindly.
  double epsilon = 0.2;
  int min_inputs = 32;             ///< input schedules of a batch, or as many as it has candidates
  int fresh_samples = 128;         ///< drawn for a batch; the best become input schedules
  int suggestions_per_input = 16;  ///< feasible ones; as many infeasible ones end it as well
  int location_mutations = 4;      ///< tried of each input schedule's best program
};

/// Settings of "bayes", which serve every task.
struct BayesOptions {
  /// Weight of the estimate and its correction beside the score, at first and in the end.
  double first_surrogate_weight = 0.5;
  double last_surrogate_weight = 0;
  /// What a standard deviation is worth, at first and in the end.
  double first_curiosity = 1;
  double last_curiosity = 0.5;
  /// Programs measured after which both have gone half of the way.
  double half_way_at = 32;
  /// Programs bred for each to be chosen.
  int shortlist = 16;
  /// Part of every batch, and of a task's first one, that is drawn from the fresh samples, blind
  /// to what is thought of them.
  double epsilon = 0.05;
  double first_epsilon = 0.125;
};

}  // namespace bayloom::strategy
