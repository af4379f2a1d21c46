// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/history.h"

#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/model/value_range.h"

namespace bayloom::optimizer {

const trial::Outcome* History::OutcomeOf(const space::Configuration& configuration) const {
  const auto state = states_.find(configuration);
  if (state == states_.end() || state->second == kPending) return nullptr;
  return &trials_[state->second].outcome;
}

void History::MarkAsked(const space::Configuration& configuration) {
  if (states_.emplace(configuration, kPending).second) asked_.push_back(configuration);
}

void History::Withdraw(const space::Configuration& configuration) {
  const auto state = states_.find(configuration);
  if (state == states_.end() || state->second != kPending) return;
  states_.erase(state);
  std::erase(asked_, configuration);
}

void History::Record(const space::Configuration& configuration, const trial::Outcome& outcome) {
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
    const trial::Outcome& before = trials_[state->second].outcome;
    if (before.ok()) RemoveValue(before.value, state->second);
    trials_[state->second].outcome = outcome;
  }
  if (outcome.ok()) AddValue(outcome.value, state->second);
}

void History::AddValue(double value, int place) {
  ranking_.emplace(value, place);
  if (std::abs(value) > model::ValueRange::kMaxMagnitude) return;
  ++ordinary_;
  mean_ += (value - mean_) / static_cast<double>(ordinary_);
}

void History::RemoveValue(double value, int place) {
  ranking_.erase({value, place});
  if (std::abs(value) > model::ValueRange::kMaxMagnitude) return;
  --ordinary_;
  mean_ = ordinary_ > 0 ? mean_ - (value - mean_) / static_cast<double>(ordinary_) : 0;
}

std::vector<int> History::Best(size_t count) const {
  std::vector<int> places;
  for (auto at = ranking_.begin(); at != ranking_.end() && places.size() < count; ++at) {
    places.push_back(at->second);
  }
  return places;
}

}  // namespace bayloom::optimizer
