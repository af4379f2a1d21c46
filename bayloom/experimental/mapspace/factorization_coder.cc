// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "bayloom/experimental/mapspace/encodings.h"

namespace bayloom::experimental {
namespace {

class FactorizationCoder final : public mapspace::TileCoder {
 public:
  FactorizationCoder(const mapspace::Mapspace& mapspace, const mapspace::AnalyticalModel& model,
                     space::Space::Builder& builder)
      : mapspace_(mapspace), model_(model) {
    for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
      if (!mapspace::HasChoice(mapspace, d)) continue;
      dimensions_.push_back(d);
      AddTo(builder,
            space::MakeFactorization(mapspace.problem().dimensions[d], mapspace.FreeExtent(d),
                                     static_cast<int>(mapspace.FreeSlots(d).size())));
    }
  }

  void Apply(std::span<const space::Value> values, mapspace::Mapping& mapping) const override {
    mapspace::WantedFactors wanted;
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      // Outermost first.
      const auto& factors = std::get<std::vector<int64_t>>(values[i]);
      std::ranges::reverse_copy(factors, wanted.Add(dimensions_[i]).begin());
    }
    mapspace::SetAllFactors(mapspace_, model_, wanted, mapping);
  }

  void AppendValues(const mapspace::Mapping& mapping,
                    std::vector<space::Value>& values) const override {
    for (int d : dimensions_) {
      std::vector<int64_t> factors;
      for (const mapspace::Mapspace::Slot& slot : mapspace_.FreeSlots(d)) {
        factors.push_back(mapspace::FactorAt(mapping, slot, d));
      }
      std::ranges::reverse(factors);  // outermost first
      values.emplace_back(std::move(factors));
    }
  }

 private:
  const mapspace::Mapspace& mapspace_;
  const mapspace::AnalyticalModel& model_;
  std::vector<int> dimensions_;
};

}  // namespace

std::unique_ptr<mapspace::TileCoder> MakeFactorizationCoder(const mapspace::Mapspace& mapspace,
                                                            const mapspace::AnalyticalModel& model,
                                                            space::Space::Builder& builder) {
  return std::make_unique<FactorizationCoder>(mapspace, model, builder);
}

}  // namespace bayloom::experimental
