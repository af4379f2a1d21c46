// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/experimental/mapspace/encodings.h"

namespace bayloom::experimental {
namespace {

constexpr size_t kMaxCategoricalLoops = 5;

class CategoricalCoder final : public mapspace::OrderCoder {
 public:
  CategoricalCoder(const mapspace::Mapspace& mapspace, space::Space::Builder& builder)
      : mapspace_(mapspace), open_(mapspace::OpenLevels(mapspace)) {
    for (const mapspace::OpenLevel& open : open_) {
      if (open.loops.size() > kMaxCategoricalLoops) {
        throw InputError(fmt::format(
            "{} loops have too many orders for categories; encode them as permutation or ranking",
            open.loops.size()));
      }
      std::vector<int> order = open.loops;
      std::vector<std::string> names;
      auto& orders = orders_.emplace_back();
      do {
        std::string name;
        for (int d : order) name += mapspace.problem().dimensions[d];
        names.push_back(name);
        orders.emplace_back(name, order);
      } while (std::ranges::next_permutation(order).found);
      builder.Add(space::MakeCategorical(mapspace::OrderName(mapspace, open), names));
    }
  }

  void Apply(std::span<const space::Value> values, mapspace::Mapping& mapping) const override {
    for (size_t i = 0; i < open_.size(); ++i) {
      const auto found = std::ranges::find(orders_[i], std::get<std::string>(values[i]),
                                           &std::pair<std::string, std::vector<int>>::first);
      mapspace::SetOpenOrder(mapspace_, open_[i], found->second, mapping);
    }
  }

  void AppendValues(const mapspace::Mapping& mapping,
                    std::vector<space::Value>& values) const override {
    for (size_t i = 0; i < open_.size(); ++i) {
      values.emplace_back(std::ranges::find(orders_[i], mapspace::OpenOrder(open_[i], mapping),
                                            &std::pair<std::string, std::vector<int>>::second)
                              ->first);
    }
  }

 private:
  const mapspace::Mapspace& mapspace_;
  std::vector<mapspace::OpenLevel> open_;
  std::vector<std::vector<std::pair<std::string, std::vector<int>>>> orders_;
};

}  // namespace

std::unique_ptr<mapspace::OrderCoder> MakeCategoricalCoder(const mapspace::Mapspace& mapspace,
                                                           space::Space::Builder& builder) {
  return std::make_unique<CategoricalCoder>(mapspace, builder);
}

}  // namespace bayloom::experimental
