#include "bayloom/external/study_task.h"

#include <algorithm>
#include <limits>

namespace bayloom {
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

TrialValue StudyTask::ValueOf(const Outcome& outcome) {
  TrialValue value;
  value.feasible = outcome.ok();
  if (!outcome.ok()) return value;
  if (!first_) first_ = outcome.value;
  value.cost = RelativeCost(outcome.value, *first_, study_.maximize());
  return value;
}

std::vector<Configuration> StudyTask::Propose(int n, const std::function<bool()>&) {
  return study_.Ask(n);
}

TrialValue StudyTask::Tell(Configuration&& configuration, const Outcome& outcome, double elapsed) {
  study_.Learn(configuration, outcome, elapsed);
  return ValueOf(outcome);
}

TrialRecord StudyTask::RecordOf(const Configuration& configuration) {
  return study_.RecordOf(configuration);
}

}  // namespace bayloom
