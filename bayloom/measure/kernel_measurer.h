// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>

#include "bayloom/base/result.h"
#include "bayloom/measure/kernel_options.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/reference.h"
#include "bayloom/measure/runner.h"
#include "bayloom/measure/task_timer.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// Runs, checks and times kernels that were compiled here or elsewhere, one by one, in a runner
/// process. Needs no compiler. Not thread safe: it has the machine to itself.
class KernelMeasurer {
 public:
  explicit KernelMeasurer(KernelOptions options);
  ~KernelMeasurer();

  bool HasReference(const tensor::Workload& workload);
  /// Makes the task's reference if there is none, of one of these kernels; fails if there can be
  /// none, also when asked again. Throws SystemError if no runner process can be started, and
  /// Interrupted; so do all that run something.
  Status PrepareReference(const tensor::Workload& workload,
                          std::span<const ReferenceKernel> kernels, const StopCheck& stop = {});

  // Of a task whose reference is prepared. A kernel's timing options are set here; `build`: what
  // the outcome says of the compilation.
  trial::Outcome Run(const tensor::Workload& workload, TrialMessage kernel,
                     const MeasurementDetails& build, const StopCheck& stop = {});
  /// The same once more, in turns with others, with the options for repeats.
  trial::Outcome Repeat(const tensor::Workload& workload, TrialMessage kernel,
                        const MeasurementDetails& build, const StopCheck& stop = {});

  /// As Measurer's.
  void SetIncumbent(const tensor::Workload& workload, TrialMessage kernel, double seconds);

  double run_seconds() const {
    return run_seconds_;
  }  ///< wall clock, references and drift included
  int runner_starts() const { return runner_.starts(); }
  double drift() const { return drift_; }  ///< latest, of any task

 private:
  struct Task;
  Task& TaskOf(const tensor::Workload& workload);
  void DropOldReferences(const Task& needed);
  using TimeKernel = trial::Outcome (TaskTimer::*)(const TaskData&, TrialMessage,
                                                   const MeasurementDetails&, const StopCheck&);
  trial::Outcome Time(Task& task, TimeKernel time, TrialMessage kernel,
                      const MeasurementDetails& build, const StopCheck& stop);

  KernelOptions options_;
  Runner runner_;
  std::list<Task> tasks_;  ///< most recently used first
  double run_seconds_ = 0;
  double drift_ = 1;
};

}  // namespace bayloom::measure
