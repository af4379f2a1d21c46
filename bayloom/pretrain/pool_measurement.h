#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/stop_flag.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/evaluator.h"
#include "bayloom/tuning/journal.h"
#include "bayloom/tuning/phase_times.h"

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
  PoolMeasurement(Store& store, ProgramPool& pool, Target target, Evaluator& evaluator,
                  std::string purpose, std::function<bool()> stop = StopRequested);

  /// Called after every trial with how many there were and are to be.
  using Progress = std::function<void(int64_t, int64_t)>;

  /// Measures the programs at these places, which were not measured before; outcomes by place, as
  /// far as it got before being stopped.
  std::map<int64_t, Outcome> Measure(TaskId task, std::span<const int64_t> places,
                                     const std::function<void()>& on_trial = {});

  /// Measures programs of every task, drawn at random, until so many of each are measured.
  void MeasureEach(int64_t programs, uint64_t seed, const Progress& progress);

 private:
  Store& store_;
  ProgramPool& pool_;
  Target target_;
  Evaluator& evaluator_;
  std::string purpose_;
  std::function<bool()> stop_;
  std::optional<Journal> journal_;  ///< begun with the first trial
  PhaseTimes phases_;
};

}  // namespace bayloom
