// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pareto/hypervolume.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace bayloom::pareto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What points added one after the other dominate in two objectives.
class Staircase {
 public:
  Staircase(double reference_x, double reference_y) {
    steps_[-kInfinity] = reference_y;
    steps_[reference_x] = -kInfinity;
  }

  /// The area that the point adds.
  double Add(double x, double y) {
    auto next = steps_.upper_bound(x);
    double height = std::prev(next)->second;  // what is undominated at x reaches up to here
    if (height <= y) return 0;
    double area = 0;
    double from = x;
    while (true) {
      area += (next->first - from) * (height - y);
      from = next->first;
      if (next->second <= y) break;
      height = next->second;
      next = steps_.erase(next);
    }
    steps_[x] = y;
    return area;
  }

 private:
  /// From each x up to the next one, what is below the value is not dominated.
  std::map<double, double> steps_;
};

double Area(std::span<const Point> points, std::span<const double> reference) {
  Staircase staircase(reference[0], reference[1]);
  double area = 0;
  for (const Point& point : points) area += staircase.Add(point[0], point[1]);
  return area;
}

double Volume(std::vector<Point> points, std::span<const double> reference) {
  std::ranges::sort(points, {}, [](const Point& point) { return point[2]; });
  Staircase staircase(reference[0], reference[1]);
  double volume = 0;
  for (const Point& point : points) {
    volume += staircase.Add(point[0], point[1]) * (reference[2] - point[2]);
  }
  return volume;
}

std::vector<Point> Front(std::span<const Point> points) {
  std::vector<Point> front;
  for (int i : FrontOf(points)) front.push_back(points[i]);
  return front;
}

double BoxVolume(const Point& point, std::span<const double> reference) {
  double volume = 1;
  for (size_t k = 0; k < point.size(); ++k) volume *= reference[k] - point[k];
  return volume;
}

/// The points are better than the reference in every objective.
double VolumeOf(std::vector<Point> points, std::span<const double> reference) {
  if (points.empty()) return 0;
  if (reference.size() == 2) return Area(points, reference);
  if (reference.size() == 3) return Volume(std::move(points), reference);
  if (reference.size() == 1) return reference[0] - BoundsOf(points).ideal[0];
  // Each point adds what it dominates and none of the later ones does. Those with bad values of the
  // last objective first: fewer of the others then reach into their boxes.
  std::ranges::sort(points, std::greater(), [](const Point& point) { return point.back(); });
  double volume = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<Point> limited(points.begin() + static_cast<int64_t>(i) + 1, points.end());
    for (Point& other : limited) {
      for (size_t k = 0; k < other.size(); ++k) other[k] = std::max(other[k], points[i][k]);
    }
    volume += BoxVolume(points[i], reference) - VolumeOf(Front(limited), reference);
  }
  return volume;
}

}  // namespace

double Hypervolume(std::span<const Point> points, std::span<const double> reference) {
  std::vector<Point> inside;
  for (const Point& point : points) {
    if (std::ranges::equal(point, reference, std::less())) inside.push_back(point);
  }
  return VolumeOf(Front(inside), reference);
}

}  // namespace bayloom::pareto
