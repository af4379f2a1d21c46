#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bayloom/record/trial.h"
#include "bayloom/search/strategy.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom {

/// A workload to be tuned and how much it matters.
struct TaskSpec {
  std::string name;
  Workload workload;
  double weight = 1;       ///< how often one run of the whole (a network) runs it
  double lower_bound = 0;  ///< seconds that no program can beat; 0 if unknown
};

/// A task of a session: a workload with its design spaces, the strategy that searches them, and
/// the best program so far. How it gets on is in its TaskProgress.
struct TuningTask {
  std::string name;
  double weight = 1;
  TaskId id = 0;  ///< the store's
  uint64_t workload_hash = 0;
  std::unique_ptr<const SpaceGenerator> space;
  std::unique_ptr<SearchStrategy> strategy;
  std::optional<MeasuredCandidate> best;  ///< nullopt while no program was feasible
};

}  // namespace bayloom
