// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measurer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/host.h"
#include "bayloom/measure/measurement_details.h"

namespace bayloom::measure {

/// What is remembered of a workload that is being tuned.
struct Measurer::Task {
  uint64_t workload_hash = 0;
  std::optional<Reference> reference;
  std::string failure;  ///< why there is no reference and will not be
  /// The fastest candidate so far and the time that it took when it became that.
  std::optional<TrialMessage> incumbent;
  double incumbent_seconds = std::numeric_limits<double>::infinity();
  double drift = 1;
  int trials_since_drift = 0;
};

namespace {

bool IsGpu(const target::Target& target) { return target.kind() == target::TargetKind::kNvidiaGpu; }

MeasurementDetails DetailsOf(const Build& build) {
  return {.build_seconds = build.seconds,
          .registers = static_cast<double>(build.use.registers),
          .spill_bytes = static_cast<double>(build.use.spill_bytes),
          .shared_bytes = static_cast<double>(build.use.shared_bytes)};
}

target::Target ReferenceTarget(const target::Target& target) {
  return IsGpu(target) ? codegen::HostTarget() : target;
}

/// What stands for the compiler makes code for the target.
BuilderOptions ReferenceOptions(const target::Target& target, BuilderOptions options) {
  if (IsGpu(target)) options.compile = nullptr;
  return options;
}

RunnerOptions ForTarget(RunnerOptions options, const target::Target& target) {
  options.limit_address_space = !IsGpu(target);
  return options;
}

}  // namespace

Measurer::Measurer(target::Target target, MeasureOptions options)
    : options_(std::move(options)),
      builder_(target, options_.builder),
      reference_builder_(ReferenceTarget(target), ReferenceOptions(target, options_.builder)),
      runner_(ForTarget(options_.runner, target)) {}

Measurer::~Measurer() = default;

Measurer::Task& Measurer::TaskOf(const tensor::Workload& workload) {
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

void Measurer::DropOldReferences(const Task& needed) {
  int64_t kept = 0;
  for (Task& task : tasks_) {
    if (!task.reference) continue;
    kept += task.reference->data_bytes();
    if (kept > options_.kept_data_bytes && &task != &needed) task.reference.reset();
  }
}

Status Measurer::PrepareReference(const tensor::Workload& workload, Task& task,
                                  const StopCheck& stop) {
  if (task.reference) return Ok();
  if (task.failure.empty()) {
    const double start = base::MonotonicSeconds();
    Result<Reference> made =
        Reference::Make(workload, reference_builder_, runner_, options_.data_seed, stop);
    statistics_.run_seconds += base::MonotonicSeconds() - start;
    if (made) {
      task.reference = *std::move(made);
      DropOldReferences(task);
      return Ok();
    }
    task.failure = made.error().message;
  }
  return Error{task.failure};
}

void Measurer::SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                            double seconds, const StopCheck& stop) {
  Task& task = TaskOf(workload);
  const tensor::Program* const programs[] = {&program};
  Build build = std::move(builder_.BuildAll(programs, stop).front());
  if (!build.kernel) return;
  task.incumbent = TrialMessage::For(program, *std::move(build.kernel), target().cores);
  task.incumbent_seconds = seconds;
  task.drift = 1;
}

std::vector<trial::Outcome> Measurer::Measure(const tensor::Workload& workload,
                                              std::span<const tensor::Program* const> candidates,
                                              const Observer& observer, const StopCheck& stop) {
  std::vector<Build> builds = BuildAll(workload, candidates, stop);
  std::vector<trial::Outcome> outcomes;
  for (size_t i = 0; i < candidates.size(); ++i) {
    outcomes.push_back(Run(workload, *candidates[i], builds[i], stop));
    if (observer) observer(i, outcomes.back());
  }
  return outcomes;
}

std::vector<Build> Measurer::BuildAll(const tensor::Workload& workload,
                                      std::span<const tensor::Program* const> candidates,
                                      const StopCheck& stop) {
  if (const Status prepared = PrepareReference(workload, TaskOf(workload), stop); !prepared) {
    return std::vector<Build>(candidates.size(),
                              Build{.kernel = std::nullopt, .error = prepared.error().message});
  }
  const double start = base::MonotonicSeconds();
  std::vector<Build> builds = builder_.BuildAll(candidates, stop);
  statistics_.build_seconds += base::MonotonicSeconds() - start;
  return builds;
}

std::optional<trial::Outcome> Measurer::Refusal(const tensor::Workload& workload, Task& task,
                                                const Build& build, const StopCheck& stop) {
  if (!build.kernel) {
    trial::Outcome outcome = trial::Outcome::Infeasible(build.verdict, build.error);
    SetDetails(outcome, DetailsOf(build));
    return outcome;
  }
  if (const Status prepared = PrepareReference(workload, task, stop); !prepared) {
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, prepared.error().message);
  }
  return std::nullopt;
}

double Measurer::CutSeconds(const Task& task, double factor) {
  return factor > 0 ? factor * task.incumbent_seconds * std::max(1.0, task.drift)
                    : std::numeric_limits<double>::infinity();
}

trial::Outcome Measurer::Time(Task& task, const TrialMessage& trial, const Build& build,
                              const StopCheck& stop) {
  const double start = base::MonotonicSeconds();
  trial::Outcome outcome = runner_.Run(task.reference->data(), trial, stop);
  const double seconds = base::MonotonicSeconds() - start;
  MeasurementDetails details = DetailsOf(build);
  details.drift = task.drift;
  details.measure_seconds = seconds;
  SetDetails(outcome, details);
  statistics_.run_seconds += seconds;
  return outcome;
}

trial::Outcome Measurer::Run(const tensor::Workload& workload, const tensor::Program& program,
                             const Build& build, const StopCheck& stop) {
  ThrowIfStopped(stop);
  Task& task = TaskOf(workload);
  ++statistics_.trials;
  if (std::optional<trial::Outcome> refusal = Refusal(workload, task, build, stop)) {
    return *std::move(refusal);
  }
  if (++task.trials_since_drift >= options_.drift_interval) WatchDrift(task, stop);

  TrialMessage trial = TrialMessage::For(program, *build.kernel, target().cores);
  trial.timing = options_.timing;
  trial.cut_seconds = CutSeconds(task, options_.cut_factor);
  trial::Outcome outcome = Time(task, trial, build, stop);
  if (outcome.ok() && !DetailsOf(outcome).cut_short && outcome.value < task.incumbent_seconds) {
    task.incumbent = std::move(trial);
    task.incumbent_seconds = outcome.value;
    task.drift = 1;
    task.trials_since_drift = 0;
  }
  return outcome;
}

trial::Outcome Measurer::Repeat(const tensor::Workload& workload, const tensor::Program& program,
                                const Build& build, const StopCheck& stop) {
  ThrowIfStopped(stop);
  Task& task = TaskOf(workload);
  if (std::optional<trial::Outcome> refusal = Refusal(workload, task, build, stop)) {
    return *std::move(refusal);
  }
  TrialMessage trial = TrialMessage::For(program, *build.kernel, target().cores);
  trial.timing = options_.repeat_timing;
  trial.cut_seconds = CutSeconds(task, options_.repeat_cut_factor);
  return Time(task, trial, build, stop);
}

void Measurer::WatchDrift(Task& task, const StopCheck& stop) {
  task.trials_since_drift = 0;
  if (!task.incumbent) return;
  TrialMessage again = *task.incumbent;
  again.timing = options_.timing;
  again.cut_seconds = std::numeric_limits<double>::infinity();
  const double start = base::MonotonicSeconds();
  const trial::Outcome outcome = runner_.Run(task.reference->data(), again, stop);
  statistics_.run_seconds += base::MonotonicSeconds() - start;
  if (!outcome.ok()) return;
  task.drift = outcome.value / task.incumbent_seconds;
  statistics_.drift = task.drift;
}

Measurer::Statistics Measurer::statistics() const {
  Statistics statistics = statistics_;
  statistics.runner_starts = runner_.starts();
  return statistics;
}

}  // namespace bayloom::measure
