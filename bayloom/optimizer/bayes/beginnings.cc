// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/beginnings.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace bayloom::optimizer {

Beginnings::Beginnings(const Features& features, const space::Space& space,
                       const TransferOptions& transfer, const space::CanonicalForm& canonical,
                       base::RandomStream& random) {
  const std::vector<space::Configuration> best =
      BestOfEarlier(space, transfer.tasks, transfer.beginnings);
  if (best.empty() || !transfer.description.empty()) {
    std::optional<space::Configuration> expected = PredictBest(features, space, transfer, random);
    if (expected) configurations_.push_back(*std::move(expected));
  }
  for (const space::Configuration& one : best) {
    if (!Contain(one)) configurations_.push_back(one);
  }
  if (!canonical) return;
  for (space::Configuration& beginning : configurations_) beginning = canonical(beginning);
}

const space::Configuration* Beginnings::Next(const Memory& memory) const {
  const auto next = std::ranges::find_if(
      configurations_, [&](const space::Configuration& c) { return !memory.Knows(c); });
  return next == configurations_.end() || Disappoint(memory) ? nullptr : &*next;
}

int Beginnings::Tried(const Memory& memory) const {
  return static_cast<int>(std::ranges::count_if(
      memory.trials(), [&](const Observation& trial) { return Contain(trial.configuration); }));
}

bool Beginnings::Disappoint(const Memory& memory) const {
  const bool is_done = std::ranges::all_of(
      configurations_, [&](const space::Configuration& c) { return memory.Knows(c); });
  if (is_done || memory.best() == nullptr || Contain(memory.best()->configuration)) return false;
  return std::ranges::any_of(memory.trials(), [&](const Observation& trial) {
    return trial.outcome.ok() && Contain(trial.configuration);
  });
}

bool Beginnings::LackComparison(const Memory& memory) const {
  const auto contain = [&](const space::Configuration& c) { return Contain(c); };
  return memory.known() > 0 && std::ranges::all_of(memory.pending(), contain) &&
         std::ranges::all_of(memory.trials(), contain, &Observation::configuration);
}

bool Beginnings::Contain(const space::Configuration& configuration) const {
  return std::ranges::find(configurations_, configuration) != configurations_.end();
}

}  // namespace bayloom::optimizer
