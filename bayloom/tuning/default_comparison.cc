// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/default_comparison.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bayloom/base/quantile.h"

namespace bayloom::tuning {
namespace {

/// What one measurement of the default program may be too low by.
constexpr double kDefaultNoise = 0.05;

}  // namespace

std::optional<trial::Outcome> DefaultComparison::FasterDefault() const {
  if (!chosen || default_slowest * (1 + kDefaultNoise) >= *chosen) return std::nullopt;
  trial::Outcome faster = by_default;
  faster.value *= recorded / *chosen;
  return faster;
}

double DefaultComparison::BestSeconds() const {
  return FasterDefault() ? by_default.value : chosen.value_or(recorded);
}

std::optional<DefaultComparison> CompareWithDefault(record::Store& store,
                                                    const record::StoredTrial& chosen) {
  std::optional<trial::Outcome> by_default;
  std::vector<double> values, default_values;
  for (const record::Repeat& repeat : store.LastComparison(chosen.task, chosen.target)) {
    if (!repeat.outcome.ok()) continue;
    if (repeat.trial_run == 0) {
      by_default = repeat.outcome;
      default_values.push_back(repeat.outcome.value);
    }
    if (repeat.trial_run == chosen.run && repeat.trial == chosen.ordinal) {
      values.push_back(repeat.outcome.value);
    }
  }
  if (!by_default) return std::nullopt;
  by_default->value = base::Median(default_values);
  DefaultComparison comparison = {.by_default = *std::move(by_default),
                                  .default_slowest = std::ranges::max(default_values),
                                  .chosen = {},
                                  .repeats = static_cast<int>(values.size()),
                                  .recorded = chosen.outcome.value};
  if (!values.empty()) comparison.chosen = base::Median(values);
  return comparison;
}

}  // namespace bayloom::tuning
