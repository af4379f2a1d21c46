// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/initial_design.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace bayloom::optimizer {

InitialDesign::InitialDesign(const Features& features, const space::Space& space,
                             const TransferOptions& transfer, const space::CanonicalForm& canonical,
                             base::RandomStream& random) {
  const std::vector<space::Configuration> best =
      BestOfEarlier(space, transfer.tasks, transfer.beginnings);
  if (best.empty() || !transfer.description.empty()) {
    std::optional<space::Configuration> expected = PredictBest(features, space, transfer, random);
    if (expected) configurations_.push_back(*std::move(expected));
  }
  for (const space::Configuration& one : best) {
    if (!Contains(one)) configurations_.push_back(one);
  }
  if (!canonical) return;
  for (space::Configuration& beginning : configurations_) beginning = canonical(beginning);
}

const space::Configuration* InitialDesign::Next(const History& history) const {
  const auto next = std::ranges::find_if(
      configurations_, [&](const space::Configuration& c) { return !history.Knows(c); });
  return next == configurations_.end() || Disappoints(history) ? nullptr : &*next;
}

int InitialDesign::Tried(const History& history) const {
  return static_cast<int>(std::ranges::count_if(
      history.trials(), [&](const Observation& trial) { return Contains(trial.configuration); }));
}

bool InitialDesign::Disappoints(const History& history) const {
  const bool is_done = std::ranges::all_of(
      configurations_, [&](const space::Configuration& c) { return history.Knows(c); });
  if (is_done || history.best() == nullptr || Contains(history.best()->configuration)) return false;
  return std::ranges::any_of(history.trials(), [&](const Observation& trial) {
    return trial.outcome.ok() && Contains(trial.configuration);
  });
}

bool InitialDesign::LacksComparison(const History& history) const {
  const auto contain = [&](const space::Configuration& c) { return Contains(c); };
  return history.known() > 0 && std::ranges::all_of(history.pending(), contain) &&
         std::ranges::all_of(history.trials(), contain, &Observation::configuration);
}

bool InitialDesign::Contains(const space::Configuration& configuration) const {
  return std::ranges::find(configurations_, configuration) != configurations_.end();
}

}  // namespace bayloom::optimizer
