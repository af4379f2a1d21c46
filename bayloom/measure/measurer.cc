#include "bayloom/measure/measurer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/stop_flag.h"

namespace bayloom {

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

Measurer::Measurer(Target target, MeasureOptions options)
    : options_(std::move(options)),
      builder_(std::move(target), options_.builder),
      runner_(options_.runner) {}

Measurer::~Measurer() = default;

Measurer::Task& Measurer::TaskOf(const Workload& workload) {
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

std::optional<std::string> Measurer::PrepareReference(const Workload& workload, Task& task) {
  if (task.reference) return std::nullopt;
  if (task.failure.empty()) {
    const double start = MonotonicSeconds();
    Result<Reference> made = Reference::Make(workload, builder_, runner_, options_.data_seed);
    statistics_.run_seconds += MonotonicSeconds() - start;
    if (made) {
      task.reference = *std::move(made);
      DropOldReferences(task);
      return std::nullopt;
    }
    task.failure = made.error().message;
  }
  return task.failure;
}

Result<double> Measurer::ReferenceSeconds(const Workload& workload) {
  Task& task = TaskOf(workload);
  if (std::optional<std::string> failure = PrepareReference(workload, task)) {
    return Error{*failure};
  }
  return task.reference->seconds();
}

void Measurer::SetIncumbent(const Workload& workload, const Program& program, double seconds) {
  Task& task = TaskOf(workload);
  const Program* const programs[] = {&program};
  Build build = std::move(builder_.BuildAll(programs).front());
  if (!build.kernel) return;
  task.incumbent = TrialMessage::For(program, *std::move(build.kernel), target().cores);
  task.incumbent_seconds = seconds;
  task.drift = 1;
}

std::vector<Outcome> Measurer::Measure(const Workload& workload,
                                       std::span<const Program* const> candidates,
                                       const Observer& observer) {
  Task& task = TaskOf(workload);
  const std::optional<std::string> failure = PrepareReference(workload, task);
  const double start = MonotonicSeconds();
  std::vector<Build> builds(candidates.size());
  if (!failure) builds = builder_.BuildAll(candidates);
  statistics_.build_seconds += MonotonicSeconds() - start;

  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < candidates.size() && !StopRequested(); ++i) {
    outcomes.push_back(failure ? Outcome::Infeasible(Verdict::kBuildError, *failure)
                               : Try(task, *candidates[i], std::move(builds[i])));
    if (observer) observer(i, outcomes.back());
  }
  return outcomes;
}

Outcome Measurer::Try(Task& task, const Program& program, Build build) {
  ++statistics_.trials;
  if (!build.kernel) {
    Outcome outcome = Outcome::Infeasible(build.verdict, build.error);
    outcome.build_seconds = build.seconds;
    return outcome;
  }
  if (++task.trials_since_drift >= options_.drift_interval) WatchDrift(task);

  const double start = MonotonicSeconds();
  TrialMessage trial = TrialMessage::For(program, *std::move(build.kernel), target().cores);
  trial.timing = options_.timing;
  trial.cut_seconds = options_.cut_factor > 0
                          ? options_.cut_factor * task.incumbent_seconds * std::max(1.0, task.drift)
                          : std::numeric_limits<double>::infinity();
  Outcome outcome = runner_.Run(task.reference->data(), trial);
  outcome.build_seconds = build.seconds;
  outcome.measure_seconds = MonotonicSeconds() - start;
  statistics_.run_seconds += outcome.measure_seconds;
  outcome.drift = task.drift;
  if (outcome.ok() && !outcome.cut_short && outcome.value < task.incumbent_seconds) {
    task.incumbent = std::move(trial);
    task.incumbent_seconds = outcome.value;
    task.drift = 1;
    task.trials_since_drift = 0;
  }
  return outcome;
}

void Measurer::WatchDrift(Task& task) {
  task.trials_since_drift = 0;
  if (!task.incumbent) return;
  TrialMessage again = *task.incumbent;
  again.timing = options_.timing;
  again.cut_seconds = std::numeric_limits<double>::infinity();
  const double start = MonotonicSeconds();
  const Outcome outcome = runner_.Run(task.reference->data(), again);
  statistics_.run_seconds += MonotonicSeconds() - start;
  if (!outcome.ok()) return;
  task.drift = outcome.value / task.incumbent_seconds;
  statistics_.drift = task.drift;
}

Measurer::Statistics Measurer::statistics() const {
  Statistics statistics = statistics_;
  statistics.runner_starts = runner_.starts();
  return statistics;
}

}  // namespace bayloom
