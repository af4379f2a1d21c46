// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/exact/partial_mapping.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

namespace bayloom::mapspace {
namespace {

std::vector<int64_t> DivisorsOf(int64_t bound) {
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= bound / i; ++i) {
    if (bound % i != 0) continue;
    divisors.push_back(i);
    if (i != bound / i) divisors.push_back(bound / i);
  }
  std::ranges::sort(divisors);
  return divisors;
}

/// The dimensions whose loops always move a tile by its whole width: those that are alone on an
/// axis, but for dimensions that run once.
DimensionSet MovingDimensions(const TensorReuse& tensor, const Extents& bounds) {
  DimensionSet moving = 0;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    DimensionSet along = 0;
    for (int d = 0; d < kMaxDimensions; ++d) {
      if (tensor.Coefficient(a, d) != 0 && bounds[d] > 1) along |= DimensionSet{1} << d;
    }
    if (std::has_single_bit(along)) moving |= along;
  }
  return moving;
}

}  // namespace

bool PartialMapping::IsOpen(int tensor_count) const {
  if (window_count > 0) return true;
  for (int t = 0; t < tensor_count; ++t) {
    if (demands[t].open_asked > 0 || demands[t].open[0] > 0) return true;
  }
  return false;
}

PartialMappingModel::PartialMappingModel(const Mapspace& mapspace, const AnalyticalModel& model,
                                         MapObjective objective)
    : mapspace_(mapspace),
      objective_(objective),
      dimensions_(mapspace.problem().DimensionCount()),
      tensor_count_(mapspace.problem().TensorCount()),
      macs_(static_cast<double>(mapspace.problem().Macs())),
      mac_energy_(model.architecture().arithmetic.mac_energy_pj) {
  for (int d = 0; d < dimensions_; ++d) {
    const std::vector<int64_t>& divisors = divisors_.emplace_back(DivisorsOf(problem().bounds[d]));
    std::vector<double>& outside = outside_.emplace_back();
    std::vector<std::vector<uint8_t>>& multiples = multiples_.emplace_back();
    for (const int64_t divisor : divisors) {
      outside.push_back(static_cast<double>(problem().bounds[d] / divisor));
      std::vector<uint8_t>& of = multiples.emplace_back();
      for (size_t j = 0; j < divisors.size(); ++j) {
        if (divisors[j] % divisor == 0) of.push_back(static_cast<uint8_t>(j));
      }
    }
    whole_[d] = static_cast<uint8_t>(divisors.size() - 1);
  }
  for (int t = 0; t < tensor_count_; ++t) {
    tensors_.emplace_back(problem().tensors[t]);
    relevant_[t] = problem().tensors[t].Indexed();
    for (int d = 0; d < dimensions_; ++d) {
      if (problem().bounds[d] == 1) relevant_[t] &= ~(DimensionSet{1} << d);
    }
    moving_[t] = MovingDimensions(tensors_[t], problem().Whole());
    windowed_[t] = moving_[t] != relevant_[t];
    // Words that are used: where a stride exceeds the window, a tile can do without those between.
    volume_[t] = static_cast<double>(tensors_[t].Spread(kUnitExtents, problem().Whole()).boxes);
  }
  DimensionSet shared = 0;
  for (int t = 0; t < tensor_count_; ++t) {
    DimensionSet free = ~relevant_[t] & ((DimensionSet{1} << dimensions_) - 1);
    for (int d = 0; d < dimensions_; ++d) {
      if (problem().bounds[d] == 1) free &= ~(DimensionSet{1} << d);
    }
    can_share_jointly_ = can_share_jointly_ && (shared & free) == 0;
    shared |= free;
  }
  FindWeights();
  FindBounds();
}

void PartialMappingModel::FindWeights() {
  const bool needs_cycles = objective_ != MapObjective::kEnergy;
  for (int l = 0; l < architecture().LevelCount(); ++l) {
    const StorageLevel& storage = architecture().levels[l];
    Level& level = levels_.emplace_back();
    level.read[0] = storage.EnergyPj(1, 0) / static_cast<double>(storage.block_words);
    level.write[0] = storage.EnergyPj(0, 1) / static_cast<double>(storage.block_words);
    if (storage.is_part) {
      level = levels_[l - 1];
      continue;
    }
    const auto add = [&](double bandwidth, bool reads, bool writes) {
      if (!needs_cycles || std::isinf(bandwidth) || components_ == kMaxComponents) return;
      component_level_[components_] = l;
      if (reads) level.read[components_] = 1 / bandwidth;
      if (writes) level.write[components_] = 1 / bandwidth;
      ++components_;
    };
    add(storage.read_bandwidth, true, false);
    add(storage.write_bandwidth, false, true);
    add(storage.shared_bandwidth, true, true);
  }
}

Costs PartialMappingModel::AskedOf(int tensor, int level) const {
  Costs costs = levels_[level].read;
  if (problem().tensors[tensor].read_write) AddWeights(costs, levels_[level].write, 1);
  return costs;
}

void PartialMappingModel::FindBounds() {
  const int outermost = architecture().LevelCount() - 1;
  double fanout = 1;
  for (int l = outermost; l >= 0; --l) {
    Level& level = levels_[l];
    level.fanout_outside = fanout;
    const Fanout feeds = architecture().FanoutOf(l);
    fanout *= static_cast<double>(feeds.x * feeds.y);
    level.fanout = fanout;
    for (int t = 0; t < tensor_count_; ++t) {
      const uint32_t bit = uint32_t{1} << t;
      const LevelConstraint& constraint = mapspace_.constraints().levels[l];
      const bool must =
          l == outermost || ((constraint.must_keep | constraint.memory_must_keep) & bit) != 0;
      const bool may = must || (constraint.must_bypass & bit) == 0;
      if (l < outermost) {
        level.least_asked[t] = levels_[l + 1].least_asked[t];
        level.most_asked[t] = levels_[l + 1].most_asked[t];
        level.least_read[t] = levels_[l + 1].least_read[t];
        level.once[t] = levels_[l + 1].once[t];
      }
      if (!may) continue;
      const Costs asked = AskedOf(t, l);
      // A first visit's sum is not read: only its update counts for certain.
      const Costs& certain = problem().tensors[t].read_write ? level.write : level.read;
      for (int k = 0; k < components_; ++k) {
        level.most_asked[t][k] = std::max(level.most_asked[t][k], asked[k]);
        const auto least = [&](double outside, double own) {
          return must ? own : std::min(outside, own);
        };
        level.least_asked[t][k] = least(level.least_asked[t][k], certain[k]);
        level.least_read[t][k] = least(level.least_read[t][k], level.read[k]);
        if (must && l < outermost) {
          level.once[t][k] += volume_[t] * (level.write[k] + levels_[l + 1].least_asked[t][k]);
        }
      }
    }
  }
}

Extents PartialMappingModel::ExtentsOf(const TileIndex& tile) const {
  Extents extents = kUnitExtents;
  for (int d = 0; d < dimensions_; ++d) extents[d] = divisors_[d][tile[d]];
  return extents;
}

double PartialMappingModel::Outside(const TileIndex& tile) const {
  double outside = 1;
  for (int d = 0; d < dimensions_; ++d) outside *= outside_[d][tile[d]];
  return outside;
}

double PartialMappingModel::RelevantOutside(int tensor, const TileIndex& tile) const {
  double outside = 1;
  for (int d = 0; d < dimensions_; ++d) {
    if (IsRelevant(tensor, d)) outside *= outside_[d][tile[d]];
  }
  return outside;
}

double PartialMappingModel::MostSharing(int tensor, const TileIndex& tile,
                                        Position position) const {
  const double fanout = FanoutFrom(position);
  if (windowed_[tensor]) return fanout;
  return std::min(fanout, Outside(tile) / RelevantOutside(tensor, tile));
}

PartialMapping PartialMappingModel::Empty() const {
  PartialMapping empty;
  empty.costs[0] = macs_ * mac_energy_;
  // Multipliers keep nothing: they ask for every word again.
  for (int t = 0; t < tensor_count_; ++t) empty.demands[t].asked = macs_;
  return empty;
}

double PartialMappingModel::Boxes(int tensor, const Extents& tile, const Extents& factors) const {
  if (windowed_[tensor]) return static_cast<double>(tensors_[tensor].Spread(tile, factors).boxes);
  double boxes = 1;
  for (int d = 0; d < dimensions_; ++d) {
    if (IsRelevant(tensor, d)) boxes *= static_cast<double>(factors[d]);
  }
  return boxes;
}

void PartialMappingModel::Spread(PartialMapping& partial, const TileIndex& tile) const {
  Extents factors = kUnitExtents;
  double instances = 1;
  const Extents inner = ExtentsOf(partial.tile);
  for (int d = 0; d < dimensions_; ++d) {
    factors[d] = divisors_[d][tile[d]] / inner[d];
    instances *= static_cast<double>(factors[d]);
  }
  partial.tile = tile;
  if (instances == 1) return;
  std::array<double, kMaxTensors> boxes = {};
  double sharing = 1;  // of sums
  for (int t = 0; t < tensor_count_; ++t) {
    boxes[t] = Boxes(t, inner, factors);
    if (problem().tensors[t].read_write) sharing = instances / boxes[t];
    TensorDemand& demand = partial.demands[t];
    demand.asked *= boxes[t] / instances;
    demand.open_asked *= boxes[t];
    demand.open[0] *= instances;
  }
  for (int i = 0; i < partial.window_count; ++i) {
    OpenWindow& window = partial.windows[i];
    window.weight[0] *= instances;
    window.spread *= instances;
    if (window.is_asked) window.boxes *= boxes[window.tensor];
  }
  partial.saved[0] *= sharing;
  for (int k = 1; k < components_; ++k) {
    partial.costs[k] /= instances;
    partial.saved[k] *= sharing / instances;
  }
  partial.multipliers *= instances;
}

void PartialMappingModel::CloseTensor(PartialMapping& partial, int tensor) const {
  TensorDemand& demand = partial.demands[tensor];
  const double outside = Outside(partial.tile);
  AddWeights(partial.costs, demand.open, outside);
  if (demand.open_asked > 0) demand.asked = demand.open_asked * outside;
  demand.open_asked = 0;
  demand.open = {};
}

void PartialMappingModel::CloseWindow(PartialMapping& partial, int index) const {
  const OpenWindow window = partial.windows[index];
  const double outside = Outside(partial.tile);
  AddWeights(partial.costs, window.weight, window.words * outside);
  if (window.is_asked) {
    partial.demands[window.tensor].asked = window.words * window.boxes * outside;
  }
  partial.windows[index] = partial.windows[--partial.window_count];
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
                                      double fanout) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  std::array<double, kMaxAxes> still = {};  // share that stays where loops return along the axis
  double words = 1;
  double all_still = 1;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    words *= window.width[a];
    still[a] = std::max(0.0, 1 - static_cast<double>(window.moved[a]) / window.width[a]);
    all_still *= still[a];
  }
  struct Saving {
    double kept;   ///< share of the tile
    double count;  ///< iterations
  };
  double most = 0;
  for (int main = 0; main < tensor.AxisCount(); ++main) {
    std::array<Saving, kMaxDimensions + 1> savings;
    int n = 0;
    savings[n++] = {all_still, Outside(tile) / RelevantOutside(window.tensor, tile)};
    for (int d = 0; d < dimensions_; ++d) {
      double count = outside_[d][tile[d]];
      if (count == 1 || !IsRelevant(window.tensor, d)) continue;
      double kept = 1;
      for (int a = 0; a < tensor.AxisCount(); ++a) {
        if (tensor.Coefficient(a, d) == 0) {
          kept *= still[a];
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

bool PartialMappingModel::IsMoved(const OpenWindow& window) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  int moved = 0;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    if (window.moved[a] < window.width[a]) continue;
    ++moved;
    // Loops along the axis step on by at least a tile, others return by more than one.
    for (int d = 0; d < dimensions_; ++d) {
      if (tensor.Coefficient(a, d) != 0 && (moving_[window.tensor] >> d & 1) != 0) return true;
    }
  }
  return moved > 1;
}

void PartialMappingModel::MoveWindow(OpenWindow& window, int dimension, int64_t count,
                                     const Extents& tile) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  double kept = 1;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    const int64_t step = tensor.Coefficient(a, dimension) * tile[dimension];
    kept *= static_cast<double>(
        std::max<int64_t>(0, window.width[a] - std::abs(step - window.moved[a])));
    window.moved[a] += static_cast<int32_t>((count - 1) * step);
  }
  const auto times = static_cast<double>(count);
  window.words = times * window.words - (times - 1) * kept;
}

void PartialMappingModel::Loop(PartialMapping& partial, int dimension, int divisor) const {
  const int64_t count =
      divisors_[dimension][divisor] / divisors_[dimension][partial.tile[dimension]];
  for (int t = 0; t < tensor_count_; ++t) {
    if (!windowed_[t] && IsRelevant(t, dimension)) CloseTensor(partial, t);
  }
  const Extents inner = ExtentsOf(partial.tile);
  partial.tile[dimension] = static_cast<uint8_t>(divisor);
  for (int i = 0; i < partial.window_count;) {
    MoveWindow(partial.windows[i], dimension, count, inner);
    if (IsMoved(partial.windows[i])) {
      CloseWindow(partial, i);
    } else {
      ++i;
    }
  }
}

void PartialMappingModel::Place(PartialMapping& partial, int level, uint32_t keep) const {
  const Extents extents = ExtentsOf(partial.tile);
  partial.placed |= keep;
  const bool is_outermost = level + 1 == architecture().LevelCount();
  for (int t = 0; t < tensor_count_; ++t) {
    if ((keep >> t & 1) == 0) continue;
    TensorDemand& demand = partial.demands[t];
    const Costs asked = AskedOf(t, level);
    AddWeights(partial.costs, asked, demand.asked);
    AddWeights(demand.open, asked, demand.open_asked);
    demand.asked = demand.open_asked = 0;
    for (int i = 0; i < partial.window_count; ++i) {
      OpenWindow& window = partial.windows[i];
      if (window.tensor != t || !window.is_asked) continue;
      AddWeights(window.weight, asked, window.boxes);
      window.is_asked = false;
    }
    if (problem().tensors[t].read_write) {
      AddWeights(partial.saved, levels_[level].read, volume_[t]);
    }
    if (is_outermost) continue;
    partial.used_words += tensors_[t].BoxWords(extents);
    const auto words = static_cast<double>(tensors_[t].BoxWords(extents));
    if (!windowed_[t]) {
      AddWeights(demand.open, levels_[level].write, words);
      demand.open_asked = words;
      continue;
    }
    OpenWindow window;
    window.tensor = static_cast<int8_t>(t);
    window.is_asked = true;
    const auto widths = tensors_[t].Widths(extents);
    for (int a = 0; a < kMaxAxes; ++a) {
      window.width[a] = a < tensors_[t].AxisCount() ? static_cast<int32_t>(widths[a]) : 1;
      window.moved[a] = 0;
    }
    window.words = words;
    window.weight = levels_[level].write;
    partial.windows[partial.window_count++] = window;
  }
  if (level == architecture().LastPart(level)) {
    partial.placed = 0;
    partial.used_words = 0;
  }
}

void PartialMappingModel::Finish(PartialMapping& partial) const {
  for (int t = 0; t < tensor_count_; ++t) CloseTensor(partial, t);
  while (partial.window_count > 0) CloseWindow(partial, 0);
  for (int k = 0; k < components_; ++k) partial.costs[k] -= partial.saved[k];
  partial.saved = {};
}

template <typename Visit>
void PartialMappingModel::ForEachNextLoop(const TileIndex& tile, const Visit& visit) const {
  bool is_whole = true;
  for (int d = 0; d < dimensions_; ++d) {
    if (outside_[d][tile[d]] == 1) continue;
    is_whole = false;
    uint32_t moved = 0;
    for (int t = 0; t < tensor_count_; ++t) moved |= (moving_[t] >> d & 1) << t;
    visit(moved);
  }
  if (is_whole) visit(~uint32_t{0});
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
  const double most = Outside(partial.tile);
  for (int i = 0; i < partial.window_count; ++i) {
    OpenWindow& window = partial.windows[i];
    window.least_words = std::max(window.words, volume_[window.tensor] / window.spread);
  }
  const double bound = BoundObjective(partial, position);
  if (partial.window_count == 0 || bound >= enough) return bound;
  for (int i = 0; i < partial.window_count; ++i) {
    OpenWindow& window = partial.windows[i];
    const double saved = MostSaved(window, partial.tile, FanoutFrom(position));
    window.least_words =
        std::max(window.least_words, (window.words - saved) * most * (1 - kCostRounding));
  }
  return BoundObjective(partial, position);
}

double PartialMappingModel::BoundComponent(const PartialMapping& partial, Position position,
                                           int k) const {
  double bound = partial.costs[k];
  const double most = Outside(partial.tile);
  const double fanout = FanoutFrom(position);
  struct Outcome {
    double own = 0;    // of what is kept
    double asked = 0;  // of the levels outside, in costs, but for what instances share
    double once = 0;   // the same at least
  };
  std::array<Outcome, kMaxTensors> stays, moves;
  std::array<double, kMaxTensors> sharing = {};
  for (int t = 0; t < tensor_count_; ++t) {
    const TensorDemand& demand = partial.demands[t];
    const Level& level = NextOf(partial, t, position);
    const bool is_output = problem().tensors[t].read_write;
    sharing[t] = MostSharing(t, partial.tile, position);
    const double rest = RelevantOutside(t, partial.tile);
    bound += level.once[t][k];
    if (is_output) bound -= partial.saved[k] * sharing[t];
    const auto outcome = [&](double iterations) {
      const double asked = std::max(demand.asked, demand.open_asked * iterations);
      const double back =
          is_output ? std::max(0.0, asked / sharing[t] - volume_[t] * sharing[t]) : 0;
      return Outcome{demand.open[k] * iterations + back * level.least_read[t][k],
                     asked * level.least_asked[t][k], volume_[t] * level.least_asked[t][k]};
    };
    stays[t] = outcome(rest);
    moves[t] = outcome(most);
    // Where it stays, instances outside share nothing of what is counted.
    stays[t].once = std::max(stays[t].once, demand.open_asked * rest * level.least_asked[t][k]);
    moves[t].once = std::max(moves[t].once, demand.open_asked * rest * level.least_asked[t][k]);
  }
  for (int i = 0; i < partial.window_count; ++i) {
    const OpenWindow& window = partial.windows[i];
    const int t = window.tensor;
    stays[t].own += window.weight[k] * window.least_words;
    moves[t].own += window.weight[k] * window.words * most;
    if (window.is_asked) {
      moves[t].asked +=
          window.words * window.boxes * most * NextOf(partial, t, position).least_asked[t][k];
    }
  }
  double least = std::numeric_limits<double>::infinity();
  ForEachNextLoop(partial.tile, [&](uint32_t moved) {
    double own = 0;
    double once = 0;
    std::array<double, kMaxTensors> asked = {};
    for (int t = 0; t < tensor_count_; ++t) {
      const Outcome& outcome = (moved >> t & 1) != 0 ? moves[t] : stays[t];
      own += outcome.own;
      asked[t] = outcome.asked;
      once += std::max(outcome.once, asked[t] / sharing[t]);
    }
    least = std::min(least, own + std::max(once, LeastShared(asked, sharing, fanout)));
  });
  bound += least;
  if (k == 0) return bound;
  const double outside_of_level = levels_[component_level_[k]].fanout_outside;
  return bound / std::min(fanout, outside_of_level);
}

double PartialMappingModel::BoundObjective(const PartialMapping& partial, Position position) const {
  const double energy =
      objective_ == MapObjective::kDelay ? 1 : BoundComponent(partial, position, 0);
  if (objective_ == MapObjective::kEnergy) return energy;
  double cycles = macs_ / (partial.multipliers * FanoutFrom(position));
  for (int k = 1; k < components_; ++k) {
    cycles = std::max(cycles, BoundComponent(partial, position, k));
  }
  return energy * std::ceil(cycles * (1 - kCostRounding));
}

double PartialMappingModel::ValueOf(const PartialMapping& finished) const {
  const double energy = objective_ == MapObjective::kDelay ? 1 : finished.costs[0];
  if (objective_ == MapObjective::kEnergy) return energy;
  double cycles = macs_ / finished.multipliers;
  for (int k = 1; k < components_; ++k) cycles = std::max(cycles, finished.costs[k]);
  return energy * std::ceil(cycles * (1 - kCostRounding));
}

bool PartialMappingModel::AreWindowsAlike(const PartialMapping& a, const PartialMapping& b) const {
  if (a.window_count != b.window_count) return false;
  for (int i = 0; i < a.window_count; ++i) {
    OpenWindow other = b.windows[i];
    other.weight = a.windows[i].weight;
    if (!(a.windows[i] == other)) return false;
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
      if (are_alike) {
        weight -= b.windows[i].weight[k];
        moves[t] += weight * window.words * most;
        stays[t] += weight * (weight > 0 ? window.words * most : window.least_words);
        continue;
      }
      const Level& level = NextOf(a, t, position);
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
    ForEachNextLoop(tile, [&](uint32_t moved) {
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
