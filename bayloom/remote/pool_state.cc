// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/pool_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/single_line.h"

namespace bayloom::remote {
namespace {

constexpr size_t kShownCommand = 60;

}  // namespace

std::string PoolWorker::Name() const {
  return fmt::format("worker '{}'", base::SingleLine(command, kShownCommand));
}

double PoolWorker::AnswerSeconds(const std::map<SubjectId, PoolSubject>& subjects,
                                 double preparation_seconds) const {
  const bool prepares =
      measures || std::ranges::any_of(slots, [](const auto& known) { return known.second == 0; });
  double seconds = prepares ? preparation_seconds : 0;
  for (const auto& [lease, trial] : leases) {
    seconds = std::max(seconds, subjects.at(trial.subject).answer_seconds);
  }
  return seconds;
}

std::string WhyNoneIsLeft(const std::vector<PoolWorker>& workers) {
  std::string reasons;
  for (const PoolWorker& worker : workers) {
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", worker.Name(), worker.last_failure);
  }
  return "no worker is left: " + reasons;
}

std::string WhyNoMeasurement(const trial::Outcome& outcome) {
  if (outcome.ok() && !trial::IsTime(outcome.value)) {
    return fmt::format("it says that a program takes {} seconds", outcome.value);
  }
  const auto negative =
      std::ranges::find_if(outcome.values, [](const auto& named) { return named.value < 0; });
  if (negative == outcome.values.end()) return {};
  return fmt::format("it says that '{}' of a program is {}", negative->name, negative->value);
}

}  // namespace bayloom::remote
