#include "bayloom/acquisition/local_search.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace bayloom {
namespace {

bool Better(const Suggestion& a, const Suggestion& b) { return a.utility > b.utility; }

class LocalSearch {
 public:
  LocalSearch(const Space& space, const UtilityFunction& utility,
              const std::function<bool(const Configuration&)>& excluded,
              const CanonicalForm& canonical)
      : space_(space), utility_(utility), excluded_(excluded), canonical_(canonical) {}

  void Start(std::span<const Configuration> starts) {
    std::vector<Configuration> fresh;
    for (const Configuration& c : starts) {
      if (met_.insert(c).second) fresh.push_back(c);
    }
    climbs_ = Score(std::move(fresh));
  }

  /// One step of every climb; what does not rise any more ends. False when all have ended.
  bool Step(RandomStream& random) {
    std::vector<Configuration> neighbours;
    std::vector<int64_t> ends;
    for (const Suggestion& climb : climbs_) {
      for (Configuration& c : space_.Neighbours(climb.configuration, random)) {
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
  std::vector<Suggestion> Score(std::vector<Configuration> configurations) {
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

  const Space& space_;
  const UtilityFunction& utility_;
  const std::function<bool(const Configuration&)>& excluded_;
  const CanonicalForm& canonical_;
  std::vector<Suggestion> climbs_;
  std::unordered_set<Configuration> met_;
  Suggestion best_;
};

}  // namespace

Suggestion ClimbToBest(const Space& space, const UtilityFunction& utility,
                       std::span<const Configuration> starts,
                       const std::function<bool(const Configuration&)>& excluded, int max_steps,
                       RandomStream& random, const CanonicalForm& canonical) {
  LocalSearch search(space, utility, excluded, canonical);
  search.Start(starts);
  for (int step = 0; step < max_steps && search.Step(random); ++step) continue;
  return search.TakeBest();
}

}  // namespace bayloom
