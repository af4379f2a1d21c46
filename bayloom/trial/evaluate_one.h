// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bayloom/base/system_error.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::trial {

/// Tries one candidate and waits for its outcome; nullopt if `stop` became true before. Throws
/// SystemError if the trial is lost.
template <typename Candidate>
std::optional<Outcome> EvaluateOne(Evaluator<Candidate>& evaluator, const Candidate& candidate,
                                   const std::function<bool()>& stop) {
  constexpr double kPollSeconds = 0.1;
  evaluator.Submit(0, candidate);
  while (!stop()) {
    for (FinishedTrial& trial : evaluator.Collect(kPollSeconds, stop)) {
      if (!trial.outcome) throw SystemError("the evaluation was lost: " + trial.lost);
      return std::move(trial.outcome);
    }
  }
  evaluator.Cancel();
  return std::nullopt;
}

}  // namespace bayloom::trial
