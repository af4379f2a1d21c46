// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/internal/tile_encoding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bayloom::mapspace {
namespace {

/// The largest divisor that is not above the limit; at least 1.
int64_t DivisorBelow(int64_t number, double limit) {
  int64_t best = 1;
  for (int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    for (const int64_t divisor : {i, number / i}) {
      if (static_cast<double>(divisor) <= limit) best = std::max(best, divisor);
    }
  }
  return best;
}

std::vector<double> Divisors(int64_t number) {
  std::vector<double> divisors;
  for (int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(static_cast<double>(i));
  }
  return divisors;
}

/// The divisor whose ratio to the wanted number is closest to 1.
int64_t NearestDivisor(int64_t number, int64_t wanted) {
  const int64_t below = DivisorBelow(number, static_cast<double>(wanted));
  if (below == wanted || below == number) return below;
  int64_t above = below + 1;
  while (number % above != 0) ++above;
  return static_cast<double>(above) * static_cast<double>(below) <
                 static_cast<double>(wanted) * static_cast<double>(wanted)
             ? above
             : below;
}

std::string SlotName(const Mapspace& mapspace, int dimension, const Mapspace::Slot& slot) {
  return mapspace.problem().dimensions[dimension] + "." +
         mapspace.architecture().levels[slot.level].name + (slot.spatial ? ".spatial" : "");
}

/// Where there is nothing to choose: all that is left goes to the one slot.
void FillClosedDimensions(const Mapspace& mapspace, Mapping& mapping) {
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    if (!HasChoice(mapspace, d)) mapspace.SetSplit(d, 0, mapping);
  }
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
    while (factor > 1 && !(mapspace.Settle(mapping) && model.Fits(mapping))) {
      factor = DivisorBelow(rest, static_cast<double>(factor - 1));
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
  if (!mapspace.Settle(exact) || !model.Fits(exact)) return false;
  mapping = std::move(exact);
  return true;
}

}  // namespace

bool HasChoice(const Mapspace& mapspace, int dimension) {
  return mapspace.FreeExtent(dimension) > 1 && mapspace.FreeSlots(dimension).size() > 1;
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

class FactorizationCoder final : public TileCoder {
 public:
  FactorizationCoder(const Mapspace& mapspace, const AnalyticalModel& model,
                     space::Space::Builder& builder)
      : mapspace_(mapspace), model_(model) {
    for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
      if (!HasChoice(mapspace, d)) continue;
      dimensions_.push_back(d);
      AddTo(builder,
            space::MakeFactorization(mapspace.problem().dimensions[d], mapspace.FreeExtent(d),
                                     static_cast<int>(mapspace.FreeSlots(d).size())));
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const override {
    WantedFactors wanted;
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      // Outermost first.
      const auto& factors = std::get<std::vector<int64_t>>(values[i]);
      std::ranges::reverse_copy(factors, wanted.Add(dimensions_[i]).begin());
    }
    SetAllFactors(mapspace_, model_, wanted, mapping);
  }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const override {
    for (int d : dimensions_) {
      std::vector<int64_t> factors;
      for (const Mapspace::Slot& slot : mapspace_.FreeSlots(d)) {
        factors.push_back(FactorAt(mapping, slot, d));
      }
      std::ranges::reverse(factors);  // outermost first
      values.emplace_back(std::move(factors));
    }
  }

 private:
  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  std::vector<int> dimensions_;
};

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

/// From the innermost level outwards: the tile of a level has sides alpha * a_d (equation 4) with
/// the largest alpha for which it fits (equations 5 and 6), each side rounded down so that it is a
/// multiple of the side inside and divides the bound. A spatial slot is sized in the same way, by
/// the instances there are.
class AspectRatioCoder final : public TileCoder {
 public:
  AspectRatioCoder(const Mapspace& mapspace, const AnalyticalModel& model,
                   space::Space::Builder& builder)
      : mapspace_(mapspace), model_(model) {
    for (int l = 0; l < mapspace.architecture().LevelCount(); ++l) {
      for (const bool spatial : {true, false}) {
        Group group{{l, spatial}, {}};
        for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
          if (HasChoice(mapspace, d) && HasSlot(d, group.slot) && !IsLast(d, group.slot)) {
            group.dimensions.push_back(d);
            AddTo(builder, space::MakeReal(SlotName(mapspace, d, group.slot), kLeastRatio, 1,
                                           space::Scale::kLog));
          }
        }
        if (!group.dimensions.empty()) groups_.push_back(std::move(group));
      }
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const override {
    FillClosedDimensions(mapspace_, mapping);
    Extents rest = kUnitExtents;
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (HasChoice(mapspace_, d)) rest[d] = mapspace_.FreeExtent(d);
    }
    size_t next = 0;
    for (const Group& group : groups_) {
      const auto ratios = values.subspan(next, group.dimensions.size());
      next += group.dimensions.size();
      FitGroup(group, ratios, rest, mapping);
      for (int d : group.dimensions) rest[d] /= FactorAt(mapping, group.slot, d);
    }
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (HasChoice(mapspace_, d)) FactorAt(mapping, mapspace_.FreeSlots(d).back(), d) = rest[d];
    }
  }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const override {
    for (const Group& group : groups_) {
      std::vector<double> sides;
      for (int d : group.dimensions) {
        sides.push_back(static_cast<double>(FactorAt(mapping, group.slot, d)) *
                        Inside(group.slot, d, mapping));
      }
      const double longest = std::ranges::max(sides);
      for (double side : sides) values.emplace_back(std::max(kLeastRatio, side / longest));
    }
  }

  bool is_exact() const override { return false; }

 private:
  /// Sides more unlike than this are rounded to 1 anyway.
  static constexpr double kLeastRatio = 1e-3;
  static constexpr int kHalvings = 24;

  struct Group {
    Mapspace::Slot slot;
    std::vector<int> dimensions;
  };

  bool HasSlot(int d, const Mapspace::Slot& slot) const {
    return std::ranges::any_of(mapspace_.FreeSlots(d), [&](const Mapspace::Slot& other) {
      return other.level == slot.level && other.spatial == slot.spatial;
    });
  }

  bool IsLast(int d, const Mapspace::Slot& slot) const {
    const Mapspace::Slot& last = mapspace_.FreeSlots(d).back();
    return last.level == slot.level && last.spatial == slot.spatial;
  }

  void SetSides(const Group& group, std::span<const space::Value> ratios, const Extents& rest,
                double alpha, Mapping& mapping) const {
    for (size_t i = 0; i < group.dimensions.size(); ++i) {
      const int d = group.dimensions[i];
      const double side = alpha * std::get<double>(ratios[i]);
      FactorAt(mapping, group.slot, d) =
          DivisorBelow(rest[d], side / Inside(group.slot, d, mapping));
    }
  }

  /// What the factor of a slot multiplies to give the side that has the ratio: of a tile all
  /// inside of it, of the instances of a spatial slot nothing.
  static double Inside(const Mapspace::Slot& slot, int d, const Mapping& mapping) {
    double inside = 1;
    for (int l = 0; l <= slot.level && !slot.spatial; ++l) {
      const MappingLevel& level = mapping.levels[l];
      if (l < slot.level) inside *= static_cast<double>(level.temporal[d]);
      inside *= static_cast<double>(level.spatial[d]);
    }
    return inside;
  }

  void FitGroup(const Group& group, std::span<const space::Value> ratios, const Extents& rest,
                Mapping& mapping) const {
    double fits = 0;
    double too_large = 0;
    for (int d : group.dimensions) {
      too_large = std::max(too_large, static_cast<double>(mapspace_.problem().bounds[d]));
    }
    too_large = std::log(too_large / kLeastRatio) + 1;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (fits + too_large) / 2;
      SetSides(group, ratios, rest, std::exp(middle), mapping);
      (mapspace_.Settle(mapping) && model_.Fits(mapping) ? fits : too_large) = middle;
    }
    SetSides(group, ratios, rest, std::exp(fits), mapping);
  }

  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<TileCoder> MakeTileCoder(TileEncoding encoding, const Mapspace& mapspace,
                                         const AnalyticalModel& model,
                                         space::Space::Builder& builder) {
  switch (encoding) {
    case TileEncoding::kFactorization:
      return std::make_unique<FactorizationCoder>(mapspace, model, builder);
    case TileEncoding::kDivisor:
    case TileEncoding::kRoundedInteger:
      return std::make_unique<WantedFactorCoder>(mapspace, model,
                                                 encoding == TileEncoding::kDivisor, builder);
    case TileEncoding::kAspectRatio:
      return std::make_unique<AspectRatioCoder>(mapspace, model, builder);
  }
  return nullptr;
}

}  // namespace bayloom::mapspace
