// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/report/run_digest.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// A run with tasks (record::HasTasks), as the store has it: what was found when, what was given to
/// which task, and where the time went.
struct SessionReport {
  RunDigest digest;
  std::string label = {};                                 ///< "dynatune, evolutionary, seed 1"
  std::map<record::TaskId, std::string> names = {};       ///< of the tasks
  std::vector<RunDigest::Point> points = {};              ///< the digest's
  std::map<std::string, std::vector<double>> model = {};  ///< metrics by name, batch after batch

  /// The whole after so many trials.
  RunDigest::Point After(int64_t trials) const;
};

/// Throws InputError if the store does not have the run.
SessionReport ReportOf(record::Store& store, record::RunId run);

/// Everything, for programs.
nlohmann::json ToJson(const SessionReport& report);

/// Trials, time and latency at each eighth of the trials.
Table LatencyTable(const SessionReport& report);
Table TaskTable(const SessionReport& report);
/// Empty if that was not written down.
Table PhaseTable(const SessionReport& report);
Table TurnTable(const SessionReport& report);
/// How well the cost model predicted batches before learning them: means over each quarter of the
/// run (Rocke 2024, figures 4.2 and 4.5).
Table ModelTable(const SessionReport& report);

}  // namespace bayloom::report
