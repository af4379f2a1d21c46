// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/kernel_measurer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/measure/task_timer.h"

namespace bayloom::measure {

/// What is remembered of a workload that is being tuned.
struct KernelMeasurer::Task {
  uint64_t workload_hash = 0;
  std::optional<Reference> reference = std::nullopt;
  std::string failure = {};  ///< why there is no reference and will not be
  TaskTimer timer;
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
    tasks_.push_front({.workload_hash = hash, .timer = TaskTimer(runner_, options_)});
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
  TaskOf(workload).timer.SetIncumbent(std::move(kernel), seconds);
}

trial::Outcome KernelMeasurer::Run(const tensor::Workload& workload, TrialMessage kernel,
                                   const MeasurementDetails& build, const StopCheck& stop) {
  return Time(TaskOf(workload), &TaskTimer::Run, std::move(kernel), build, stop);
}

trial::Outcome KernelMeasurer::Repeat(const tensor::Workload& workload, TrialMessage kernel,
                                      const MeasurementDetails& build, const StopCheck& stop) {
  return Time(TaskOf(workload), &TaskTimer::Repeat, std::move(kernel), build, stop);
}

trial::Outcome KernelMeasurer::Time(Task& task, TimeKernel time, TrialMessage kernel,
                                    const MeasurementDetails& build, const StopCheck& stop) {
  const double before = task.timer.run_seconds();
  trial::Outcome outcome =
      (task.timer.*time)(task.reference->data(), std::move(kernel), build, stop);
  run_seconds_ += task.timer.run_seconds() - before;
  drift_ = task.timer.drift();
  return outcome;
}

}  // namespace bayloom::measure
