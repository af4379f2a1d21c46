// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/report/table.h"
#include "bayloom/run/phase_times.h"
#include "bayloom/tuning/gain_in_turns.h"

namespace bayloom::report {

/// A run that tunes or measures programs, as the store has it: what was found when, what was given
/// to which task, and where the time went. Programs known from earlier runs do not count.
struct SessionReport {
  struct Task {
    record::TaskId id = 0;
    std::string name;
    double weight = 1;
    int slots = 0;
    int64_t trials = 0;
    double best = 0;  ///< seconds; infinity if nothing was feasible
    /// Seconds that its zero-trial program is estimated to take; infinity if that is not known.
    double estimate = 0;

    /// What it counts in the whole.
    double seconds() const { return std::isfinite(best) ? best : estimate; }
  };
  /// The whole after a trial.
  struct Point {
    int64_t trials = 0;
    double seconds = 0;  ///< of the run
    /// Sum of weight * best, of tasks without a program of weight * estimate; infinity while one
    /// has neither.
    double latency = 0;
  };
  struct Turn {
    int task = 0;  ///< index
    int64_t trials = 0;
    double end = 0;   ///< seconds of the run
    double gain = 0;  ///< what it made the task faster, times its weight; NaN for a first program
    double latency = 0;  ///< of the whole at its end
  };

  record::RunRecord record;
  std::string label;                        ///< "dynatune, evolutionary, seed 1"
  std::optional<tuning::GainInTurns> gain;  ///< over the zero-trial programs, where it was measured
  std::vector<Task> tasks;
  std::vector<Point> points;  ///< after each trial that changed the latency, and after the last
  std::vector<Turn> turns;
  std::optional<run::PhaseTimes> phases;             ///< nullopt if they were not written down
  std::map<std::string, std::vector<double>> model;  ///< metrics by name, batch after batch

  int64_t trials() const { return points.empty() ? 0 : points.back().trials; }
  double seconds() const { return points.empty() ? 0 : points.back().seconds; }
  double latency() const;
  /// Tasks that count by their estimate.
  int estimated_tasks() const;
  /// The latency after so many trials.
  Point After(int64_t trials) const;
};

/// Throws InputError if the store does not have the run.
SessionReport ReportOf(record::Store& store, record::RunId run);

/// Everything, for programs.
nlohmann::json ToJson(const SessionReport& report);

/// Trials, time and latency at each eighth of the trials.
Table LatencyTable(const SessionReport& report);
Table TaskTable(const SessionReport& report);
Table PhaseTable(const SessionReport& report);
Table TurnTable(const SessionReport& report);
/// How well the cost model predicted batches before learning them: means over each quarter of the
/// run (Rocke 2024, figures 4.2 and 4.5).
Table ModelTable(const SessionReport& report);

}  // namespace bayloom::report
