// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/feasibility_model.h"

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

/// The stage at which a trial ended: 0 built, 1 ran, 2 checked, 3 none of them, for it is feasible.
int EndOf(trial::Verdict verdict) {
  switch (verdict) {
    case trial::Verdict::kBuildError:
      return 0;
    case trial::Verdict::kCrash:
    case trial::Verdict::kTimeout:
    case trial::Verdict::kMemory:
      return 1;
    case trial::Verdict::kWrongOutput:
    case trial::Verdict::kInvalidAnswer:
      return 2;
    case trial::Verdict::kOk:
      break;
  }
  return 3;
}

}  // namespace

bool FeasibilityModel::Update(const History& history, base::RandomStream& random) {
  const std::vector<Observation>& trials = history.trials();
  const size_t failures = history.failures();
  if (failures == 0 || failures == trials.size()) return false;
  const bool has_failed =
      trials.size() <= kEager ? failures != failures_ : HasGrown(failures, failures_);
  if (learnt_ > 0 && !has_failed && !HasGrown(trials.size(), learnt_)) return false;
  const size_t newest = kMaxTrials / 2;
  const size_t others = trials.size() - std::min(trials.size(), newest);
  const size_t drawn = std::min(others, kMaxTrials - newest);
  std::vector<const Observation*> chosen;
  for (size_t i = 0; i < drawn; ++i) chosen.push_back(&trials[i * others / drawn]);
  for (size_t i = others; i < trials.size(); ++i) chosen.push_back(&trials[i]);
  for (int stage = 0; stage < kStages; ++stage) {
    std::vector<space::Configuration> configurations;
    std::vector<bool> passed;
    for (const Observation* trial : chosen) {
      const int end = EndOf(trial->outcome.verdict);
      if (end < stage) continue;
      configurations.push_back(trial->configuration);
      passed.push_back(end > stage);
    }
    stages_[stage].can_fail = std::ranges::find(passed, false) != passed.end();
    if (stages_[stage].can_fail) {
      stages_[stage].forest.Fit(features_(configurations), passed, random);
    }
  }
  learnt_ = trials.size();
  failures_ = failures;
  return true;
}

Eigen::VectorXd FeasibilityModel::Probability(const model::RowMatrix& rows) const {
  Eigen::VectorXd probability = Eigen::VectorXd::Ones(rows.rows());
  for (const Stage& stage : stages_) {
    if (stage.can_fail) probability.array() *= stage.forest.Probability(rows).array();
  }
  return probability;
}

}  // namespace bayloom::optimizer
