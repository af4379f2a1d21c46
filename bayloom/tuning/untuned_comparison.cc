// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/untuned_comparison.h"

#include <vector>

#include "bayloom/measure/timing.h"

namespace bayloom::tuning {

std::optional<UntunedComparison> CompareWithUntuned(record::Store& store,
                                                    const record::StoredTrial& chosen) {
  std::optional<double> untuned;
  std::vector<double> values;
  for (const record::Repeat& repeat : store.LastComparison(chosen.task, chosen.target)) {
    if (!repeat.outcome.ok()) continue;
    if (repeat.trial_run == 0) untuned = repeat.outcome.value;
    if (repeat.trial_run == chosen.run && repeat.trial == chosen.ordinal) {
      values.push_back(repeat.outcome.value);
    }
  }
  if (!untuned) return std::nullopt;
  UntunedComparison comparison = {
      .untuned = *untuned, .chosen = {}, .repeats = static_cast<int>(values.size())};
  if (!values.empty()) comparison.chosen = measure::Quantile(values, 0.5);
  return comparison;
}

}  // namespace bayloom::tuning
