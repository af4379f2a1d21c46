#include "bayloom/tuning/shared_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCost = 0.01;

}  // namespace

double RelativeCost(double value, double first, bool maximize) {
  if (value == first) return 1;
  const bool is_better = maximize ? value > first : value < first;
  if (first == 0) return is_better ? kLeastCost : kInfinity;
  const double ratio = value / first;
  const bool toward_zero = maximize == (first < 0);
  if (toward_zero) return std::max(ratio, kLeastCost);
  return ratio > 0 ? std::max(1 / ratio, kLeastCost) : kInfinity;
}

SharedSearch::SharedSearch(std::vector<SharedSearchTask> tasks, SharedSearchOptions options)
    : tasks_(std::move(tasks)), options_(std::move(options)), first_(tasks_.size()) {
  for (const SharedSearchTask& task : tasks_) {
    TaskProgress progress;
    progress.name = task.name;
    progress.weight = task.weight;
    progress_.push_back(std::move(progress));
  }
  for (int i = 0; i < static_cast<int>(tasks_.size()); ++i) {
    for (const SearchTrial& trial : tasks_[i].earlier) {
      CountTrial(i, trial);
      // Slots are not recorded: they were as long as they are now.
      TaskProgress& progress = progress_[i];
      const bool is_end = progress.trials() % options_.trials_per_slot == 0 ||
                          progress.trials() == std::ssize(tasks_[i].earlier);
      if (is_end) progress.slot_ends.push_back(progress.trials());
    }
  }
  scheduler_ = CreateTaskScheduler(options_.scheduler,
                                   {.seed = options_.seed,
                                    .max_trials = options_.max_trials.value_or(int64_t{1} << 40),
                                    .trials_per_slot = options_.trials_per_slot});
}

void SharedSearch::CountTrial(int task, const SearchTrial& trial) {
  TaskProgress& progress = progress_[task];
  double cost = kInfinity;
  if (trial.outcome.ok()) {
    if (!first_[task]) first_[task] = trial.outcome.value;
    cost = RelativeCost(trial.outcome.value, *first_[task], tasks_[task].search->maximize());
  }
  progress.best_after_trial.push_back(std::min(progress.best(), cost));
}

int64_t SharedSearch::trials() const {
  int64_t sum = 0;
  for (const TaskProgress& progress : progress_) sum += progress.trials();
  return sum;
}

double SharedSearch::Elapsed() const {
  double sum = 0;
  for (const SharedSearchTask& task : tasks_) sum += task.search->elapsed();
  return sum;
}

SearchEnd SharedSearch::Run(const std::function<void(int)>& observe) {
  while (true) {
    if (options_.stop && options_.stop()) return SearchEnd::kStopped;
    if (options_.max_seconds && Elapsed() >= *options_.max_seconds) return SearchEnd::kTime;
    if (options_.max_trials && trials() >= *options_.max_trials) return SearchEnd::kTrials;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const std::optional<int64_t>& most = tasks_[i].max_trials;
      if (most && progress_[i].trials() >= *most) progress_[i].finished = true;
    }
    const int chosen = scheduler_->Next(progress_);
    if (chosen < 0) return SearchEnd::kExhausted;
    choices_.push_back(chosen);
    if (RunSlot(chosen, observe) == SearchEnd::kStopped) return SearchEnd::kStopped;
  }
}

SearchEnd SharedSearch::RunSlot(int task, const std::function<void(int)>& observe) {
  const SharedSearchTask& turn = tasks_[task];
  TaskProgress& progress = progress_[task];
  int64_t end = progress.trials() + options_.trials_per_slot;
  if (turn.max_trials) end = std::min(end, *turn.max_trials);
  if (options_.max_trials) {
    end = std::min(end, progress.trials() + *options_.max_trials - trials());
  }
  SearchLimits limits = {end, std::nullopt, options_.stop};
  if (options_.max_seconds) {
    limits.seconds = turn.search->elapsed() + *options_.max_seconds - Elapsed();
  }
  const int before = progress.trials();
  const SearchEnd how = RunSearch(*turn.search, turn.evaluators, limits, [&] {
    CountTrial(task, *turn.search->last());
    observe(task);
  });
  if (how == SearchEnd::kExhausted) progress.finished = true;
  if (progress.trials() > before) progress.slot_ends.push_back(progress.trials());
  return how;
}

}  // namespace bayloom
