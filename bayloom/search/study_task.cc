// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/study_task.h"

#include <algorithm>
#include <limits>

namespace bayloom::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMinCost = 0.01;

}  // namespace

double RelativeCost(double value, double first, bool maximize) {
  if (value == first) return 1;
  const bool is_better = maximize ? value > first : value < first;
  if (first == 0) return is_better ? kMinCost : kInfinity;
  const double ratio = value / first;
  const bool toward_zero = maximize == (first < 0);
  if (toward_zero) return std::max(ratio, kMinCost);
  return ratio > 0 ? std::max(1 / ratio, kMinCost) : kInfinity;
}

StudyTask::StudyTask(Study& study, trial::Evaluator<space::Configuration>& evaluator,
                     TimeLimit* limit)
    : study_(study), evaluator_(evaluator), limit_(limit) {
  FollowBest();
}

void StudyTask::FollowBest() {
  if (limit_ == nullptr || !study_.best()) return;
  limit_->SetBest(study_.best()->outcome.Get("measure_seconds", kInfinity));
}

run::TrialValue StudyTask::ValueOf(const space::Configuration& configuration,
                                   const trial::Outcome& outcome) {
  run::TrialValue value;
  value.feasible = outcome.ok();
  if (!outcome.ok() || !study_.IsFull(configuration)) return value;
  if (!first_) first_ = outcome.value;
  value.cost = RelativeCost(outcome.value, *first_, study_.maximize());
  return value;
}

std::vector<space::Configuration> StudyTask::Propose(int n, const std::function<bool()>&) {
  return study_.Ask(n);
}

run::TrialValue StudyTask::Tell(space::Configuration&& configuration, const trial::Outcome& outcome,
                                double elapsed) {
  study_.Learn(configuration, outcome, elapsed);
  FollowBest();
  return ValueOf(configuration, outcome);
}

trial::TrialRecord StudyTask::RecordOf(const space::Configuration& configuration) {
  return study_.RecordOf(configuration);
}

}  // namespace bayloom::search
