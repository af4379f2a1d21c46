// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/experimental/mapspace/encodings.h"

namespace bayloom::experimental {
namespace {

/// From the innermost level outwards: the tile of a level has sides alpha * a_d (equation 4) with
/// the largest alpha for which it fits (equations 5 and 6), each side rounded down so that it is a
/// multiple of the side inside and divides the bound. A spatial slot is sized in the same way, by
/// the instances there are.
class AspectRatioCoder final : public mapspace::TileCoder {
 public:
  AspectRatioCoder(const mapspace::Mapspace& mapspace, const mapspace::AnalyticalModel& model,
                   space::Space::Builder& builder)
      : mapspace_(mapspace), model_(model) {
    for (int l = 0; l < mapspace.architecture().LevelCount(); ++l) {
      for (const bool spatial : {true, false}) {
        Group group{{l, spatial}, {}};
        for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
          if (mapspace::HasChoice(mapspace, d) && HasSlot(d, group.slot) &&
              !IsLast(d, group.slot)) {
            group.dimensions.push_back(d);
            AddTo(builder, space::MakeReal(mapspace::SlotName(mapspace, d, group.slot), kMinRatio,
                                           1, space::Scale::kLog));
          }
        }
        if (!group.dimensions.empty()) groups_.push_back(std::move(group));
      }
    }
  }

  void Apply(std::span<const space::Value> values, mapspace::Mapping& mapping) const override {
    mapspace::FillClosedDimensions(mapspace_, mapping);
    mapspace::Extents rest = mapspace::kUnitExtents;
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (mapspace::HasChoice(mapspace_, d)) rest[d] = mapspace_.FreeExtent(d);
    }
    size_t next = 0;
    for (const Group& group : groups_) {
      const auto ratios = values.subspan(next, group.dimensions.size());
      next += group.dimensions.size();
      FitGroup(group, ratios, rest, mapping);
      for (int d : group.dimensions) rest[d] /= mapspace::FactorAt(mapping, group.slot, d);
    }
    for (int d = 0; d < mapspace_.problem().DimensionCount(); ++d) {
      if (mapspace::HasChoice(mapspace_, d))
        mapspace::FactorAt(mapping, mapspace_.FreeSlots(d).back(), d) = rest[d];
    }
  }

  void AppendValues(const mapspace::Mapping& mapping,
                    std::vector<space::Value>& values) const override {
    for (const Group& group : groups_) {
      std::vector<double> sides;
      for (int d : group.dimensions) {
        sides.push_back(static_cast<double>(mapspace::FactorAt(mapping, group.slot, d)) *
                        Inside(group.slot, d, mapping));
      }
      const double longest = std::ranges::max(sides);
      for (double side : sides) values.emplace_back(std::max(kMinRatio, side / longest));
    }
  }

  bool is_exact() const override { return false; }

 private:
  /// Sides more unlike than this are rounded to 1 anyway.
  static constexpr double kMinRatio = 1e-3;
  static constexpr int kHalvings = 24;

  struct Group {
    mapspace::Mapspace::Slot slot;
    std::vector<int> dimensions;
  };

  bool HasSlot(int d, const mapspace::Mapspace::Slot& slot) const {
    return std::ranges::any_of(mapspace_.FreeSlots(d), [&](const mapspace::Mapspace::Slot& other) {
      return other.level == slot.level && other.spatial == slot.spatial;
    });
  }

  bool IsLast(int d, const mapspace::Mapspace::Slot& slot) const {
    const mapspace::Mapspace::Slot& last = mapspace_.FreeSlots(d).back();
    return last.level == slot.level && last.spatial == slot.spatial;
  }

  void SetSides(const Group& group, std::span<const space::Value> ratios,
                const mapspace::Extents& rest, double alpha, mapspace::Mapping& mapping) const {
    for (size_t i = 0; i < group.dimensions.size(); ++i) {
      const int d = group.dimensions[i];
      const double side = alpha * std::get<double>(ratios[i]);
      mapspace::FactorAt(mapping, group.slot, d) =
          mapspace::LargestDivisor(rest[d], side / Inside(group.slot, d, mapping));
    }
  }

  /// What the factor of a slot multiplies to give the side that has the ratio: of a tile all
  /// inside of it, of the instances of a spatial slot nothing.
  static double Inside(const mapspace::Mapspace::Slot& slot, int d,
                       const mapspace::Mapping& mapping) {
    double inside = 1;
    for (int l = 0; l <= slot.level && !slot.spatial; ++l) {
      const mapspace::MappingLevel& level = mapping.levels[l];
      if (l < slot.level) inside *= static_cast<double>(level.temporal[d]);
      inside *= static_cast<double>(level.spatial[d]);
    }
    return inside;
  }

  void FitGroup(const Group& group, std::span<const space::Value> ratios,
                const mapspace::Extents& rest, mapspace::Mapping& mapping) const {
    double fits = 0;
    double too_large = 0;
    for (int d : group.dimensions) {
      too_large = std::max(too_large, static_cast<double>(mapspace_.problem().bounds[d]));
    }
    too_large = std::log(too_large / kMinRatio) + 1;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (fits + too_large) / 2;
      SetSides(group, ratios, rest, std::exp(middle), mapping);
      (mapspace_.Repair(mapping) && model_.Fits(mapping) ? fits : too_large) = middle;
    }
    SetSides(group, ratios, rest, std::exp(fits), mapping);
  }

  const mapspace::Mapspace& mapspace_;
  const mapspace::AnalyticalModel& model_;
  std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<mapspace::TileCoder> MakeAspectRatioCoder(const mapspace::Mapspace& mapspace,
                                                          const mapspace::AnalyticalModel& model,
                                                          space::Space::Builder& builder) {
  return std::make_unique<AspectRatioCoder>(mapspace, model, builder);
}

}  // namespace bayloom::experimental
