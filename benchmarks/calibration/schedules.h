// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/sketch/design_space.h"
#include "bayloom/target/target.h"

namespace bayloom {

/// Schedules of one workload and the seconds that they took.
struct MeasuredSchedules {
  std::string family;
  std::vector<tensor::Program> programs;
  std::vector<double> seconds;  ///< parallel to the programs
};

/// What the weights of the time estimate are fitted to: random schedules measured on one machine.
///
/// A file of such is JSON lines, gzipped or not:
///
///     {"target": {...}}                                      the first line: TargetToJson
///     {"family": "dense", "workload": {...}, "spaces": [...]}  a task: WorkloadToJson, and the
///                                                            traces of its design spaces
///     {"space": 0, "decisions": [[8, 64], ...], "seconds": 1e-3}  schedules of the task before:
///                                                            what the sampling steps decided
struct ScheduleRecords {
  target::Target target;  ///< with the machine as it was measured then
  std::vector<MeasuredSchedules> tasks;

  /// Replays all of them. Throws InputError, naming the line, where that is not possible.
  static ScheduleRecords Read(const std::string& path);
};

/// A task's line.
nlohmann::json TaskLine(const std::string& family, const sketch::SpaceGenerator& generator);
/// A schedule's line.
nlohmann::json ScheduleLine(const sketch::Candidate& candidate, double seconds);

}  // namespace bayloom
