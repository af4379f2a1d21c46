// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/encoding.h"

#include <span>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/order_encoding.h"
#include "bayloom/mapspace/tile_encoding.h"

namespace bayloom::mapspace {
namespace {

/// Free tensors of a level: kept or bypassed, a category each.
class KeepEncoding {
 public:
  KeepEncoding(const Mapspace& mapspace, space::Space::Builder& builder) {
    for (int l = 0; l < mapspace.architecture().LevelCount(); ++l) {
      for (int t = 0; t < mapspace.problem().TensorCount(); ++t) {
        if ((mapspace.FreeKeep(l) >> t & 1) == 0) continue;
        places_.push_back({l, t});
        names_.push_back("keep." + mapspace.architecture().levels[l].name + "." +
                         mapspace.problem().tensors[t].name);
        builder.Add(space::MakeCategorical(names_.back(), {"bypass", "keep"}));
      }
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const {
    for (const Place& place : places_) {
      values.emplace_back(
          std::string(mapping.levels[place.level].Keeps(place.tensor) ? "keep" : "bypass"));
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      const uint32_t bit = uint32_t{1} << places_[i].tensor;
      uint32_t& keep = mapping.levels[places_[i].level].keep;
      keep = std::get<std::string>(values[i]) == "keep" ? keep | bit : keep & ~bit;
    }
  }

 private:
  struct Place {
    int level, tensor;
  };
  std::vector<Place> places_;
  std::vector<std::string> names_;
};

class MapspaceEncoding final : public MappingEncoding {
 public:
  MapspaceEncoding(const Mapspace& mapspace, const AnalyticalModel& model,
                   const TileEncodingMaker& make_tiles, const OrderEncodingMaker& make_orders)
      : mapspace_(mapspace), model_(model) {
    space::Space::Builder builder;
    keeps_ = std::make_unique<KeepEncoding>(mapspace, builder);
    tiles_ = make_tiles(mapspace, model, builder);
    orders_ = make_orders(mapspace, builder);
    Result<std::shared_ptr<const space::Space>> space = builder.Build();
    if (!space) throw InputError("no mapping fits: " + space.error().message);
    space_ = *std::move(space);
  }

  std::optional<Mapping> Decode(const space::Configuration& configuration) const override {
    std::vector<space::Value> values;
    values.reserve(static_cast<size_t>(space_->size()));
    for (int i = 0; i < space_->size(); ++i) values.push_back(space_->ValueOf(configuration, i));
    std::span<const space::Value> rest = values;
    Mapping mapping = mapspace_.Skeleton();
    keeps_->Apply(rest, mapping);
    rest = rest.subspan(keeps_->names().size());
    tiles_->Apply(rest, mapping);
    rest = rest.subspan(tiles_->names().size());
    orders_->Apply(rest, mapping);
    if (!mapspace_.Repair(mapping) || !model_.Fits(mapping)) return std::nullopt;
    mapspace_.StandardizeOrders(mapping);
    return mapping;
  }

  Result<space::Configuration> Encode(const Mapping& mapping) const override {
    Mapping standard = mapping;
    mapspace_.StandardizeOrders(standard);
    std::vector<space::Value> values;
    values.reserve(static_cast<size_t>(space_->size()));
    keeps_->AppendValues(standard, values);
    tiles_->AppendValues(standard, values);
    orders_->AppendValues(standard, values);
    space::Configuration configuration;
    configuration.coordinates.reserve(values.size());
    for (int i = 0; i < space_->size(); ++i) {
      const space::Parameter& parameter = space_->parameter(i);
      const Result<double> coordinate = parameter.CoordinateOf(values[static_cast<size_t>(i)]);
      if (!coordinate) return Error{parameter.name() + ": " + coordinate.error().message};
      configuration.coordinates.push_back(*coordinate);
    }
    return configuration;
  }

  space::Configuration Canonical(const space::Configuration& configuration) const override {
    if (!tiles_->is_exact()) return MappingEncoding::Canonical(configuration);
    const std::optional<Mapping> mapping = Decode(configuration);
    if (!mapping) return configuration;
    const Result<space::Configuration> canonical = Encode(*mapping);
    return canonical ? *canonical : configuration;
  }

 private:
  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  std::unique_ptr<KeepEncoding> keeps_;
  std::unique_ptr<TileCoder> tiles_;
  std::unique_ptr<OrderCoder> orders_;
};

}  // namespace

space::Configuration MappingEncoding::Canonical(const space::Configuration& configuration) const {
  const std::optional<Mapping> mapping = Decode(configuration);
  if (!mapping) return configuration;
  const Result<space::Configuration> canonical = Encode(*mapping);
  return canonical && Decode(*canonical) == mapping ? *canonical : configuration;
}

base::Registry<TileEncodingMaker>& TileEncodings() {
  static base::Registry<TileEncodingMaker> encodings(
      "tile encoding",
      {{"divisor", "a divisor of the bound per dimension and level", MakeDivisorCoder},
       {"integer", "a whole number per dimension and level, rounded to a factor",
        MakeRoundedIntegerCoder}});
  return encodings;
}

base::Registry<OrderEncodingMaker>& OrderEncodings() {
  static base::Registry<OrderEncodingMaker> encodings(
      "order encoding",
      {{"permutation", "a permutation per level", MakePermutationCoder},
       {"ranking", "a real per loop and level, its importance", MakeRankingCoder}});
  return encodings;
}

std::unique_ptr<MappingEncoding> MakeMappingEncoding(const Mapspace& mapspace,
                                                     const AnalyticalModel& model,
                                                     const std::string& tiles,
                                                     const std::string& orders) {
  return std::make_unique<MapspaceEncoding>(mapspace, model, TileEncodings().At(tiles),
                                            OrderEncodings().At(orders));
}

}  // namespace bayloom::mapspace
