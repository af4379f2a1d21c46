// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/pretrain/active_learning.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/run/run_state.h"
#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/session_log.h"

namespace bayloom::pretrain {

/// All tasks that are in some group of the pool, each once.
std::vector<record::TaskId> GroupedTasks(record::ProgramPool& pool);

/// Outcomes of those programs of the task's pool that were measured on the target, in any
/// session, by place.
std::map<int64_t, trial::Outcome> MeasuredPrograms(record::Store& store, record::ProgramPool& pool,
                                                   record::TaskId task,
                                                   const target::Target& target);
/// What a model learns from outcomes.
std::map<int64_t, Label> LabelsOf(const std::map<int64_t, trial::Outcome>& outcomes);

/// Measures programs of a pool on a target. Trials become part of the store, in a session of their
/// own, as those of tuning do; what was measured is known from there, so that nothing else has to
/// be kept for going on after an interruption.
class PoolMeasurement {
 public:
  /// All must outlive this; `purpose` names the session.
  PoolMeasurement(record::Store& store, record::ProgramPool& pool, target::Target target,
                  tuning::ProgramEvaluator& evaluator, std::string purpose,
                  std::function<bool()> stop);

  /// Measures the programs at these places, which were not measured before; outcomes by place, as
  /// far as it got before being stopped.
  std::map<int64_t, trial::Outcome> Measure(record::TaskId task, std::span<const int64_t> places,
                                            const run::RunObserver& observer = {});
  /// Says in the store that the session is complete.
  void Finish();

 private:
  /// Programs of one task to be measured.
  struct Order {
    record::TaskId task;
    std::vector<int64_t> places;
    std::map<int64_t, trial::Outcome> outcomes;
  };
  class Task;

  void Begin();

  record::Store& store_;
  record::ProgramPool& pool_;
  target::Target target_;
  tuning::ProgramEvaluator& evaluator_;
  std::string purpose_;
  std::function<bool()> stop_;
  std::optional<tuning::SessionLog> log_;  ///< begun with the first trial
  run::PhaseClock clock_;
};

}  // namespace bayloom::pretrain
