// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "bayloom/run/scheduled_run.h"

namespace bayloom::run {

/// The turn of one of the candidates that are measured again.
struct RepeatTurn {
  int place = 0;  ///< of the candidate among them
  int round = 0;
};

/// A run's task that measures candidates again, turn by turn (RepeatOptions).
template <typename Candidate>
class RepeatTask : public RunTask<Candidate> {
 public:
  /// `evaluator` must outlive it.
  explicit RepeatTask(trial::Evaluator<Candidate>& evaluator) : evaluator_(evaluator) {}

  int64_t turns() const { return std::ssize(turns_); }
  bool is_complete() const { return told_ == turns(); }

  std::vector<Candidate> Propose(int n, const std::function<bool()>&) override {
    std::vector<Candidate> candidates;
    for (; std::ssize(candidates) < n && proposed_ < turns(); ++proposed_) {
      candidates.push_back(CandidateAt(turns_[proposed_].place));
      in_flight_.push_back(turns_[proposed_]);
    }
    return candidates;
  }
  trial::Evaluator<Candidate>& evaluator() override { return evaluator_; }
  TrialValue Tell(Candidate&& candidate, const trial::Outcome& outcome, double) override {
    // Turns of equal candidates are told in their order.
    const auto turn = std::ranges::find_if(
        in_flight_, [&](const RepeatTurn& one) { return IsAt(candidate, one.place); });
    Take(*turn, outcome);
    in_flight_.erase(turn);
    if (++told_ == turns()) End();
    return {.cost = outcome.value, .feasible = outcome.ok()};
  }

 protected:
  /// What is to be measured, in this order. Before the run.
  void SetTurns(std::vector<RepeatTurn> turns) { turns_ = std::move(turns); }

 private:
  virtual Candidate CandidateAt(int place) const = 0;
  virtual bool IsAt(const Candidate& candidate, int place) const = 0;
  virtual void Take(const RepeatTurn& turn, const trial::Outcome& outcome) = 0;
  /// All turns were taken.
  virtual void End() {}

  trial::Evaluator<Candidate>& evaluator_;
  std::vector<RepeatTurn> turns_;
  std::vector<RepeatTurn> in_flight_;
  int64_t proposed_ = 0;
  int64_t told_ = 0;
};

}  // namespace bayloom::run
