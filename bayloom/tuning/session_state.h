// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/run_record.h"
#include "bayloom/run/phase_times.h"
#include "bayloom/tuning/gain_in_turns.h"

namespace bayloom::tuning {

/// One turn of a task.
struct Slot {
  record::TaskId task = 0;
  int64_t trials = 0;
  double end = 0;  ///< seconds the session had spent when it ended; 0 if that was not written
};

/// What a session writes at the end of every slot, beside its trials (SessionRecord::state).
struct SessionState {
  double seconds = 0;      ///< spent
  run::PhaseTimes phases;  ///< what on
  std::vector<Slot> slots;
  /// Of the tasks: how often the whole runs them, as it is divided (0: others take their place).
  std::map<record::TaskId, double> weights;
  /// Of the tasks: seconds that their zero-trial programs are estimated to take.
  std::map<record::TaskId, double> estimates;

  /// What tuning has brought, once that was measured.
  std::optional<GainInTurns> gain;

  int64_t trials() const;
  std::string ToText() const;
  /// nullopt if the text is no state: not of its form, or with numbers that no session
  /// writes, such as a slot of -5 trials. Slots of older versions lack their ends, their states the
  /// phases, weights, estimates and gain.
  static std::optional<SessionState> Parse(const std::string& text);
};

/// {"search": seconds, ...}, by the names of kPhases.
nlohmann::json ToJson(const run::PhaseTimes& phases);

/// The state of a run once the trials of these ordinals (ascending) are taken out of it and the
/// others have moved up. A state of another kind of run is returned as it is.
std::string StateWithoutTrials(const record::RunRecord& run, std::span<const int64_t> ordinals);

}  // namespace bayloom::tuning
