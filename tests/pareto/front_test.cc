// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pareto/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bayloom/base/random.h"

namespace bayloom::pareto {
namespace {

TEST(FrontTest, NoMemberIsDominatedAndEveryOtherPointIs) {
  base::RandomStream random(1);
  for (size_t objectives : {2, 3, 4}) {
    std::vector<Point> points(60);
    for (Point& point : points) {
      for (size_t k = 0; k < objectives; ++k) {
        point.push_back(static_cast<double>(random.UniformInt(6)));
      }
    }
    const std::vector<int> front = FrontOf(points);
    const std::vector<int> ranks = RanksOf(points);
    for (int i = 0; i < std::ssize(points); ++i) {
      bool is_dominated = false;
      for (const Point& other : points) is_dominated |= Dominates(other, points[i]);
      EXPECT_EQ(ranks[i] > 0, is_dominated);
      const bool is_member = std::ranges::find(front, i) != front.end();
      const bool repeats =
          std::ranges::find(points.begin(), points.begin() + i, points[i]) != points.begin() + i;
      EXPECT_EQ(is_member, !is_dominated && !repeats);
    }
  }
}

TEST(FrontTest, RanksPeelFrontAfterFront) {
  EXPECT_EQ(RanksOf(std::vector<Point>{{3, 3}, {1, 2}, {2, 1}, {2, 2}, {4, 4}}),
            (std::vector<int>{2, 0, 0, 1, 3}));
}

TEST(FrontTest, CrowdingIsTheDistanceBetweenNeighboursAndInfiniteAtTheEnds) {
  const std::vector<double> distances =
      CrowdingDistances(std::vector<Point>{{0, 10}, {1, 6}, {4, 0}, {2, 4}});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(distances[0], kInfinity);
  EXPECT_EQ(distances[2], kInfinity);
  EXPECT_DOUBLE_EQ(distances[1], 2.0 / 4 + 6.0 / 10);
  EXPECT_DOUBLE_EQ(distances[3], 3.0 / 4 + 6.0 / 10);
}

TEST(FrontTest, TheReferenceIsATenthOfTheRangeBehindTheFront) {
  const Point reference = DefaultReference(std::vector<Point>{{0, 10}, {10, 0}, {50, 50}});
  EXPECT_DOUBLE_EQ(reference[0], 11);
  EXPECT_DOUBLE_EQ(reference[1], 11);
  // A front of one point: the range of all.
  EXPECT_DOUBLE_EQ(DefaultReference(std::vector<Point>{{0, 0}, {20, 30}})[1], 3);
  EXPECT_DOUBLE_EQ(DefaultReference(std::vector<Point>{{0, 10}, {10, 0}}, 2)[0], 30);
}

}  // namespace
}  // namespace bayloom::pareto
