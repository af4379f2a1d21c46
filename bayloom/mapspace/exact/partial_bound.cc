// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "bayloom/mapspace/exact/partial_mapping.h"

namespace bayloom::mapspace {

double PartialMappingModel::MostSharing(int tensor, const TileIndex& tile,
                                        Position position) const {
  const double fanout = FanoutFrom(position);
  if (windowed_[tensor]) return fanout;
  return std::min(fanout, Outside(tile) / RelevantOutside(tensor, tile));
}

double PartialMappingModel::MostKept(const OpenWindow& window, const TileIndex& tile, int axis,
                                     int dimension, double fanout) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  const auto farthest = [&](int d) {
    return tensor.Coefficient(axis, d) * (problem().bounds[d] - divisors_[d][tile[d]]);
  };
  const int64_t coefficient = tensor.Coefficient(axis, dimension);
  int64_t shift = coefficient * divisors_[dimension][tile[dimension]] - window.moved[axis];
  if (shift > 0) {  // other loops along the axis come back towards it
    for (int d = 0; d < dimensions_; ++d) shift -= d == dimension ? 0 : farthest(d);
    shift = std::max<int64_t>(0, shift);
  } else if (fanout > 1) {  // spatial loops lengthen its step
    shift = std::min<int64_t>(0, shift + farthest(dimension));
  }
  return std::max(0.0, 1 - static_cast<double>(std::abs(shift)) / window.width[axis]);
}

double PartialMappingModel::MostSaved(const OpenWindow& window, const TileIndex& tile,
                                      double fanout, int first, DimensionSet among) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  // The share that stays where loops return along the axis: of the first loop, of those that
  // follow.
  std::array<double, kMaxAxes> at_first = {}, still = {};
  double words = 1;
  double all_still = 1;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    words *= window.width[a];
    const double width = window.width[a];
    double moved = window.moved[a];
    at_first[a] = std::max(0.0, 1 - moved / width);
    if (first >= 0) {
      moved += static_cast<double>(tensor.Coefficient(a, first) * divisors_[first][tile[first]]);
    }
    still[a] = std::max(0.0, 1 - moved / width);
    all_still *= still[a];
  }
  double unmoving = 1;  // iterations
  for (int d = 0; d < dimensions_; ++d) {
    if (!IsRelevant(window.tensor, d) && (among >> d & 1) != 0) unmoving *= outside_[d][tile[d]];
  }
  struct Saving {
    double kept;   ///< share of the tile
    double count;  ///< iterations
  };
  double most = 0;
  for (int main = 0; main < tensor.AxisCount(); ++main) {
    std::array<Saving, kMaxDimensions + 1> savings;
    int n = 0;
    if (all_still > 0 && unmoving > 1) savings[n++] = {all_still, unmoving};
    for (int d = 0; d < dimensions_; ++d) {
      double count = outside_[d][tile[d]];
      if (count == 1 || !IsRelevant(window.tensor, d) || (among >> d & 1) == 0) continue;
      double kept = 1;
      for (int a = 0; a < tensor.AxisCount(); ++a) {
        if (tensor.Coefficient(a, d) == 0) {
          kept *= d == first ? at_first[a] : still[a];
          continue;
        }
        kept *= MostKept(window, tile, a, d, fanout);
        // Once a second axis has moved by its width, nothing stays.
        const auto step = static_cast<double>(tensor.Coefficient(a, d) * divisors_[d][tile[d]]);
        if (a != main) count = std::min(count, 1 + std::floor((window.width[a] - 1) / step));
      }
      if (kept > 0 && count > 1) savings[n++] = {kept, count};
    }
    std::ranges::sort(std::span(savings).first(n), std::greater(), &Saving::kept);
    double saved = 0;
    double sweeps = 1;
    for (const Saving& saving : std::span(savings).first(n)) {
      saved += sweeps * saving.kept * (1 - 1 / saving.count);
      sweeps /= saving.count;
    }
    most = std::max(most, saved);
  }
  return words * most;
}

uint32_t PartialMappingModel::MovedBy(int dimension) const {
  uint32_t moved = 0;
  for (int t = 0; t < tensor_count_; ++t) moved |= (moving_[t] >> dimension & 1) << t;
  return moved;
}

int PartialMappingModel::FindCourses(const PartialMapping& partial, Position position,
                                     bool looks_closer, Courses& courses) const {
  const double most = Outside(partial.tile);
  const double fanout = FanoutFrom(position);
  const DimensionSet all = (DimensionSet{1} << dimensions_) - 1;
  const DimensionSet moving =
      partial.window_count > 0 ? moving_[partial.windows[0].tensor] : DimensionSet{0};
  const Rest& rest = rest_[RestLevel(position.level)];
  const int64_t index = IndexOf(partial.tile);
  const bool is_limited = rest.is_limited && RestLevel(position.level) == position.level &&
                          FanoutFrom(position) == levels_[position.level].fanout_outside;
  int count = 0;
  const auto add = [&](int next, uint32_t moved, uint32_t closing, uint32_t whole) {
    Course& course = courses[count++];
    course.next = next;
    course.within = tensor_count_;
    DimensionSet among = all;
    for (int t = 0; t < tensor_count_; ++t) {
      course.iterations[t] = most;
      if ((closing >> t & 1) != 0) among &= ~relevant_[t];
      if ((moved >> t & 1) != 0) continue;
      double stays = 1;
      for (int d = 0; d < dimensions_; ++d) {
        if (IsRelevant(t, d)) continue;
        if (looks_closer && (closing >> t & 1) == 0 && (moving >> d & 1) != 0) continue;
        stays *= outside_[d][partial.tile[d]];
      }
      if (is_limited && looks_closer && !windowed_[t]) {
        if ((whole >> t & 1) != 0) {
          course.within = t;
        } else {
          stays = std::min(stays, rest.most_iterations[t][index]);
        }
      }
      course.iterations[t] = most / stays;
    }
    for (int i = 0; i < partial.window_count; ++i) {
      const OpenWindow& window = partial.windows[i];
      if ((moved >> window.tensor & 1) != 0) {
        course.words[i] = window.words * most;
        continue;
      }
      course.words[i] = std::max(window.words, volume_[window.tensor] / window.spread);
      if (!looks_closer) continue;
      const bool is_first = window.tensor == partial.windows[0].tensor;
      const double saved = MostSaved(window, partial.tile, fanout, next, is_first ? among : all);
      course.words[i] =
          std::max(course.words[i], (window.words - saved) * most * (1 - kCostRounding));
    }
  };
  ForEachNextLoop(partial.tile, [&](int next, uint32_t moved) {
    if (!looks_closer) return add(next, moved, ~uint32_t{0}, 0);
    uint32_t staying = 0;
    for (int t = 0; t < tensor_count_; ++t) {
      const bool is_open = partial.demands[t].open_asked > 0 || partial.demands[t].open[0] > 0;
      if (is_open && (moved >> t & 1) == 0 && !windowed_[t]) staying |= uint32_t{1} << t;
    }
    // Either every loop that moves the windows by their whole width is outside of those that leave
    // a tensor in place, or these are all that bring the windows anything new before.
    const bool has_window =
        partial.window_count > 0 && (moved >> partial.windows[0].tensor & 1) == 0;
    uint32_t may_close = 0;
    for (int t = 0; t < tensor_count_ && has_window; ++t) {
      if ((moving & ~relevant_[t]) != 0) may_close |= staying & uint32_t{1} << t;
    }
    // Either loops of the level and the first outside of it leave a tensor where it is, or those
    // that do are the level's.
    const uint32_t may_stay = is_limited ? staying : 0;
    for (uint32_t closing = may_close;; closing = (closing - 1) & may_close) {
      for (uint32_t whole = may_stay;; whole = (whole - 1) & may_stay) {
        add(next, moved, has_window ? closing : ~uint32_t{0}, whole);
        if (whole == 0) break;
      }
      if (closing == 0) break;
    }
  });
  return count;
}

double PartialMappingModel::LeastShared(const std::array<double, kMaxTensors>& asked,
                                        const std::array<double, kMaxTensors>& sharing,
                                        double fanout) const {
  std::array<double, kMaxTensors> alone = {};
  double sum = 0;
  for (int t = 0; t < tensor_count_; ++t) sum += alone[t] = asked[t] / sharing[t];
  if (!can_share_jointly_ || fanout == 1) return sum;
  // Instances that share a box of one tensor have different boxes of another: the product of how
  // many share is at most the fanout (of all three, where windows overlap, its 1.5th power). Sums
  // of quotients are least where all are equal.
  double least = sum;
  double product = 1;
  for (int t = 0; t < tensor_count_; ++t) {
    product *= asked[t];
    for (int u = 0; u < t; ++u) {
      const double pair = 2 * std::sqrt(asked[t] * asked[u] / fanout);
      least = std::max(least, sum - alone[t] - alone[u] + pair);
    }
  }
  if (tensor_count_ != 3) return least;
  const bool has_window = windowed_[0] || windowed_[1] || windowed_[2];
  return std::max(least, 3 * std::cbrt(product / (fanout * (has_window ? std::sqrt(fanout) : 1))));
}

double PartialMappingModel::LowerBound(PartialMapping& partial, Position position,
                                       double enough) const {
  Courses courses;
  int count = FindCourses(partial, position, /*looks_closer=*/false, courses);
  const double bound = BoundObjective(partial, position, std::span(courses).first(count));
  if (bound >= enough || !partial.IsOpen(tensor_count_)) return bound;
  const double most = Outside(partial.tile);
  const DimensionSet all = (DimensionSet{1} << dimensions_) - 1;
  for (int i = 0; i < partial.window_count; ++i) {
    OpenWindow& window = partial.windows[i];
    const double saved = MostSaved(window, partial.tile, FanoutFrom(position), -1, all);
    window.least_words = std::max({window.words, volume_[window.tensor] / window.spread,
                                   (window.words - saved) * most * (1 - kCostRounding)});
  }
  count = FindCourses(partial, position, /*looks_closer=*/true, courses);
  return std::max(bound, BoundObjective(partial, position, std::span(courses).first(count)));
}

template <typename Visit>
void PartialMappingModel::ForEachCost(const PartialMapping& partial, Position position, int k,
                                      std::span<const Course> courses, uint32_t asking,
                                      const Visit& visit) const {
  double bound = partial.costs[k];
  const double fanout = FanoutFrom(position);
  const int rest_level = RestLevel(position.level);
  const int64_t index = IndexOf(partial.tile);
  std::array<double, kMaxTensors> sharing = {}, at_least = {};
  for (int t = 0; t < tensor_count_; ++t) {
    sharing[t] = MostSharing(t, partial.tile, position);
    bound += NextOf(partial, t, position).once[t][k] - levels_[rest_level].once[t][k];
    if (problem().tensors[t].read_write) bound -= partial.saved[k] * sharing[t];
    if ((asking >> t & 1) == 0) continue;
    // Where a tile stays, instances outside share nothing of what is counted.
    const double iterations = RelevantOutside(t, partial.tile);
    at_least[t] = std::max(volume_[t], partial.demands[t].open_asked * iterations);
  }
  for (const Course& course : courses) {
    double own = rest_[rest_level].least[course.within][k][index];  // of what is kept
    double once = 0;  // of the levels outside, if each word is asked for by as few as can be
    std::array<double, kMaxTensors> words = {}, asked = {};
    for (int t = 0; t < tensor_count_; ++t) {
      const TensorDemand& demand = partial.demands[t];
      own += demand.open[k] * course.iterations[t];
      words[t] = std::max(demand.asked, demand.open_asked * course.iterations[t]);
    }
    for (int i = 0; i < partial.window_count; ++i) {
      const OpenWindow& window = partial.windows[i];
      own += window.weight[k] * course.words[i];
      if (window.is_asked) {
        words[window.tensor] = std::max(words[window.tensor], course.words[i] * window.boxes);
      }
    }
    for (int t = 0; t < tensor_count_; ++t) {
      const Level& level = NextOf(partial, t, position);
      if (problem().tensors[t].read_write) {
        own +=
            std::max(0.0, words[t] / sharing[t] - volume_[t] * sharing[t]) * level.least_read[t][k];
      }
      asked[t] = words[t] * level.least_asked[t][k];
      once += std::max(at_least[t] * level.least_asked[t][k], asked[t] / sharing[t]);
    }
    visit(course, bound + own + std::max(once, LeastShared(asked, sharing, fanout)));
  }
}

double PartialMappingModel::BoundComponent(const PartialMapping& partial, Position position, int k,
                                           std::span<const Course> courses) const {
  double least = std::numeric_limits<double>::infinity();
  ForEachCost(partial, position, k, courses, ~uint32_t{0},
              [&](const Course&, double cost) { least = std::min(least, cost); });
  if (k == 0) return least;
  const double outside_of_level = levels_[component_level_[k]].fanout_outside;
  return least / std::min(FanoutFrom(position), outside_of_level);
}

PartialMappingModel::KeptCosts PartialMappingModel::LeastKept(int level,
                                                              const TileIndex& tile) const {
  KeptCosts least;
  for (Costs& costs : least) costs.fill(std::numeric_limits<double>::infinity());
  // As if nothing inside had cost anything, or asked for what the level does not have to keep.
  PartialMapping partial;
  partial.tile = tile;
  const uint32_t must = mapspace_.constraints().levels[level].must_keep;
  Place(partial, level, must);
  partial.saved = {};
  const Position outside = {level + 1, false};
  Courses courses;
  const int count = FindCourses(partial, outside, /*looks_closer=*/true, courses);
  for (int k = 0; k < components_; ++k) {
    ForEachCost(partial, outside, k, std::span(courses).first(count), must,
                [&](const Course& course, double cost) {
                  least[tensor_count_][k] = std::min(least[tensor_count_][k], cost);
                  for (int t = 0; t < tensor_count_; ++t) {
                    if (course.next < 0 || IsRelevant(t, course.next)) continue;
                    least[t][k] = std::min(least[t][k], cost);
                  }
                });
  }
  return least;
}

double PartialMappingModel::BoundObjective(const PartialMapping& partial, Position position,
                                           std::span<const Course> courses) const {
  const double energy =
      objective_ == MapObjective::kDelay ? 1 : BoundComponent(partial, position, 0, courses);
  if (objective_ == MapObjective::kEnergy) return energy;
  double cycles = macs_ / (partial.multipliers * FanoutFrom(position));
  for (int k = 1; k < components_; ++k) {
    cycles = std::max(cycles, BoundComponent(partial, position, k, courses));
  }
  return energy * std::ceil(cycles * (1 - kCostRounding));
}

bool PartialMappingModel::AreWindowsAlike(const PartialMapping& a, const PartialMapping& b) const {
  if (a.window_count != b.window_count) return false;
  for (int i = 0; i < a.window_count; ++i) {
    const OpenWindow& x = a.windows[i];
    const OpenWindow& y = b.windows[i];
    if (x.tensor != y.tensor || x.is_asked != y.is_asked || x.width != y.width ||
        x.moved != y.moved || x.boxes != y.boxes || x.spread != y.spread) {
      return false;
    }
  }
  return true;
}

bool PartialMappingModel::Dominates(const PartialMapping& a, const PartialMapping& b,
                                    const TileIndex& tile, Position position) const {
  if (a.used_words > b.used_words || a.placed != b.placed) return false;
  if (objective_ != MapObjective::kEnergy && a.multipliers < b.multipliers) return false;
  const double most = Outside(tile);
  const bool are_alike = AreWindowsAlike(a, b);
  double sums = 1;  // what may still share the work of a sum
  std::array<double, kMaxTensors> sharing = {}, rest = {};
  for (int t = 0; t < tensor_count_; ++t) {
    sharing[t] = MostSharing(t, tile, position);
    rest[t] = RelevantOutside(t, tile);
    if (problem().tensors[t].read_write) sums = sharing[t];
  }
  for (int k = 0; k < components_; ++k) {
    double excess = a.costs[k] - b.costs[k];
    const double unsaved = b.saved[k] - a.saved[k];
    excess += unsaved > 0 ? unsaved * sums : unsaved;
    std::array<double, kMaxTensors> moves = {}, stays = {};
    for (int t = 0; t < tensor_count_; ++t) {
      const Level& level = NextOf(a, t, position);
      const double asked = a.demands[t].asked - b.demands[t].asked;
      const double fixed =
          asked > 0 ? asked * level.most_asked[t][k] : asked * level.least_asked[t][k] / sharing[t];
      const double open = a.demands[t].open[k] - b.demands[t].open[k];
      const double open_asked = a.demands[t].open_asked - b.demands[t].open_asked;
      const auto asked_again = [&](double fewest) {
        return open_asked > 0 ? open_asked * most * level.most_asked[t][k]
                              : open_asked * fewest * level.least_asked[t][k];
      };
      moves[t] = fixed + open * most + asked_again(std::max(rest[t], most / sharing[t]));
      stays[t] = fixed + open * (open > 0 ? most : rest[t]) + asked_again(rest[t]);
    }
    for (int i = 0; i < a.window_count; ++i) {
      const OpenWindow& window = a.windows[i];
      const int t = window.tensor;
      double weight = window.weight[k];
      const Level& level = NextOf(a, t, position);
      if (are_alike) {
        // What loops outside leave in place they leave of both.
        const OpenWindow& other = b.windows[i];
        const double more = (window.words - other.words) * most;
        double excess_words = weight * window.words * most - other.weight[k] * other.words * most;
        if (window.is_asked) {
          const double asked = more * window.boxes;
          excess_words += asked > 0 ? asked * level.most_asked[t][k]
                                    : asked * level.least_asked[t][k] / sharing[t];
        }
        const double saved = std::min(window.words * most - window.least_words,
                                      other.words * most - other.least_words);
        moves[t] += excess_words;
        stays[t] += excess_words + std::max(0.0, (other.weight[k] - weight) * saved);
        continue;
      }
      if (window.is_asked) weight += window.boxes * level.most_asked[t][k];
      moves[t] += weight * window.words * most;
      stays[t] += weight * window.words * most;
    }
    for (int i = 0; i < b.window_count && !are_alike; ++i) {
      const OpenWindow& window = b.windows[i];
      const int t = window.tensor;
      stays[t] -= window.weight[k] * window.least_words;
      moves[t] -= window.weight[k] * window.words * most;
      if (!window.is_asked) continue;
      const Level& level = NextOf(a, t, position);
      const double asked = window.words * window.boxes * most / sharing[t];
      stays[t] -= volume_[t] * level.least_asked[t][k];
      moves[t] -= std::max(volume_[t], asked) * level.least_asked[t][k];
    }
    double worst = -std::numeric_limits<double>::infinity();
    ForEachNextLoop(tile, [&](int, uint32_t moved) {
      double sum = 0;
      for (int t = 0; t < tensor_count_; ++t) sum += (moved >> t & 1) != 0 ? moves[t] : stays[t];
      worst = std::max(worst, sum);
    });
    excess += worst;
    if (excess > kCostRounding * std::abs(b.costs[k])) return false;
  }
  return true;
}

}  // namespace bayloom::mapspace
