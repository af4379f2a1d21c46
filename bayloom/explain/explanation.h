// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/explain/decision_influence.h"
#include "bayloom/explain/program_facts.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom::explain {

/// How near a program is to what its machine can do (measure/roofline.h), all in seconds. Of a
/// program that needs fewer products than the workload says, its own arithmetic counts.
struct Limits {
  double seconds = 0;     ///< measured
  double arithmetic = 0;  ///< that the arithmetic takes at its peak
  double memory = 0;      ///< that reading and writing the parameters takes

  double roofline() const { return std::max(arithmetic, memory); }
  /// Part of the machine's ability that is used, 0 to 1.
  double share() const { return seconds > 0 ? std::min(1.0, roofline() / seconds) : 0; }
};

/// Another program of the task beside the best.
struct Rival {
  /// Its time over the best one's; nothing where it was not measured.
  std::optional<double> ratio;
  /// Where the best one differs from it: "touches 3.1 times fewer cache lines", "tile of k in
  /// matmul: 2 x 12 instead of 4 x 6".
  std::vector<std::string> differences;
};

/// Why the best recorded program of a task is fast.
struct Explanation {
  double seconds = 0;     ///< its time
  bool is_plain = false;  ///< whether it is the default program itself
  ProgramFacts best, by_default;
  std::vector<std::string> techniques;
  std::optional<Limits> limits;  ///< where the machine was measured
  DecisionInfluences influences;
  Rival beside_default;
  std::optional<Rival> runner_up;  ///< the fastest that is another program
};

/// Explains the best candidate of the space's task on a target by all of its trials there. Takes in
/// the order of a second. Throws InputError where the store's rows are damaged.
Explanation Explain(record::Store& store, record::TaskId task, record::TargetId target,
                    const sketch::SpaceGenerator& space, const tuning::MeasuredCandidate& best);

/// The explanation in words, most important first.
std::vector<std::string> Sentences(const Explanation& explanation);

/// {seconds, techniques, limits?: {arithmetic, memory, share}, decisions: [{step, decision, share?,
/// share_with_interactions?, learnt?, estimated}], trials, rank_correlation?, beside_default,
/// runner_up?, sentences}; redraws are {draws, least, median, greatest}.
nlohmann::json ToJson(const Explanation& explanation);

}  // namespace bayloom::explain
