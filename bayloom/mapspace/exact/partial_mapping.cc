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
  FindRest();
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

bool PartialMappingModel::IsMoved(const OpenWindow& window, const TileIndex& tile) const {
  const TensorReuse& tensor = tensors_[window.tensor];
  int moved = 0;
  for (int a = 0; a < tensor.AxisCount(); ++a) {
    if (window.moved[a] < window.width[a]) continue;
    if (++moved > 1) return true;
    bool may_return = false;
    for (int d = 0; d < dimensions_; ++d) {
      if (tensor.Coefficient(a, d) == 0 || outside_[d][tile[d]] == 1) continue;
      // Loops that are alone along the axis step on by at least a tile; others come back by half of
      // what their dimension moves at most.
      if ((moving_[window.tensor] >> d & 1) != 0) return true;
      const int64_t farthest = tensor.Coefficient(a, d) * (problem().bounds[d] / 2);
      may_return = may_return || window.moved[a] - farthest < window.width[a];
    }
    if (!may_return) return true;
  }
  return false;
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
    if (IsMoved(partial.windows[i], partial.tile)) {
      CloseWindow(partial, i);
    } else {
      ++i;
    }
  }
}

OpenWindow PartialMappingModel::WindowOf(int tensor, const Extents& tile) const {
  OpenWindow window;
  window.tensor = static_cast<int8_t>(tensor);
  const auto widths = tensors_[tensor].Widths(tile);
  for (int a = 0; a < kMaxAxes; ++a) {
    window.width[a] = a < tensors_[tensor].AxisCount() ? static_cast<int32_t>(widths[a]) : 1;
    window.moved[a] = 0;
  }
  window.words = static_cast<double>(tensors_[tensor].BoxWords(tile));
  return window;
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
    OpenWindow window = WindowOf(t, extents);
    window.is_asked = true;
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

double PartialMappingModel::ValueOf(const PartialMapping& finished) const {
  const double energy = objective_ == MapObjective::kDelay ? 1 : finished.costs[0];
  if (objective_ == MapObjective::kEnergy) return energy;
  double cycles = macs_ / finished.multipliers;
  for (int k = 1; k < components_; ++k) cycles = std::max(cycles, finished.costs[k]);
  return energy * std::ceil(cycles * (1 - kCostRounding));
}

}  // namespace bayloom::mapspace
