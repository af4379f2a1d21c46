#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "bayloom/external/evaluator.h"
#include "bayloom/external/scenario.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom {

/// One evaluation of a search, in the evaluator's own terms: the value as it was answered.
struct SearchTrial {
  int64_t ordinal = 0;  ///< from 0
  Configuration configuration;
  Outcome outcome;
  double elapsed = 0;  ///< seconds of searching until it ended, earlier runs of the search included
};

/// The memory of one search: hands out configurations, takes outcomes, knows the best.
///
/// Optimizers minimize; where the scenario maximizes, values are negated on their way to the
/// optimizer and nowhere else.
class Search {
 public:
  /// Called with every new trial before the optimizer learns of it: makes it durable.
  using Recorder = std::function<void(const SearchTrial&)>;

  Search(const Scenario& scenario, std::unique_ptr<Optimizer> optimizer, Recorder recorder);

  /// A trial from the record of an earlier run; not recorded again.
  void Recall(const SearchTrial& trial);

  /// Up to `n` configurations to try: the scenario's default first, then the optimizer's choice.
  /// Fewer when there are no more.
  std::vector<Configuration> Ask(int n);
  /// Records, then learns. `elapsed` as in SearchTrial. A configuration that was told before is
  /// refused: false, and nothing changes. Throws what the recorder throws.
  bool Tell(const Configuration& configuration, const Outcome& outcome, double elapsed);

  int64_t trials() const { return trials_; }
  int64_t feasible_trials() const { return feasible_trials_; }
  const std::optional<SearchTrial>& best() const { return best_; }
  /// The last trial told.
  const std::optional<SearchTrial>& last() const { return last_; }
  double elapsed() const { return last_ ? last_->elapsed : 0; }
  const Space& space() const { return *space_; }
  bool maximize() const { return maximize_; }

 private:
  void Learn(const SearchTrial& trial);

  std::shared_ptr<const Space> space_;
  bool maximize_;
  std::optional<Configuration> first_;  ///< the default, until it is asked for
  std::unique_ptr<Optimizer> optimizer_;
  Recorder recorder_;
  std::unordered_set<Configuration> asked_;
  std::unordered_set<Configuration> told_;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  std::optional<SearchTrial> best_;
  std::optional<SearchTrial> last_;
};

/// Why a search ended.
enum class SearchEnd : uint8_t { kTrials, kTime, kExhausted, kStopped };

struct SearchLimits {
  /// Of the whole search, earlier runs included.
  std::optional<int64_t> trials;
  std::optional<double> seconds;
  /// Looked at every few tens of milliseconds; once true, what runs is stopped and forgotten.
  std::function<bool()> stop;
};

/// Tries configurations with all the evaluators in parallel until a limit is reached. `observe` is
/// called after every trial, in the calling thread.
SearchEnd RunSearch(Search& search,
                    std::span<const std::unique_ptr<ConfigurationEvaluator>> evaluators,
                    const SearchLimits& limits, const std::function<void()>& observe);

}  // namespace bayloom
