// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/local_search.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace bayloom::acquisition {
namespace {

bool Better(const Suggestion& a, const Suggestion& b) { return a.utility > b.utility; }

class LocalSearch {
 public:
  LocalSearch(const space::Space& space, const UtilityFunction& utility,
              const std::function<bool(const space::Configuration&)>& excluded,
              const space::CanonicalForm& canonical)
      : space_(space), utility_(utility), excluded_(excluded), canonical_(canonical) {}

  void Start(std::span<const space::Configuration> starts) {
    std::vector<space::Configuration> fresh;
    for (const space::Configuration& c : starts) {
      if (met_.insert(c).second) fresh.push_back(c);
    }
    climbs_ = Score(std::move(fresh));
  }

  /// One step of every climb; what does not rise any more ends. False when all have ended.
  bool Step(base::RandomStream& random) {
    std::vector<space::Configuration> neighbours;
    std::vector<int64_t> ends;
    for (const Suggestion& climb : climbs_) {
      for (space::Configuration& c : space_.Neighbours(climb.configuration, random)) {
        if (canonical_) c = canonical_(c);
        if (met_.insert(c).second) neighbours.push_back(std::move(c));
      }
      ends.push_back(std::ssize(neighbours));
    }
    const std::vector<Suggestion> scored = Score(std::move(neighbours));
    std::vector<Suggestion> risen;
    for (size_t i = 0; i < climbs_.size(); ++i) {
      const auto begin = scored.begin() + (i == 0 ? 0 : ends[i - 1]);
      const auto end = scored.begin() + ends[i];
      const auto best = std::min_element(begin, end, Better);
      if (best != end && best->utility > climbs_[i].utility) risen.push_back(*best);
    }
    climbs_ = std::move(risen);
    return !climbs_.empty();
  }

  Suggestion TakeBest() { return std::move(best_); }

 private:
  std::vector<Suggestion> Score(std::vector<space::Configuration> configurations) {
    std::vector<double> utilities(configurations.size());
    if (!configurations.empty()) utility_(configurations, utilities);
    std::vector<Suggestion> scored;
    for (size_t i = 0; i < configurations.size(); ++i) {
      scored.push_back({std::move(configurations[i]), utilities[i]});
      if (utilities[i] > best_.utility && !excluded_(scored.back().configuration)) {
        best_ = scored.back();
      }
    }
    return scored;
  }

  const space::Space& space_;
  const UtilityFunction& utility_;
  const std::function<bool(const space::Configuration&)>& excluded_;
  const space::CanonicalForm& canonical_;
  std::vector<Suggestion> climbs_;
  std::unordered_set<space::Configuration> met_;
  Suggestion best_;
};

}  // namespace

Suggestion ClimbToBest(const space::Space& space, const UtilityFunction& utility,
                       std::span<const space::Configuration> starts,
                       const std::function<bool(const space::Configuration&)>& excluded,
                       int max_steps, base::RandomStream& random,
                       const space::CanonicalForm& canonical) {
  LocalSearch search(space, utility, excluded, canonical);
  search.Start(starts);
  for (int step = 0; step < max_steps && search.Step(random); ++step) continue;
  return search.TakeBest();
}

}  // namespace bayloom::acquisition
