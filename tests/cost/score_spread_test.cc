// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/score_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bayloom/base/random.h"

namespace bayloom::cost {
namespace {

/// The algorithms as the paper writes them: all distances, for every choice.
std::vector<int> ByAllDistances(std::vector<double> items, std::vector<double> anchors, int count,
                                ScoreDistance distance) {
  const bool weighed = distance == ScoreDistance::kWeighted;
  if (weighed) {
    for (double& item : items) item = std::max(item, 0.0);
    for (double& anchor : anchors) anchor = std::max(anchor, 0.0);
  }
  std::vector<int> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return items[a] > items[b]; });
  std::vector<int> chosen;
  while (static_cast<int>(chosen.size()) < count && !order.empty()) {
    auto best = order.end();
    double best_distance = -1;
    for (auto at = order.begin(); at != order.end(); ++at) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const double anchor : anchors)
        nearest = std::min(nearest, std::abs(items[*at] - anchor));
      const double d = !weighed ? nearest : items[*at] > 0 ? items[*at] * nearest : 0;
      if (d <= best_distance) continue;
      best = at;
      best_distance = d;
    }
    chosen.push_back(*best);
    anchors.push_back(items[*best]);
    order.erase(best);
  }
  return chosen;
}

/// Numbers on a coarse grid meet each other and anchors, and tie in distance.
std::vector<double> SampledScores(base::RandomStream& random, int count, bool coarse) {
  std::vector<double> scores(count);
  for (double& score : scores) {
    score = coarse ? static_cast<double>(random.UniformInt(17)) / 16 : 1.1 * random.Uniform() - 0.1;
  }
  return scores;
}

TEST(SpreadScores, ChoosesWhatAllDistancesChoose) {
  base::RandomStream random(1);
  for (int round = 0; round < 600; ++round) {
    const bool coarse = round % 2 == 0;
    const auto items = SampledScores(random, static_cast<int>(random.UniformInt(60)), coarse);
    const auto anchors = SampledScores(random, static_cast<int>(random.UniformInt(12)), coarse);
    const int count = static_cast<int>(random.UniformInt(70));
    for (const ScoreDistance distance : {ScoreDistance::kPlain, ScoreDistance::kWeighted}) {
      ASSERT_EQ(SpreadScores(items, anchors, count, distance),
                ByAllDistances(items, anchors, count, distance))
          << "round " << round;
    }
  }
}

TEST(SpreadScores, PlainHalvesTheWidestGap) {
  const std::vector<double> items = {0.1, 0.25, 0.5, 0.7, 1.0};
  EXPECT_EQ(SpreadScores(items, {}, 5, ScoreDistance::kPlain), (std::vector<int>{4, 0, 2, 3, 1}));
}

TEST(SpreadScores, WeighedPrefersHighScores) {
  // Distances to the anchor 0.4: 0.3 * 0.1 below, 0.3 * 0.7 above.
  const std::vector<double> items = {0.1, 0.7}, anchors = {0.4};
  EXPECT_EQ(SpreadScores(items, anchors, 1, ScoreDistance::kWeighted), std::vector<int>{1});
}

}  // namespace
}  // namespace bayloom::cost
