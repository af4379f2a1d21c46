// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>

#include "bayloom/measure/kernel_options.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/runner.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// Times the kernels of one task, one after the other: cuts short what is clearly slower than the
/// fastest so far, the incumbent, and times the incumbent again from time to time, which shows how
/// much slower the machine is now. Members throw SystemError if no runner process can be started,
/// and Interrupted.
class TaskTimer {
 public:
  /// Both must outlive it.
  TaskTimer(Runner& runner, const KernelOptions& options) : runner_(runner), options_(options) {}

  /// `details`: what the outcome says beside what is measured here. A kernel's timing is set here.
  trial::Outcome Run(const TaskData& data, TrialMessage kernel, const MeasurementDetails& details,
                     const StopCheck& stop);
  /// The same in turns with others, with the options for repeats.
  trial::Outcome Repeat(const TaskData& data, TrialMessage kernel,
                        const MeasurementDetails& details, const StopCheck& stop);
  void SetIncumbent(TrialMessage kernel, double seconds);

  double drift() const { return drift_; }              ///< see MeasurementDetails
  double run_seconds() const { return run_seconds_; }  ///< wall clock, of all kernels

 private:
  void WatchDrift(const TaskData& data, const StopCheck& stop);
  trial::Outcome Time(const TaskData& data, const TrialMessage& kernel, MeasurementDetails details,
                      const StopCheck& stop);
  /// The time of the incumbent, times a factor; infinity if that is 0.
  double CutSeconds(double factor) const;
  const TimingOptions& TimingOf(const TrialMessage& kernel) const;

  Runner& runner_;
  const KernelOptions& options_;
  /// The fastest candidate so far and the time that it took when it became that.
  std::optional<TrialMessage> incumbent_;
  double incumbent_seconds_ = std::numeric_limits<double>::infinity();
  double drift_ = 1;
  int trials_since_drift_ = 0;
  double run_seconds_ = 0;
};

}  // namespace bayloom::measure
