// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/report/run_progress.h"
#include "bayloom/report/table.h"

namespace bayloom::accelerator {
class NetworkMapping;
}  // namespace bayloom::accelerator

namespace bayloom::search {
class ScenarioSearch;
}  // namespace bayloom::search

namespace bayloom::tuning {
struct SessionStatus;
}  // namespace bayloom::tuning

namespace bayloom::report {

// What the progress of each kind of run shows. What is passed must outlive it.

/// A line for every slot: the task with its best time, and all tasks together.
ProgressOptions TuningProgress();
/// A line for every better configuration: the last and the best value.
ProgressOptions SearchProgress(const search::ScenarioSearch& search);
/// The layer, and energy and cycles of all layers together.
ProgressOptions MappingProgress(const accelerator::NetworkMapping& mapping);

/// The tasks of a session with weight, trials, best program and share of the whole's time.
Table TaskTable(std::span<const scheduling::TaskProgress> tasks);
/// How many trials in what time, and how much of it went into something else.
std::string SummaryLine(const tuning::SessionStatus& status);

}  // namespace bayloom::report
