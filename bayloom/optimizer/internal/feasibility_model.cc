// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/feasibility_model.h"

#include <algorithm>

namespace bayloom::optimizer {
namespace {

constexpr double kRegrowGrowth = 1.05;
/// Up to so many trials every failure is learnt at once.
constexpr size_t kEager = 1000;
/// Trials to learn from at most: the newest half of them, and the others evenly.
constexpr size_t kMaxTrials = 10'000;

bool HasGrown(size_t now, size_t before) {
  return static_cast<double>(now) >= kRegrowGrowth * static_cast<double>(before);
}

}  // namespace

bool FeasibilityModel::Update(const Memory& memory, base::RandomStream& random) {
  const std::vector<Observation>& trials = memory.trials();
  const size_t failures = memory.failures();
  if (failures == 0 || failures == trials.size()) return false;
  const bool has_failed =
      trials.size() <= kEager ? failures != failures_ : HasGrown(failures, failures_);
  if (learnt_ > 0 && !has_failed && !HasGrown(trials.size(), learnt_)) return false;
  const size_t newest = kMaxTrials / 2;
  const size_t others = trials.size() - std::min(trials.size(), newest);
  const size_t drawn = std::min(others, kMaxTrials - newest);
  std::vector<space::Configuration> configurations;
  std::vector<bool> labels;
  const auto add = [&](const Observation& trial) {
    configurations.push_back(trial.configuration);
    labels.push_back(trial.outcome.ok());
  };
  for (size_t i = 0; i < drawn; ++i) add(trials[i * others / drawn]);
  for (size_t i = others; i < trials.size(); ++i) add(trials[i]);
  forest_.Fit(features_(configurations), labels, random);
  learnt_ = trials.size();
  failures_ = failures;
  return true;
}

}  // namespace bayloom::optimizer
