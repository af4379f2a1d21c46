// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/score_spread.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace bayloom::cost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Items without an anchor between them, by place in the descending order.
struct Gap {
  int begin, end;
  double above = kInfinity;  ///< the anchors at either side; infinite where there is none
  double below = -kInfinity;
};

/// The item of a gap that is farthest from the gap's anchors.
struct Farthest {
  double distance;
  int place;
  Gap gap;

  /// In the order of choice, for a heap that gives its largest element.
  bool operator<(const Farthest& other) const {
    return distance != other.distance ? distance < other.distance : place > other.place;
  }
};

class Spread {
 public:
  Spread(std::span<const double> items, ScoreDistance distance)
      : weighed_(distance == ScoreDistance::kWeighted), order_(items.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return Clamped(items[a]) > Clamped(items[b]); });
    for (const int item : order_) sorted_.push_back(Clamped(items[item]));
  }

  /// Cuts all items into gaps.
  void AddAnchors(std::span<const double> anchors) {
    std::vector<double> descending;
    for (const double anchor : anchors) descending.push_back(Clamped(anchor));
    std::sort(descending.begin(), descending.end(), std::greater<>());
    Gap gap{.begin = 0, .end = 0};
    for (const double anchor : descending) {
      gap.end = FirstNotAbove(gap.begin, static_cast<int>(sorted_.size()), anchor);
      gap.below = anchor;
      Push(gap);
      gap = {.begin = gap.end, .end = gap.end, .above = anchor};
    }
    gap.end = static_cast<int>(sorted_.size());
    Push(gap);
  }

  std::vector<int> Choose(int count) {
    std::vector<int> chosen;
    while (static_cast<int>(chosen.size()) < count && !heap_.empty()) {
      const auto [distance, place, gap] = heap_.top();
      heap_.pop();
      chosen.push_back(order_[place]);
      Push({gap.begin, place, gap.above, sorted_[place]});
      Push({place + 1, gap.end, sorted_[place], gap.below});
    }
    return chosen;
  }

 private:
  double Clamped(double score) const { return weighed_ ? std::max(score, 0.0) : score; }

  /// The first place in [begin, end) whose score is at most `score`; `end` if none is.
  int FirstNotAbove(int begin, int end, double score) const {
    return static_cast<int>(
        std::lower_bound(sorted_.begin() + begin, sorted_.begin() + end, score, std::greater<>()) -
        sorted_.begin());
  }

  double DistanceOf(int place, const Gap& gap) const {
    const double score = sorted_[place];
    const double nearest = std::min(gap.above - score, score - gap.below);
    if (!weighed_) return nearest;
    return score > 0 ? score * nearest : 0;
  }

  /// Where the distance, as a function of the score, turns from rising to falling.
  double TurningPoint(const Gap& gap) const {
    if (gap.above == kInfinity) return kInfinity;
    if (gap.below == -kInfinity) return weighed_ ? gap.above / 2 : -kInfinity;
    return gap.below + (gap.above - gap.below) / 2;
  }

  void Push(const Gap& gap) {
    if (gap.begin == gap.end) return;
    // Along the places, the distance rises up to the turning point and falls after it, so one of
    // its neighbours is the farthest: the last place above it, of which equals come first, and the
    // first not above it.
    const int turn = FirstNotAbove(gap.begin, gap.end, TurningPoint(gap));
    int best = turn;
    if (turn > gap.begin) {
      const int last_above = FirstNotAbove(gap.begin, turn, sorted_[turn - 1]);
      if (turn == gap.end || DistanceOf(last_above, gap) >= DistanceOf(turn, gap)) {
        best = last_above;
      }
    }
    const double distance = DistanceOf(best, gap);
    if (distance == 0) best = gap.begin;  // then all are equal
    heap_.push({distance, best, gap});
  }

  bool weighed_;
  std::vector<int> order_;      ///< items by descending score
  std::vector<double> sorted_;  ///< their scores
  std::priority_queue<Farthest> heap_;
};

}  // namespace

std::vector<int> SpreadScores(std::span<const double> items, std::span<const double> anchors,
                              int count, ScoreDistance distance) {
  Spread spread(items, distance);
  spread.AddAnchors(anchors);
  return spread.Choose(count);
}

}  // namespace bayloom::cost
