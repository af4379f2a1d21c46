#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/external/scenario.h"

namespace bayloom {

/// Several searches that share a budget.
struct TogetherOptions {
  std::vector<double> weights;  ///< of the scenarios; empty: all alike
  std::string scheduler = "dynatune";
  int trials_per_slot = 8;
  int jobs = 1;
  /// Of all together, instead of the scenarios' own budgets.
  std::optional<int64_t> trials;
  std::string time;
  uint64_t seed = 0;
  std::string database;  ///< for all; empty: one each, named after the scenario
  bool resume = false;
  bool json = false;
};

/// Throws InputError, also where two scenarios have the same name.
void SearchTogether(const std::vector<Scenario>& scenarios, const TogetherOptions& options);

}  // namespace bayloom
