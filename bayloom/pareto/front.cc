// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pareto/front.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

namespace bayloom::pareto {
namespace {

/// Of two or three objectives, in n log n steps: in the order of the first objective, a point is
/// dominated if one before it is as good in the others. Those are kept as a staircase: the least
/// third value for each second value that matters.
std::vector<int> SweptFront(std::span<const Point> points) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) -> const Point& { return points[i]; });
  std::map<double, double> stairs;
  std::vector<int> front;
  for (const int i : order) {
    const double y = points[i][1], z = points[i].size() > 2 ? points[i][2] : 0;
    const auto behind = stairs.upper_bound(y);
    if (behind != stairs.begin() && std::prev(behind)->second <= z) continue;
    auto above = stairs.lower_bound(y);
    while (above != stairs.end() && above->second >= z) above = stairs.erase(above);
    stairs.emplace(y, z);
    front.push_back(i);
  }
  std::ranges::sort(front);
  return front;
}

}  // namespace

bool Dominates(std::span<const double> a, std::span<const double> b) {
  bool is_better = false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    is_better = is_better || a[k] < b[k];
  }
  return is_better;
}

std::vector<int> FrontOf(std::span<const Point> points) {
  if (points.empty()) return {};
  const bool has_order = std::ranges::none_of(points, [](const Point& point) {
    return std::ranges::any_of(point, [](double value) { return std::isnan(value); });
  });
  if (has_order && (points[0].size() == 2 || points[0].size() == 3)) return SweptFront(points);
  std::vector<int> front;
  for (int i = 0; i < std::ssize(points); ++i) {
    ExtendFront(front, i, [&](int f) -> const Point& { return points[f]; });
  }
  return front;
}

std::vector<int> RanksOf(std::span<const Point> points) {
  std::vector<int> ranks(points.size(), -1);
  std::vector<int> left(points.size());
  std::iota(left.begin(), left.end(), 0);
  for (int rank = 0; !left.empty(); ++rank) {
    std::vector<int> later;
    for (int i : left) {
      const bool is_dominated =
          std::ranges::any_of(left, [&](int j) { return Dominates(points[j], points[i]); });
      if (is_dominated) {
        later.push_back(i);
      } else {
        ranks[i] = rank;
      }
    }
    left = std::move(later);
  }
  return ranks;
}

std::vector<double> CrowdingDistances(std::span<const Point> front) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> distances(front.size(), 0);
  if (front.empty()) return distances;
  std::vector<int> order(front.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = 0; k < front[0].size(); ++k) {
    std::ranges::stable_sort(order, {}, [&](int i) { return front[i][k]; });
    const double range = front[order.back()][k] - front[order.front()][k];
    distances[order.front()] = distances[order.back()] = kInfinity;
    for (size_t i = 1; range > 0 && i + 1 < order.size(); ++i) {
      distances[order[i]] += (front[order[i + 1]][k] - front[order[i - 1]][k]) / range;
    }
  }
  return distances;
}

Bounds BoundsOf(std::span<const Point> points) {
  Bounds bounds = {points[0], points[0]};
  for (const Point& point : points) {
    for (size_t k = 0; k < point.size(); ++k) {
      bounds.ideal[k] = std::min(bounds.ideal[k], point[k]);
      bounds.nadir[k] = std::max(bounds.nadir[k], point[k]);
    }
  }
  return bounds;
}

Point DefaultReference(std::span<const Point> points, double margin) {
  std::vector<Point> front;
  for (int i : FrontOf(points)) front.push_back(points[i]);
  const Bounds of_front = BoundsOf(front);
  const Bounds of_all = BoundsOf(points);
  Point reference = of_front.nadir;
  for (size_t k = 0; k < reference.size(); ++k) {
    double range = of_front.Range(k);
    if (!(range > 0)) range = of_all.Range(k);
    reference[k] += margin * (range > 0 ? range : 1);
  }
  return reference;
}

}  // namespace bayloom::pareto
