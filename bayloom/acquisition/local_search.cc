// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/local_search.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace bayloom::acquisition {
namespace {

/// In one step a climb looks at the neighbours by so many parameters. Spaces with hundreds of them
/// would take seconds otherwise.
constexpr size_t kParametersAtOnce = 32;

bool Better(const Suggestion& a, const Suggestion& b) { return a.utility > b.utility; }

class LocalSearch {
 public:
  LocalSearch(const space::Space& space, const UtilityFunction& utility,
              const std::function<bool(const space::Configuration&)>& excluded,
              const space::CanonicalForm& canonical)
      : space_(space),
        utility_(utility),
        excluded_(excluded),
        canonical_(canonical),
        parameters_(static_cast<size_t>(space.size())) {}

  void Start(std::span<const space::Configuration> starts, base::RandomStream& random) {
    std::iota(parameters_.begin(), parameters_.end(), 0);
    if (parameters_.size() > kParametersAtOnce) random.Shuffle(parameters_);
    std::vector<space::Configuration> fresh;
    for (const space::Configuration& c : starts) {
      if (met_.insert(c.Hash()).second) fresh.push_back(c);
    }
    for (Suggestion& scored : Score(std::move(fresh))) climbs_.push_back({std::move(scored)});
  }

  /// One step of every climb; one that no parameter lets rise any more ends. False when all have
  /// ended.
  bool Step(base::RandomStream& random) {
    std::vector<space::Configuration> neighbours;
    std::vector<int64_t> ends;
    for (const Climb& climb : climbs_) {
      for (space::Configuration& c :
           space_.Neighbours(climb.at.configuration, ParametersFrom(climb.next), random)) {
        if (canonical_) c = canonical_(c);
        if (met_.insert(c.Hash()).second) neighbours.push_back(std::move(c));
      }
      ends.push_back(std::ssize(neighbours));
    }
    const std::vector<Suggestion> scored = Score(std::move(neighbours));
    std::vector<Climb> going;
    for (size_t i = 0; i < climbs_.size(); ++i) {
      const auto begin = scored.begin() + (i == 0 ? 0 : ends[i - 1]);
      const auto end = scored.begin() + ends[i];
      const auto best = std::min_element(begin, end, Better);
      Climb& climb = climbs_[i];
      const size_t looked_at = ParametersFrom(climb.next).size();
      climb.next = (climb.next + looked_at) % parameters_.size();
      if (best != end && best->utility > climb.at.utility) {
        going.push_back({*best, climb.next, 0});
      } else if (climb.in_vain + looked_at < parameters_.size()) {
        climb.in_vain += looked_at;
        going.push_back(std::move(climb));
      }
    }
    climbs_ = std::move(going);
    return !climbs_.empty();
  }

  Suggestion TakeBest() { return std::move(best_); }

 private:
  struct Climb {
    Suggestion at;
    size_t next = 0;     ///< of parameters_
    size_t in_vain = 0;  ///< parameters looked at since it rose
  };

  std::span<const int> ParametersFrom(size_t first) const {
    return std::span(parameters_)
        .subspan(first, std::min(kParametersAtOnce, parameters_.size() - first));
  }

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
  std::vector<int> parameters_;  ///< in the order in which climbs look at them
  std::vector<Climb> climbs_;
  std::unordered_set<uint64_t> met_;  ///< hashes: a collision leaves one neighbour out
  Suggestion best_;
};

}  // namespace

Suggestion ClimbToBest(const space::Space& space, const UtilityFunction& utility,
                       std::span<const space::Configuration> starts,
                       const std::function<bool(const space::Configuration&)>& excluded,
                       int max_steps, base::RandomStream& random,
                       const space::CanonicalForm& canonical) {
  LocalSearch search(space, utility, excluded, canonical);
  search.Start(starts, random);
  for (int step = 0; step < max_steps && search.Step(random); ++step) continue;
  return search.TakeBest();
}

}  // namespace bayloom::acquisition
