// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/report/table.h"
#include "bayloom/search/study.h"

namespace bayloom::report {

/// A run of any kind as the store has it, without knowing what its candidates are. Its values are
/// compared with each other, which says little of a run over several tasks (see SessionReport).
struct RunSummary {
  /// A trial that was better than all before it.
  struct Improvement {
    int64_t trial = 0;   ///< ordinal
    double elapsed = 0;  ///< seconds of the run
    double value = 0;
    std::string candidate;  ///< JSON
  };

  record::RunRecord record;
  int64_t trials = 0;
  std::map<std::string, int64_t> failures;  ///< trials without a value, by verdict
  double seconds = 0;                       ///< of the run, when its last trial ended
  std::vector<Improvement> improvements;    ///< none of tiles
  bool is_of_tiles = false;
};

/// Whether the trials are tiles of a network's fused layers (accelerator/fused_mapping.h): problems
/// of their own, none of which is the run's best.
bool IsOfTiles(const record::RunRecord& run);

/// Tells candidates of a search's last fidelity from those of lower ones, whose values are not what
/// is looked for; of all other runs every candidate is one.
std::function<bool(const std::string& candidate)> FullFidelityTest(const record::RunRecord& run);

/// Throws InputError if the store does not have the run. Values that are not finite improve
/// nothing.
RunSummary SummaryOf(record::Store& store, record::RunId run);
/// The same of a search's trials; its record has what the scenario says, but no number.
RunSummary SummaryOf(const search::Scenario& scenario, std::span<const search::StudyTrial> trials);

/// "12 trials", or "12 tiles of fused layers".
std::string CountText(const RunSummary& summary);
/// "2 crash, 1 timeout", or "none".
std::string FailureText(const RunSummary& summary);
/// Who chose the candidates: the optimizer or mapper, or the strategy of a tuning; empty if that is
/// not known.
std::string ProposerOf(const record::RunRecord& run);
/// "minimize", or "maximize".
std::string GoalOf(const record::RunRecord& run);

/// The improvements: trial, time, value and candidate.
Table ImprovementTable(const RunSummary& summary);
/// Everything, for programs.
nlohmann::json ToJson(const RunSummary& summary);

}  // namespace bayloom::report
