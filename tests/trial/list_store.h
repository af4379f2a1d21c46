#pragma once

#include <vector>

#include "bayloom/trial/trial_store.h"

namespace bayloom {

/// Keeps trials in memory.
class ListStore final : public TrialStore {
 public:
  void Add(const TrialRecord& trial) override { trials.push_back(trial); }
  void Flush() override {}

  std::vector<TrialRecord> trials;
};

}  // namespace bayloom
