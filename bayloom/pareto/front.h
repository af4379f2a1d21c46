// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <utility>
#include <vector>

namespace bayloom::pareto {

/// The values of all objectives of one trial; every one is minimized.
using Point = std::vector<double>;

/// Whether `a` is nowhere worse than `b` and somewhere better. Both have the same length.
bool Dominates(std::span<const double> a, std::span<const double> b);

/// Adds a member to a front unless one is as good in everything, and takes out what it dominates.
/// `values(member)` are the values of a member's objectives. Whether it was added; then it is the
/// last.
template <typename Member, typename Values>
bool ExtendFront(std::vector<Member>& front, Member member, const Values& values) {
  const Point& point = values(member);
  for (const Member& other : front) {
    const Point& known = values(other);
    if (known == point || Dominates(known, point)) return false;
  }
  std::erase_if(front, [&](const Member& other) { return Dominates(point, values(other)); });
  front.push_back(std::move(member));
  return true;
}

/// The places of the points that no other one dominates, in their order; of equal points the first
/// only.
std::vector<int> FrontOf(std::span<const Point> points);

/// How many fronts lie before each point: 0 for the points that none dominates, 1 for those that
/// are not dominated without them, and so on (non-dominated sorting, Deb et al. 2002, sec. III-A).
std::vector<int> RanksOf(std::span<const Point> points);

/// How lonely each point of a front is: the sum over the objectives of the distance between its
/// neighbours in that objective, each in proportion to the range; infinity for the extreme points
/// (Deb et al. 2002, sec. III-B).
std::vector<double> CrowdingDistances(std::span<const Point> front);

/// The corners of the smallest box around the points.
struct Bounds {
  Point ideal;  ///< the least value of each objective
  Point nadir;  ///< the greatest

  /// The length of the box in an objective.
  double Range(size_t objective) const { return nadir[objective] - ideal[objective]; }
};
/// There is at least one point.
Bounds BoundsOf(std::span<const Point> points);

/// What hypervolumes are measured from by default: the worst values on the front and a tenth
/// of the front's range more, or another `margin`. Where all points of the front agree in an
/// objective, its range is that of all points, or 1. There is at least one point.
Point DefaultReference(std::span<const Point> points, double margin = 0.1);

}  // namespace bayloom::pareto
