// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/trial/outcome.h"

namespace bayloom::trial {

/// Number of a trial among those of one run.
using TrialId = int64_t;

/// What became of a trial.
struct FinishedTrial {
  TrialId id = 0;
  /// What the candidate answered. nullopt if the trial was lost: it could not be carried out (a
  /// worker disappeared, the disk was full), which says nothing about the candidate.
  std::optional<Outcome> outcome;
  std::string lost;  ///< why it was lost; one line
};

/// Tries candidates: in this process, in threads, in other processes, on other machines.
///
/// Asynchronous: the caller hands in trials by number as long as there is room, and collects what
/// has ended, in the order in which it ends.
///
///     while (in_flight < evaluator.Capacity()) evaluator.Submit(id++, candidate);
///     for (FinishedTrial& trial : evaluator.Collect(0.1, stop)) ...
///
/// Used by one thread. What a candidate does (crash, hang, print nonsense) is an infeasible
/// Outcome; what the evaluator's machine does is a lost trial; an evaluator that cannot work at all
/// (its program does not exist) throws from Submit or Collect.
template <typename Candidate>
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// How many trials it can hold at once; at least 1 as long as it works, and may change as
  /// workers come and go.
  virtual int Capacity() const = 0;

  /// Takes a trial. The candidate stays where it is until the trial is collected or cancelled. At
  /// most Capacity() trials may be in flight.
  virtual void Submit(TrialId id, const Candidate& candidate) = 0;

  /// What has ended since the last call. If nothing has, waits until something does, for
  /// `wait_seconds` at most; an evaluator without threads of its own works here instead, for as
  /// long as one trial takes. Returns within a second of `stop` becoming true, with what is done.
  virtual std::vector<FinishedTrial> Collect(double wait_seconds,
                                             const std::function<bool()>& stop) = 0;

  /// Ends all trials in flight and forgets them, within a second; children of what runs included.
  virtual void Cancel() = 0;

  /// Lines for the user since the last call: what is strange, although trials go on.
  virtual std::vector<std::string> TakeNotices() { return {}; }
};

}  // namespace bayloom::trial
