// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/kernel_measurer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "bayloom/base/clock.h"

namespace bayloom::measure {

/// What is remembered of a workload that is being tuned.
struct KernelMeasurer::Task {
  uint64_t workload_hash = 0;
  std::optional<Reference> reference;
  std::string failure;  ///< why there is no reference and will not be
  /// The fastest candidate so far and the time that it took when it became that.
  std::optional<TrialMessage> incumbent;
  double incumbent_seconds = std::numeric_limits<double>::infinity();
  double drift = 1;
  int trials_since_drift = 0;
};

KernelOptions WithoutTiming(KernelOptions options) {
  options.timing = options.gpu_timing = options.repeat_timing = {
      .min_batch_seconds = 0, .min_total_seconds = 0, .min_batches = 1, .max_total_seconds = 0};
  options.cut_factor = options.repeat_cut_factor = 0;
  options.drift_interval = std::numeric_limits<int>::max();
  return options;
}

KernelMeasurer::KernelMeasurer(KernelOptions options)
    : options_(std::move(options)), runner_(options_.runner) {}

KernelMeasurer::~KernelMeasurer() = default;

KernelMeasurer::Task& KernelMeasurer::TaskOf(const tensor::Workload& workload) {
  const uint64_t hash = workload.StructuralHash();
  const auto known = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const Task& task) { return task.workload_hash == hash; });
  if (known != tasks_.end()) {
    tasks_.splice(tasks_.begin(), tasks_, known);
  } else {
    tasks_.emplace_front().workload_hash = hash;
  }
  return tasks_.front();
}

void KernelMeasurer::DropOldReferences(const Task& needed) {
  int64_t kept = 0;
  for (Task& task : tasks_) {
    if (!task.reference) continue;
    kept += task.reference->data_bytes();
    if (kept > options_.kept_data_bytes && &task != &needed) task.reference.reset();
  }
}

bool KernelMeasurer::HasReference(const tensor::Workload& workload) {
  return TaskOf(workload).reference.has_value();
}

Status KernelMeasurer::PrepareReference(const tensor::Workload& workload,
                                        std::span<const ReferenceKernel> kernels,
                                        const StopCheck& stop) {
  Task& task = TaskOf(workload);
  if (task.reference) return Ok();
  if (task.failure.empty()) {
    const double start = base::MonotonicSeconds();
    Result<Reference> made = Reference::Make(workload, kernels, runner_, options_.data_seed, stop);
    run_seconds_ += base::MonotonicSeconds() - start;
    if (made) {
      task.reference = *std::move(made);
      DropOldReferences(task);
      return Ok();
    }
    task.failure = made.error().message;
  }
  return Error{task.failure};
}

void KernelMeasurer::SetIncumbent(const tensor::Workload& workload, TrialMessage kernel,
                                  double seconds) {
  Task& task = TaskOf(workload);
  task.incumbent = std::move(kernel);
  task.incumbent_seconds = seconds;
  task.drift = 1;
}

double KernelMeasurer::CutSeconds(const Task& task, double factor) {
  return factor > 0 ? factor * task.incumbent_seconds * std::max(1.0, task.drift)
                    : std::numeric_limits<double>::infinity();
}

const TimingOptions& KernelMeasurer::TimingOf(const TrialMessage& kernel) const {
  return kernel.kernel.launches.empty() ? options_.timing : options_.gpu_timing;
}

trial::Outcome KernelMeasurer::Time(Task& task, const TrialMessage& kernel,
                                    MeasurementDetails details, const StopCheck& stop) {
  const double start = base::MonotonicSeconds();
  trial::Outcome outcome = runner_.Run(task.reference->data(), kernel, stop);
  const double seconds = base::MonotonicSeconds() - start;
  details.drift = task.drift;
  details.measure_seconds = seconds;
  SetDetails(outcome, details);
  run_seconds_ += seconds;
  return outcome;
}

trial::Outcome KernelMeasurer::Run(const tensor::Workload& workload, TrialMessage kernel,
                                   const MeasurementDetails& build, const StopCheck& stop) {
  Task& task = TaskOf(workload);
  if (++task.trials_since_drift >= options_.drift_interval) WatchDrift(task, stop);
  kernel.timing = TimingOf(kernel);
  kernel.cut_seconds = CutSeconds(task, options_.cut_factor);
  trial::Outcome outcome = Time(task, kernel, build, stop);
  if (outcome.ok() && !DetailsOf(outcome).cut_short && outcome.value < task.incumbent_seconds) {
    task.incumbent = std::move(kernel);
    task.incumbent_seconds = outcome.value;
    task.drift = 1;
    task.trials_since_drift = 0;
  }
  return outcome;
}

trial::Outcome KernelMeasurer::Repeat(const tensor::Workload& workload, TrialMessage kernel,
                                      const MeasurementDetails& build, const StopCheck& stop) {
  Task& task = TaskOf(workload);
  kernel.timing = options_.repeat_timing;
  kernel.cut_seconds = CutSeconds(task, options_.repeat_cut_factor);
  return Time(task, kernel, build, stop);
}

void KernelMeasurer::WatchDrift(Task& task, const StopCheck& stop) {
  task.trials_since_drift = 0;
  if (!task.incumbent) return;
  TrialMessage again = *task.incumbent;
  again.timing = TimingOf(again);
  again.cut_seconds = std::numeric_limits<double>::infinity();
  const double start = base::MonotonicSeconds();
  const trial::Outcome outcome = runner_.Run(task.reference->data(), again, stop);
  run_seconds_ += base::MonotonicSeconds() - start;
  if (!outcome.ok()) return;
  task.drift = outcome.value / task.incumbent_seconds;
  drift_ = task.drift;
}

}  // namespace bayloom::measure
