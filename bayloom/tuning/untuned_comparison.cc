// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/untuned_comparison.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bayloom/measure/timing.h"

namespace bayloom::tuning {
namespace {

/// What one measurement of the untuned program may be too low by.
constexpr double kUntunedNoise = 0.05;

}  // namespace

std::optional<trial::Outcome> UntunedComparison::FasterUntuned() const {
  if (!chosen || untuned_slowest * (1 + kUntunedNoise) >= *chosen) return std::nullopt;
  trial::Outcome faster = untuned;
  faster.value *= recorded / *chosen;
  return faster;
}

double UntunedComparison::BestSeconds() const {
  return FasterUntuned() ? untuned.value : chosen.value_or(recorded);
}

std::optional<UntunedComparison> CompareWithUntuned(record::Store& store,
                                                    const record::StoredTrial& chosen) {
  std::optional<trial::Outcome> untuned;
  std::vector<double> values, untuned_values;
  for (const record::Repeat& repeat : store.LastComparison(chosen.task, chosen.target)) {
    if (!repeat.outcome.ok()) continue;
    if (repeat.trial_run == 0) {
      untuned = repeat.outcome;
      untuned_values.push_back(repeat.outcome.value);
    }
    if (repeat.trial_run == chosen.run && repeat.trial == chosen.ordinal) {
      values.push_back(repeat.outcome.value);
    }
  }
  if (!untuned) return std::nullopt;
  untuned->value = measure::Quantile(untuned_values, 0.5);
  UntunedComparison comparison = {.untuned = *std::move(untuned),
                                  .untuned_slowest = std::ranges::max(untuned_values),
                                  .chosen = {},
                                  .repeats = static_cast<int>(values.size()),
                                  .recorded = chosen.outcome.value};
  if (!values.empty()) comparison.chosen = measure::Quantile(values, 0.5);
  return comparison;
}

}  // namespace bayloom::tuning
