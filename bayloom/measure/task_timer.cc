// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/task_timer.h"

#include <algorithm>
#include <utility>

#include "bayloom/base/clock.h"

namespace bayloom::measure {

void TaskTimer::SetIncumbent(TrialMessage kernel, double seconds) {
  incumbent_ = std::move(kernel);
  incumbent_seconds_ = seconds;
  drift_ = 1;
}

double TaskTimer::CutSeconds(double factor) const {
  return factor > 0 ? factor * incumbent_seconds_ * std::max(1.0, drift_)
                    : std::numeric_limits<double>::infinity();
}

const TimingOptions& TaskTimer::TimingOf(const TrialMessage& kernel) const {
  return kernel.kernel.launches.empty() ? options_.timing : options_.gpu_timing;
}

trial::Outcome TaskTimer::Time(const TaskData& data, const TrialMessage& kernel,
                               MeasurementDetails details, const StopCheck& stop) {
  const double start = base::MonotonicSeconds();
  trial::Outcome outcome = runner_.Run(data, kernel, stop);
  const double seconds = base::MonotonicSeconds() - start;
  details.drift = drift_;
  details.measure_seconds = seconds;
  SetDetails(outcome, details);
  run_seconds_ += seconds;
  return outcome;
}

trial::Outcome TaskTimer::Run(const TaskData& data, TrialMessage kernel,
                              const MeasurementDetails& details, const StopCheck& stop) {
  if (++trials_since_drift_ >= options_.drift_interval) WatchDrift(data, stop);
  kernel.timing = TimingOf(kernel);
  kernel.cut_seconds = CutSeconds(options_.cut_factor);
  trial::Outcome outcome = Time(data, kernel, details, stop);
  if (outcome.ok() && !DetailsOf(outcome).cut_short && outcome.value < incumbent_seconds_) {
    SetIncumbent(std::move(kernel), outcome.value);
    trials_since_drift_ = 0;
  }
  return outcome;
}

trial::Outcome TaskTimer::Repeat(const TaskData& data, TrialMessage kernel,
                                 const MeasurementDetails& details, const StopCheck& stop) {
  kernel.timing = options_.repeat_timing;
  kernel.cut_seconds = CutSeconds(options_.repeat_cut_factor);
  return Time(data, kernel, details, stop);
}

void TaskTimer::WatchDrift(const TaskData& data, const StopCheck& stop) {
  trials_since_drift_ = 0;
  if (!incumbent_) return;
  TrialMessage again = *incumbent_;
  again.timing = TimingOf(again);
  again.cut_seconds = std::numeric_limits<double>::infinity();
  const double start = base::MonotonicSeconds();
  const trial::Outcome outcome = runner_.Run(data, again, stop);
  run_seconds_ += base::MonotonicSeconds() - start;
  if (outcome.ok()) drift_ = outcome.value / incumbent_seconds_;
}

}  // namespace bayloom::measure
