// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/feasibility_model.h"

#include <algorithm>

namespace bayloom::optimizer {
namespace {

constexpr double kGrowth = 1.05;

}  // namespace

bool FeasibilityModel::Update(const Memory& memory, base::RandomStream& random) {
  const std::vector<Observation>& trials = memory.trials();
  const auto failures = static_cast<size_t>(std::count_if(
      trials.begin(), trials.end(), [](const Observation& trial) { return !trial.outcome.ok(); }));
  if (failures == 0 || failures == trials.size()) return false;
  if (learnt_ > 0 && failures == failures_ &&
      static_cast<double>(trials.size()) < kGrowth * static_cast<double>(learnt_)) {
    return false;
  }
  std::vector<space::Configuration> configurations;
  std::vector<bool> labels;
  for (const Observation& trial : trials) {
    configurations.push_back(trial.configuration);
    labels.push_back(trial.outcome.ok());
  }
  forest_.Fit(features_(configurations), labels, random);
  learnt_ = trials.size();
  failures_ = failures;
  return true;
}

}  // namespace bayloom::optimizer
