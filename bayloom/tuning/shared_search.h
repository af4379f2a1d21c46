#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/external/evaluator.h"
#include "bayloom/external/search.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {

/// What a value is worth to a scheduler, given the first value of its search: 1 for that one, less
/// for better ones, in proportion. Values of different searches are in different units; these are
/// not. Infinity for what is worse than any ratio says; a value that is better than the first and
/// on the other side of zero counts a hundredth, as does a ratio below that.
double RelativeCost(double value, double first, bool maximize);

/// One of several searches.
struct SharedSearchTask {
  std::string name;
  double weight = 1;  ///< how much an improvement counts, in proportion to the first value
  Search* search = nullptr;
  std::span<const std::unique_ptr<ConfigurationEvaluator>> evaluators;
  std::optional<int64_t> max_trials;  ///< of this search alone, earlier runs included
  /// The search's trials of earlier runs.
  std::vector<SearchTrial> earlier;
};

struct SharedSearchOptions {
  std::string scheduler = "dynatune";
  uint64_t seed = 0;
  int trials_per_slot = 8;
  /// Of all searches together, earlier runs included.
  std::optional<int64_t> max_trials = std::nullopt;
  std::optional<double> max_seconds = std::nullopt;
  std::function<bool()> stop = nullptr;
};

/// Searches several scenarios under one budget: a TaskScheduler decides slot by slot which of them
/// goes on.
class SharedSearch {
 public:
  /// What the tasks refer to must outlive this. Throws InputError for an unknown scheduler.
  SharedSearch(std::vector<SharedSearchTask> tasks, SharedSearchOptions options);

  /// Until a limit is reached. `observe` is called after every trial with the index of its task.
  SearchEnd Run(const std::function<void(int)>& observe);

  std::span<const SharedSearchTask> tasks() const { return tasks_; }
  std::span<const TaskProgress> progress() const { return progress_; }
  /// The tasks that slots of this run were given to.
  const std::vector<int>& choices() const { return choices_; }
  int64_t trials() const;

 private:
  void CountTrial(int task, const SearchTrial& trial);
  SearchEnd RunSlot(int task, const std::function<void(int)>& observe);
  double Elapsed() const;

  std::vector<SharedSearchTask> tasks_;
  SharedSearchOptions options_;
  std::vector<TaskProgress> progress_;
  std::vector<std::optional<double>> first_;  ///< each search's first value
  std::unique_ptr<TaskScheduler> scheduler_;
  std::vector<int> choices_;
};

}  // namespace bayloom
