// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/simulator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace bayloom::mapspace {
namespace {

using Words = std::set<std::vector<int64_t>>;

/// One loop of the nest: iteration i moves the origin of what is inside by i * stride.
struct Digit {
  int dimension;
  int64_t count;
  int64_t stride;
};

class Simulator {
 public:
  Simulator(const Problem& problem, const Mapping& mapping, int tensor)
      : problem_(problem), mapping_(mapping), tensor_(tensor) {
    Extents inside = kUnitExtents;
    for (const MappingLevel& level : mapping.levels) {
      std::vector<Digit>& spatial = spatial_.emplace_back();
      std::vector<Digit>& temporal = temporal_.emplace_back();
      for (int d = 0; d < problem.DimensionCount(); ++d) {
        spatial.push_back({d, level.spatial[d], inside[d]});
        inside[d] *= level.spatial[d];
      }
      for (int i = 0; i < problem.DimensionCount(); ++i) {
        const int d = level.order[i];
        temporal.insert(temporal.begin(), {d, level.temporal[d], inside[d]});
        inside[d] *= level.temporal[d];
      }
      tiles_.push_back(inside);
    }
  }

  TensorTraffic Run(int level) {
    int child = level - 1;
    while (child >= 0 && !mapping_.levels[child].Keeps(tensor_)) --child;
    TensorTraffic traffic;
    traffic.tile_words = static_cast<int64_t>(Box(level, {}).size());
    bool outermost = true;
    for (size_t l = level + 1; l < tiles_.size(); ++l) {
      outermost = outermost && !mapping_.levels[l].Keeps(tensor_);
    }
    if (!outermost) {
      Words held;
      EachStep(level, [&](const Extents& origin) {
        const Words box = Box(level, origin);
        traffic.fills += static_cast<int64_t>(Without(box, held).size());
        held = box;
      });
    }
    int64_t asked = 0;
    Words seen;
    std::map<std::vector<int64_t>, Words> held;  // per instance of the child, by its spatial origin
    EachStep(child, [&](const Extents& time) {
      // One instance of this level; those outside it stand still at their first.
      for (const Words& words : Requests(level, child, time, {}, held)) {
        asked += static_cast<int64_t>(words.size());
        seen.insert(words.begin(), words.end());
      }
    });
    const bool read_write = problem_.tensors[tensor_].read_write;
    traffic.updates = read_write ? asked : 0;
    traffic.reads = read_write ? asked - static_cast<int64_t>(seen.size()) : asked;
    return traffic;
  }

 private:
  /// The box that the tile of a level (-1: one multiplication) touches from this origin.
  Words Box(int level, const Extents& origin) const {
    const Extents tile = level < 0 ? kUnitExtents : tiles_[level];
    std::vector<std::vector<int64_t>> boxes = {{}};
    for (const auto& axis : problem_.tensors[tensor_].axes) {
      int64_t low = 0, high = 0;
      for (const AxisTerm& term : axis) {
        low += term.coefficient * origin[term.dimension];
        high += term.coefficient * (origin[term.dimension] + tile[term.dimension] - 1);
      }
      std::vector<std::vector<int64_t>> longer;
      for (const auto& prefix : boxes) {
        for (int64_t i = low; i <= high; ++i) {
          longer.push_back(prefix);
          longer.back().push_back(i);
        }
      }
      boxes = std::move(longer);
    }
    return {boxes.begin(), boxes.end()};
  }

  static Words Without(const Words& box, const Words& held) {
    Words rest;
    std::ranges::set_difference(box, held, std::inserter(rest, rest.end()));
    return rest;
  }

  static void Count(const std::vector<Digit>& digits, Extents origin,
                    const std::function<void(const Extents&)>& visit, size_t at = 0) {
    if (at == digits.size()) return visit(origin);
    for (int64_t i = 0; i < digits[at].count; ++i) {
      Count(digits, origin, visit, at + 1);
      origin[digits[at].dimension] += digits[at].stride;
    }
  }

  /// All temporal iterations outside a level's tile, in order.
  void EachStep(int level, const std::function<void(const Extents&)>& visit) const {
    std::vector<Digit> digits;
    for (int l = static_cast<int>(tiles_.size()) - 1; l > level; --l) {
      digits.insert(digits.end(), temporal_[l].begin(), temporal_[l].end());
    }
    Count(digits, {}, visit);
  }

  /// What one instance of a level asks for at one step: the new words of the children it feeds,
  /// equal requests of children side by side merged into one.
  std::vector<Words> Requests(int level, int child, const Extents& time, const Extents& place,
                              std::map<std::vector<int64_t>, Words>& held) const {
    if (level == child) {
      Extents origin = time;
      for (int d = 0; d < kMaxDimensions; ++d) origin[d] += place[d];
      const Words box = Box(child, origin);
      Words& before = held[{place.begin(), place.end()}];
      const Words fresh = Without(box, before);
      if (child >= 0) before = box;  // multipliers hold nothing
      return {fresh};
    }
    std::set<std::vector<Words>> distinct;
    Count(spatial_[level], place, [&](const Extents& inner) {
      distinct.insert(Requests(level - 1, child, time, inner, held));
    });
    std::vector<Words> all;
    for (const std::vector<Words>& requests : distinct) {
      all.insert(all.end(), requests.begin(), requests.end());
    }
    return all;
  }

  const Problem& problem_;
  const Mapping& mapping_;
  int tensor_;
  std::vector<std::vector<Digit>> spatial_, temporal_;  ///< per level, outermost first
  std::vector<Extents> tiles_;
};

}  // namespace

TensorTraffic SimulateTraffic(const Problem& problem, const Mapping& mapping, int level,
                              int tensor) {
  return Simulator(problem, mapping, tensor).Run(level);
}

}  // namespace bayloom::mapspace
