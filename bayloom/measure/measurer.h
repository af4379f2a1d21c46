// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/measure/builder.h"
#include "bayloom/measure/reference.h"
#include "bayloom/measure/runner.h"
#include "bayloom/measure/timing.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

struct MeasureOptions {
  RunnerOptions runner;
  TimingOptions timing;
  /// Of repeats: several, in turns, share the time of one trial.
  TimingOptions repeat_timing = {.min_total_seconds = 0.01, .min_batches = 3};
  double repeat_cut_factor = 10;  ///< as cut_factor
  /// A candidate that takes more than this many times as long as the best known is not timed in
  /// full: it is run once or twice (MeasurementDetails::cut_short). 0 never cuts.
  double cut_factor = 3;
  /// After so many trials of a task its incumbent is timed again, to see the machine's drift.
  int drift_interval = 32;
  uint64_t data_seed = 1;
  BuilderOptions builder;
  /// Shared memory that may be spent on keeping tasks' data for when they are measured next.
  int64_t kept_data_bytes = int64_t{2} << 30;
};

/// Evaluates candidates on the real thing: compiles them, several at a time, then runs, checks and
/// times them one by one in another process. On a GPU that process has the device; what is expected
/// there is computed by this machine's processor.
///
///     Measurer measurer(HostTarget(), {});
///     std::vector<Outcome> outcomes = measurer.Measure(workload, programs);
///
/// Not thread safe: it has the machine to itself.
class Measurer {
 public:
  /// Called with the index of a candidate and its outcome, as soon as that is known: record it.
  using Observer = std::function<void(size_t, const trial::Outcome&)>;

  Measurer(target::Target target, MeasureOptions options);
  ~Measurer();

  const target::Target& target() const { return builder_.target(); }

  /// Outcomes in the candidates' order. Throws SystemError if no runner process can be started, and
  /// Interrupted.
  std::vector<trial::Outcome> Measure(const tensor::Workload& workload,
                                      std::span<const tensor::Program* const> candidates,
                                      const Observer& observer = {}, const StopCheck& stop = {});

  // The two halves of Measure.
  /// Compiles candidates; where the workload's expected results cannot be computed, none.
  std::vector<Build> BuildAll(const tensor::Workload& workload,
                              std::span<const tensor::Program* const> candidates,
                              const StopCheck& stop = {});
  /// Runs what was built of a candidate.
  trial::Outcome Run(const tensor::Workload& workload, const tensor::Program& program,
                     const Build& build, const StopCheck& stop = {});
  /// The same once more, in turns with others, with the options for repeats.
  trial::Outcome Repeat(const tensor::Workload& workload, const tensor::Program& program,
                        const Build& build, const StopCheck& stop = {});

  /// Tells of a result from an earlier session: candidates are cut short by its time, and it is
  /// what is timed again to see drift.
  void SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                    double seconds, const StopCheck& stop = {});

  struct Statistics {
    int64_t trials = 0;
    double build_seconds = 0;  ///< wall clock
    double run_seconds = 0;    ///< wall clock, references and drift included
    int runner_starts = 0;
    double drift = 1;  ///< latest, of any task
  };
  Statistics statistics() const;

 private:
  struct Task;
  Task& TaskOf(const tensor::Workload& workload);
  /// Makes the reference if the task has none; fails if there can be none.
  Status PrepareReference(const tensor::Workload& workload, Task& task, const StopCheck& stop);
  void DropOldReferences(const Task& needed);
  void WatchDrift(Task& task, const StopCheck& stop);
  /// Runs a message's kernel, which is the build's.
  trial::Outcome Time(Task& task, const TrialMessage& trial, const Build& build,
                      const StopCheck& stop);
  /// The time of a task's incumbent, times a factor; infinity if that is 0.
  static double CutSeconds(const Task& task, double factor);
  /// Why what was built cannot be run; nullopt if it can.
  std::optional<trial::Outcome> Refusal(const tensor::Workload& workload, Task& task,
                                        const Build& build, const StopCheck& stop);

  MeasureOptions options_;
  Builder builder_;
  /// Compiles references: for this processor, also where the target is a GPU.
  Builder reference_builder_;
  Runner runner_;
  std::list<Task> tasks_;  ///< most recently used first
  Statistics statistics_;
};

}  // namespace bayloom::measure
