// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pareto/hypervolume.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bayloom/base/random.h"
#include "bayloom/pareto/undominated_cells.h"

namespace bayloom::pareto {
namespace {

/// By inclusion and exclusion over all subsets.
double Slow(const std::vector<Point>& points, const Point& reference) {
  double volume = 0;
  for (unsigned subset = 1; subset < 1U << points.size(); ++subset) {
    Point corner(reference.size(), -std::numeric_limits<double>::infinity());
    int members = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      ++members;
      for (size_t k = 0; k < corner.size(); ++k) corner[k] = std::max(corner[k], points[i][k]);
    }
    double box = 1;
    for (size_t k = 0; k < corner.size(); ++k) box *= std::max(0.0, reference[k] - corner[k]);
    volume += members % 2 == 1 ? box : -box;
  }
  return volume;
}

std::vector<Point> RandomPoints(int count, size_t objectives, base::RandomStream& random) {
  std::vector<Point> points(count);
  for (Point& point : points) {
    // Ties in an objective and points beyond the reference occur.
    for (size_t k = 0; k < objectives; ++k) {
      point.push_back(static_cast<double>(random.UniformInt(12)) / 10);
    }
  }
  return points;
}

TEST(HypervolumeTest, KnownValues) {
  EXPECT_DOUBLE_EQ(Hypervolume(std::vector<Point>{{1, 3}, {2, 2}, {3, 1}}, Point{4, 4}), 6);
  EXPECT_DOUBLE_EQ(Hypervolume(std::vector<Point>{{1, 2, 2}, {2, 1, 2}, {2, 2, 1}}, Point{3, 3, 3}),
                   4);
  EXPECT_DOUBLE_EQ(Hypervolume(std::vector<Point>{{1, 5}, {4, 0}}, Point{4, 4}), 0);
  EXPECT_DOUBLE_EQ(Hypervolume({}, Point{1, 1}), 0);
}

TEST(HypervolumeTest, EqualsInclusionAndExclusion) {
  base::RandomStream random(2);
  for (size_t objectives : {1, 2, 3, 4, 5}) {
    for (int repeat = 0; repeat < 30; ++repeat) {
      const std::vector<Point> points = RandomPoints(9, objectives, random);
      const Point reference(objectives, 1);
      EXPECT_NEAR(Hypervolume(points, reference), Slow(points, reference), 1e-12) << objectives;
    }
  }
}

TEST(UndominatedCellsTest, CoverWhatIsNotDominatedExactlyOnce) {
  base::RandomStream random(3);
  for (size_t objectives : {2, 3}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const std::vector<Point> points = RandomPoints(8, objectives, random);
      const Point reference(objectives, 1);
      const UndominatedCells cells = MakeUndominatedCells(points, reference);
      for (int sample = 0; sample < 200; ++sample) {
        Point z;
        for (size_t k = 0; k < objectives; ++k) z.push_back(1.6 * random.Uniform() - 0.5);
        const bool is_beyond = std::ranges::any_of(z, [](double v) { return v > 1; });
        const bool is_dominated = std::ranges::any_of(points, [&](const Point& point) {
          return std::ranges::all_of(point, [](double v) { return v < 1; }) && Dominates(point, z);
        });
        int covered = 0;
        for (const UndominatedCells::Cell& cell : cells.cells) {
          bool is_inside = true;
          for (size_t k = 0; k < objectives; ++k) {
            is_inside = is_inside && z[k] > cells.edges[k][cell.lower[k]] &&
                        z[k] <= cells.edges[k][cell.upper[k]];
          }
          covered += is_inside;
        }
        EXPECT_EQ(covered, is_beyond || is_dominated ? 0 : 1);
      }
    }
  }
}

}  // namespace
}  // namespace bayloom::pareto
