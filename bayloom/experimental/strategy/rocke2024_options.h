// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bayloom/acquisition/utility.h"
#include "bayloom/base/result.h"

namespace bayloom::experimental {

/// What a perfect tile is to an optimizer.
enum class TilingEncoding : uint8_t {
  kIndex,          ///< a place in the sorted list of all tilings (Rocke 2024, section 3.3.1)
  kFactorization,  ///< its factors, which are near when few prime factors lie elsewhere
};

/// What an optimizer does when its memory is full (Rocke 2024, section 3.5).
enum class Eviction : uint8_t {
  kReset,      ///< forgets all but the input schedules, and begins again
  kMinRecent,  ///< forgets the oldest tenth
};

/// Which of the programs found are measured (Rocke 2024, section 3.6).
enum class BatchSelection : uint8_t { kBestPerInput, kBestOverall };

/// Settings of the search of Rocke 2024, chapter 3; the defaults are its own.
struct Rocke2024Options {
  TilingEncoding encoding = TilingEncoding::kIndex;
  acquisition::AcquisitionKind acquisition = acquisition::AcquisitionKind::kConfidenceBound;
  /// kappa of the confidence bound, xi of the improvements (BayesianOptions::trade_off); by
  /// default 0.1 and 0.01.
  std::optional<double> trade_off = {};
  Eviction eviction = Eviction::kReset;
  int memory_limit = 250;  ///< programs an optimizer knows at most
  BatchSelection selection = BatchSelection::kBestPerInput;
  bool reduce_domain = false;  ///< sequential domain reduction, after each input schedule
  /// Probability that an input schedule is a fresh sample, and part of the measured programs that
  /// are drawn blindly.
  double epsilon = 0.2;
  int min_inputs = 32;             ///< input schedules of a batch, or as many as it has candidates
  int fresh_samples = 128;         ///< drawn for a batch; the best become input schedules
  int suggestions_per_input = 16;  ///< feasible ones; as many infeasible ones end it as well
  int location_mutations = 4;      ///< tried of each input schedule's best program
};

/// `options` changed by words joined by '+': naive (nothing), heap (the best overall are measured),
/// lru (the least recent are forgotten), factors (tiles by their factors), sdr (sequential domain
/// reduction), ei, poi (acquisition function). naive, heap, lru and heap+lru are the configurations
/// of its table 3.1. Fails for an unknown word.
Result<Rocke2024Options> ParseRocke2024Words(std::string_view words, Rocke2024Options options = {});

}  // namespace bayloom::experimental
