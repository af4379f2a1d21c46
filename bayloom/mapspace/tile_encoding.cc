// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/tile_encoding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bayloom::mapspace {

int64_t LargestDivisor(int64_t number, double limit) {
  int64_t best = 1;
  for (int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    for (const int64_t divisor : {i, number / i}) {
      if (static_cast<double>(divisor) <= limit) best = std::max(best, divisor);
    }
  }
  return best;
}

std::string SlotName(const Mapspace& mapspace, int dimension, const Mapspace::Slot& slot) {
  return mapspace.problem().dimensions[dimension] + "." +
         mapspace.architecture().levels[slot.level].name + (slot.spatial ? ".spatial" : "");
}

namespace {

std::vector<double> Divisors(int64_t number) {
  std::vector<double> divisors;
  for (int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(static_cast<double>(i));
  }
  return divisors;
}

/// The divisor whose ratio to the wanted number is closest to 1.
int64_t NearestDivisor(int64_t number, int64_t wanted) {
  const int64_t below = LargestDivisor(number, static_cast<double>(wanted));
  if (below == wanted || below == number) return below;
  int64_t above = below + 1;
  while (number % above != 0) ++above;
  return static_cast<double>(above) * static_cast<double>(below) <
                 static_cast<double>(wanted) * static_cast<double>(wanted)
             ? above
             : below;
}

/// Gives each slot of a dimension, from the innermost outwards, the divisor of what is left that is
/// nearest to the wanted number, or the next smaller one that fits; the outermost takes the rest.
void SetFactors(const Mapspace& mapspace, const AnalyticalModel& model, int dimension,
                std::span<const int64_t> wanted, Mapping& mapping) {
  const std::vector<Mapspace::Slot>& slots = mapspace.FreeSlots(dimension);
  int64_t rest = mapspace.FreeExtent(dimension);
  for (size_t s = 0; s + 1 < slots.size(); ++s) {
    int64_t& factor = FactorAt(mapping, slots[s], dimension);
    factor = NearestDivisor(rest, wanted[s]);
    while (factor > 1 && !(mapspace.Repair(mapping) && model.Fits(mapping))) {
      factor = LargestDivisor(rest, static_cast<double>(factor - 1));
    }
    rest /= factor;
  }
  FactorAt(mapping, slots.back(), dimension) = rest;
}

/// The factors just as they are wanted. False, and nothing changes, if they cannot be.
bool SetAsWanted(const Mapspace& mapspace, const AnalyticalModel& model,
                 const WantedFactors& wanted, Mapping& mapping) {
  Mapping exact = mapping;
  for (const auto& [dimension, factors] : wanted.all()) {
    const std::vector<Mapspace::Slot>& slots = mapspace.FreeSlots(dimension);
    int64_t rest = mapspace.FreeExtent(dimension);
    for (size_t s = 0; s + 1 < slots.size(); ++s) {
      if (rest % factors[s] != 0) return false;
      FactorAt(exact, slots[s], dimension) = factors[s];
      rest /= factors[s];
    }
    FactorAt(exact, slots.back(), dimension) = rest;
  }
  if (!mapspace.Repair(exact) || !model.Fits(exact)) return false;
  mapping = std::move(exact);
  return true;
}

}  // namespace

bool HasChoice(const Mapspace& mapspace, int dimension) {
  return mapspace.FreeExtent(dimension) > 1 && mapspace.FreeSlots(dimension).size() > 1;
}

void FillClosedDimensions(const Mapspace& mapspace, Mapping& mapping) {
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    if (!HasChoice(mapspace, d)) mapspace.SetSplit(d, 0, mapping);
  }
}

void SetAllFactors(const Mapspace& mapspace, const AnalyticalModel& model,
                   const WantedFactors& wanted, Mapping& mapping) {
  FillClosedDimensions(mapspace, mapping);
  if (SetAsWanted(mapspace, model, wanted, mapping)) return;
  for (const auto& [dimension, factors] : wanted.all()) {
    SetFactors(mapspace, model, dimension, factors, mapping);
  }
}

namespace {

/// A number per dimension and slot but the outermost, any or a divisor of the bound.
class WantedFactorCoder final : public TileCoder {
 public:
  WantedFactorCoder(const Mapspace& mapspace, const AnalyticalModel& model, bool only_divisors,
                    space::Space::Builder& builder)
      : mapspace_(mapspace), model_(model) {
    for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
      if (!HasChoice(mapspace, d)) continue;
      const std::vector<Mapspace::Slot>& slots = mapspace.FreeSlots(d);
      for (size_t s = 0; s + 1 < slots.size(); ++s) {
        const std::string name = SlotName(mapspace, d, slots[s]);
        const int64_t extent = mapspace.FreeExtent(d);
        AddTo(builder, only_divisors
                           ? space::MakeOrdinal(name, Divisors(extent), space::Scale::kLog)
                           : space::MakeInteger(name, 1, extent, space::Scale::kLog));
      }
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const override {
    WantedFactors wanted;
    size_t next = 0;
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (!HasChoice(mapspace_, d)) continue;
      const std::span<int64_t> factors = wanted.Add(d);
      for (size_t s = 0; s + 1 < mapspace_.FreeSlots(d).size(); ++s) {
        factors[s] = std::get<int64_t>(values[next++]);
      }
    }
    SetAllFactors(mapspace_, model_, wanted, mapping);
  }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const override {
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (!HasChoice(mapspace_, d)) continue;
      const std::vector<Mapspace::Slot>& slots = mapspace_.FreeSlots(d);
      for (size_t s = 0; s + 1 < slots.size(); ++s) {
        values.emplace_back(FactorAt(mapping, slots[s], d));
      }
    }
  }

 private:
  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
};

}  // namespace

std::unique_ptr<TileCoder> MakeDivisorCoder(const Mapspace& mapspace, const AnalyticalModel& model,
                                            space::Space::Builder& builder) {
  return std::make_unique<WantedFactorCoder>(mapspace, model, true, builder);
}

std::unique_ptr<TileCoder> MakeRoundedIntegerCoder(const Mapspace& mapspace,
                                                   const AnalyticalModel& model,
                                                   space::Space::Builder& builder) {
  return std::make_unique<WantedFactorCoder>(mapspace, model, false, builder);
}

}  // namespace bayloom::mapspace
