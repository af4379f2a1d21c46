// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/pareto/front.h"
#include "bayloom/tuning/program_objective.h"

namespace bayloom::tuning {

/// A task of a network and the programs that there are for it.
struct FrontTask {
  double calls = 1;  ///< of the task in one run of the network
  std::vector<ProgramCost> programs;
};

/// A network with one program for each task.
struct NetworkChoice {
  pareto::Point values;       ///< of the objectives, in their order
  std::vector<int> programs;  ///< positions in FrontTask::programs, one of each task
};

/// The choices of programs that no other one dominates, the fastest first. Latencies of tasks add
/// up, and so do sizes; the memory is that of the task which needs most, for tasks run one after
/// the other. Empty if a task has no program.
///
/// Tasks are added one by one, and what is dominated is dropped each time. That is exact while
/// there are at most `max_members` choices. Of more, the fastest within each cell of a grid over
/// the other objectives stays, and what is best in one objective: a choice that is dropped had
/// another one within a cell for each task. The fastest, the smallest and the one with the least
/// memory are always those of all choices.
std::vector<NetworkChoice> NetworkFront(std::span<const FrontTask> tasks,
                                        const std::vector<ProgramObjective>& objectives,
                                        size_t max_members = 1024);

/// What of a front is wanted.
struct ProgramPreference {
  ProgramObjective prefer = ProgramObjective::kLatency;  ///< the best in this, within the limits
  double max_size = std::numeric_limits<double>::infinity();    ///< bytes of all programs
  double max_memory = std::numeric_limits<double>::infinity();  ///< bytes
  /// What may be lost against the fastest: 0.1 allows a tenth more time.
  double max_slowdown = std::numeric_limits<double>::infinity();

  /// Whether the fastest is wanted, as without a preference.
  bool IsDefault() const;
  /// The latency and what the preference says something of.
  std::vector<ProgramObjective> Objectives() const;
};

/// The position of the choice that is wanted of a front, which is not empty and has the
/// preference's objectives. Fails if none is within the limits, saying what is possible.
Result<size_t> Prefer(std::span<const NetworkChoice> front, const ProgramPreference& preference);

}  // namespace bayloom::tuning
