// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/order_encoding.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bayloom::mapspace {

std::vector<OpenLevel> OpenLevels(const Mapspace& mapspace) {
  std::vector<OpenLevel> open;
  for (int l = 1; l < mapspace.architecture().LevelCount(); ++l) {
    std::vector<int> loops;
    for (int d : mapspace.FreeOrder(l)) {
      if (mapspace.problem().bounds[d] > 1) loops.push_back(d);
    }
    if (loops.size() > 1) open.push_back({l, std::move(loops)});
  }
  return open;
}

void SetOpenOrder(const Mapspace& mapspace, const OpenLevel& open, std::span<const int> order,
                  Mapping& mapping) {
  std::array<int, kMaxDimensions> all;
  auto end = all.begin();
  for (int d : mapspace.FreeOrder(open.level)) {
    if (std::ranges::find(open.loops, d) == open.loops.end()) *end++ = d;
  }
  end = std::ranges::copy(order, end).out;
  mapspace.SetOrder(open.level, std::span(all.begin(), end), mapping);
}

std::vector<int> OpenOrder(const OpenLevel& open, const Mapping& mapping) {
  std::vector<int> order;
  order.reserve(open.loops.size());
  for (int d : mapping.levels[open.level].order) {
    if (std::ranges::find(open.loops, d) != open.loops.end()) order.push_back(d);
  }
  return order;
}

std::string OrderName(const Mapspace& mapspace, const OpenLevel& open) {
  return "order." + mapspace.architecture().levels[open.level].name;
}

namespace {

/// Items are the open loops; their new order is innermost first.
class PermutationCoder final : public OrderCoder {
 public:
  PermutationCoder(const Mapspace& mapspace, space::Space::Builder& builder)
      : mapspace_(mapspace), open_(OpenLevels(mapspace)) {
    for (const OpenLevel& open : open_) {
      builder.Add(
          space::MakePermutation(OrderName(mapspace, open), static_cast<int>(open.loops.size())));
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const override {
    for (size_t i = 0; i < open_.size(); ++i) {
      std::array<int, kMaxDimensions> order;
      int loops = 0;
      for (int64_t item : std::get<std::vector<int64_t>>(values[i])) {
        order[loops++] = open_[i].loops[item];
      }
      SetOpenOrder(mapspace_, open_[i], std::span(order).first(loops), mapping);
    }
  }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const override {
    for (const OpenLevel& open : open_) {
      std::vector<int64_t> items;
      items.reserve(open.loops.size());
      for (int d : OpenOrder(open, mapping)) {
        items.push_back(std::ranges::find(open.loops, d) - open.loops.begin());
      }
      values.emplace_back(std::move(items));
    }
  }

 private:
  const Mapspace& mapspace_;
  std::vector<OpenLevel> open_;
};

class RankingCoder final : public OrderCoder {
 public:
  RankingCoder(const Mapspace& mapspace, space::Space::Builder& builder)
      : mapspace_(mapspace), open_(OpenLevels(mapspace)) {
    for (const OpenLevel& open : open_) {
      for (int d : open.loops) {
        builder.Add(space::MakeReal(
            OrderName(mapspace, open) + "." + mapspace.problem().dimensions[d], 0, 1));
      }
    }
  }

  void Apply(std::span<const space::Value> values, Mapping& mapping) const override {
    for (const OpenLevel& open : open_) {
      std::vector<int> order = open.loops;
      const auto importance = [&](int d) {
        const auto place = std::ranges::find(open.loops, d) - open.loops.begin();
        return std::get<double>(values[static_cast<size_t>(place)]);
      };
      std::ranges::stable_sort(order, {}, importance);
      SetOpenOrder(mapspace_, open, order, mapping);
      values = values.subspan(open.loops.size());
    }
  }

  void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const override {
    for (const OpenLevel& open : open_) {
      const std::vector<int> order = OpenOrder(open, mapping);
      for (int d : open.loops) {
        const auto place = static_cast<double>(std::ranges::find(order, d) - order.begin());
        values.emplace_back((place + 0.5) / static_cast<double>(order.size()));
      }
    }
  }

 private:
  const Mapspace& mapspace_;
  std::vector<OpenLevel> open_;
};

}  // namespace

std::unique_ptr<OrderCoder> MakePermutationCoder(const Mapspace& mapspace,
                                                 space::Space::Builder& builder) {
  return std::make_unique<PermutationCoder>(mapspace, builder);
}

std::unique_ptr<OrderCoder> MakeRankingCoder(const Mapspace& mapspace,
                                             space::Space::Builder& builder) {
  return std::make_unique<RankingCoder>(mapspace, builder);
}

}  // namespace bayloom::mapspace
