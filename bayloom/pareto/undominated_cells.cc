// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pareto/undominated_cells.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace bayloom::pareto {
namespace {

/// The place of each of the points' values among the edges.
struct Ranked {
  std::array<int, 3> at = {};
};

/// Adds the cells between `low` and `high` in the third objective, where only `points` count.
void AddSlice(std::vector<Ranked> points, int last_x, int last_y, int low, int high,
              std::vector<UndominatedCells::Cell>& cells) {
  std::ranges::sort(points, {},
                    [](const Ranked& point) { return std::pair(point.at[0], point.at[1]); });
  int x = 0;
  int height = last_y;
  const auto add = [&](int until) {
    if (until > x) cells.push_back({{x, 0, low}, {until, height, high}});
    x = until;
  };
  for (const Ranked& point : points) {
    if (point.at[1] >= height) continue;
    add(point.at[0]);
    height = point.at[1];
  }
  add(last_x);
}

}  // namespace

UndominatedCells MakeUndominatedCells(std::span<const Point> points,
                                      std::span<const double> reference) {
  const size_t objectives = reference.size();
  std::vector<Point> inside;
  for (const Point& point : points) {
    if (std::ranges::equal(point, reference, std::less())) inside.push_back(point);
  }
  UndominatedCells all;
  for (size_t k = 0; k < objectives; ++k) {
    std::vector<double>& edges = all.edges.emplace_back();
    edges.push_back(-std::numeric_limits<double>::infinity());
    for (const Point& point : inside) edges.push_back(point[k]);
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    edges.push_back(reference[k]);
  }
  std::vector<Ranked> ranked;
  for (const Point& point : inside) {
    Ranked& added = ranked.emplace_back();
    for (size_t k = 0; k < objectives; ++k) {
      added.at[k] =
          static_cast<int>(std::ranges::lower_bound(all.edges[k], point[k]) - all.edges[k].begin());
    }
  }
  const auto last = [&](size_t k) { return static_cast<int>(all.edges[k].size()) - 1; };
  if (objectives == 2) {
    AddSlice(ranked, last(0), last(1), 0, 0, all.cells);
    return all;
  }
  for (int z = 0; z < last(2); ++z) {
    std::vector<Ranked> below;
    std::ranges::copy_if(ranked, std::back_inserter(below),
                         [&](const Ranked& point) { return point.at[2] <= z; });
    AddSlice(std::move(below), last(0), last(1), z, z + 1, all.cells);
  }
  return all;
}

}  // namespace bayloom::pareto
