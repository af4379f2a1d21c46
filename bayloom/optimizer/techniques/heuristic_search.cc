// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/heuristic_search.h"

namespace bayloom::optimizer {

HeuristicSearch::HeuristicSearch(std::shared_ptr<const space::Space> space,
                                 std::vector<std::unique_ptr<Technique>> techniques, uint64_t seed)
    : history_(std::move(space)),
      techniques_(std::move(techniques)),
      bandit_(static_cast<int>(techniques_.size())),
      random_(seed) {}

std::vector<space::Configuration> HeuristicSearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> proposed = Propose();
    if (!proposed) break;
    asked.push_back(std::move(*proposed));
  }
  return asked;
}

std::optional<space::Configuration> HeuristicSearch::Propose() {
  const int chosen = bandit_.Choose();
  std::optional<space::Configuration> proposed = techniques_[chosen]->Propose(history_, random_);
  if (!proposed) proposed = sampler_.Draw(history_, random_);
  if (!proposed) return std::nullopt;
  history_.MarkAsked(*proposed);
  asked_by_.emplace(*proposed, chosen);
  return proposed;
}

void HeuristicSearch::Tell(const space::Configuration& configuration,
                           const trial::Outcome& outcome) {
  const Observation* const best = history_.best();
  const bool is_new_best = outcome.ok() && (best == nullptr || outcome.value < best->outcome.value);
  history_.Record(configuration, outcome);
  const auto asked = asked_by_.find(configuration);
  const int owner = asked == asked_by_.end() ? -1 : asked->second;
  if (owner >= 0) {
    bandit_.Reward(owner, is_new_best);
    asked_by_.erase(asked);
  }
  const Observation trial = {configuration, outcome};
  for (int i = 0; i < std::ssize(techniques_); ++i) {
    techniques_[i]->Observe(history_, trial, i == owner, random_);
  }
}

}  // namespace bayloom::optimizer
