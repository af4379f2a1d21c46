#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/run/run_state.h"
#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/session_log.h"

namespace bayloom {

/// All tasks that are in some group of the pool, each once.
std::vector<TaskId> GroupedTasks(ProgramPool& pool);

/// Outcomes of those programs of the task's pool that were measured on the target, in whatever
/// session, by place.
std::map<int64_t, Outcome> MeasuredPrograms(Store& store, ProgramPool& pool, TaskId task,
                                            const Target& target);
int64_t CountMeasured(Store& store, ProgramPool& pool, TaskId task, const Target& target);

/// Measures programs of a pool. Trials become part of the store, in a session of their own, as
/// those of tuning do; what was measured is known from there, so that nothing else has to be kept
/// for going on after an interruption.
class PoolMeasurement {
 public:
  /// All must outlive this; `purpose` names the session.
  PoolMeasurement(Store& store, ProgramPool& pool, Target target, ProgramEvaluator& evaluator,
                  std::string purpose, std::function<bool()> stop);

  /// Measures the programs at these places, which were not measured before; outcomes by place, as
  /// far as it got before being stopped.
  std::map<int64_t, Outcome> Measure(TaskId task, std::span<const int64_t> places,
                                     const RunObserver& observer = {});

  /// Measures programs of every task, drawn at random, until so many of each are measured.
  StopReason MeasureEach(int64_t programs, uint64_t seed, const RunObserver& observer = {});

 private:
  /// Programs of one task to be measured.
  struct Order {
    TaskId task;
    std::vector<int64_t> places;
    std::map<int64_t, Outcome> outcomes;
  };
  class Task;

  StopReason Run(std::span<Order> orders, const RunObserver& observer);
  Order Missing(TaskId task, int64_t programs, uint64_t seed) const;

  Store& store_;
  ProgramPool& pool_;
  Target target_;
  ProgramEvaluator& evaluator_;
  std::string purpose_;
  std::function<bool()> stop_;
  std::optional<SessionLog> log_;  ///< begun with the first trial
  PhaseClock clock_;
};

}  // namespace bayloom
