// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/trial/trial_store.h"

namespace bayloom::trial {

/// Keeps trials in memory.
class ListStore final : public TrialStore {
 public:
  void Add(const TrialRecord& trial) override { trials.push_back(trial); }
  void Flush() override {}

  std::vector<TrialRecord> trials;
};

}  // namespace bayloom::trial
