// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/memory.h"

#include <cmath>

#include "bayloom/base/result.h"

namespace bayloom::optimizer {

const trial::Outcome* Memory::OutcomeOf(const space::Configuration& configuration) const {
  const auto state = states_.find(configuration);
  if (state == states_.end() || state->second == kPending) return nullptr;
  return &trials_[state->second].outcome;
}

void Memory::MarkAsked(const space::Configuration& configuration) {
  if (states_.emplace(configuration, kPending).second) asked_.push_back(configuration);
}

void Memory::Record(const space::Configuration& configuration, const trial::Outcome& outcome) {
  if (!space_->Contains(configuration)) {
    throw InputError("told the outcome of a configuration that is not in the space");
  }
  if (outcome.ok() && !std::isfinite(outcome.value)) {
    throw InputError("told a feasible outcome whose value is not a finite number");
  }
  const auto [state, is_new] = states_.emplace(configuration, kPending);
  if (state->second == kPending) {
    state->second = static_cast<int>(trials_.size());
    trials_.push_back({configuration, outcome});
    if (!is_new) {
      std::erase_if(asked_, [&](const space::Configuration& c) { return c == configuration; });
    }
  } else {
    trials_[state->second].outcome = outcome;
  }
  if (best_ == state->second) {
    FindBest();
  } else if (outcome.ok() && (best_ < 0 || outcome.value < trials_[best_].outcome.value)) {
    best_ = state->second;
  }
}

void Memory::FindBest() {
  best_ = -1;
  for (size_t i = 0; i < trials_.size(); ++i) {
    if (!trials_[i].outcome.ok()) continue;
    if (best_ < 0 || trials_[i].outcome.value < trials_[best_].outcome.value) {
      best_ = static_cast<int>(i);
    }
  }
}

}  // namespace bayloom::optimizer
