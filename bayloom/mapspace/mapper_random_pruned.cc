// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/mapspace/mapper_context.h"

namespace bayloom::mapspace {
namespace {

/// Loop orders tried of one tiling, as in Timeloop's random-pruned search.
constexpr int64_t kOrdersOfATiling = 16;

/// Orders of the loops that run more than once, as far as they matter here.
int64_t DistinctOrders(const Mapping& mapping, int dimensions) {
  int64_t orders = 1;
  for (size_t l = 1; l < mapping.levels.size() && orders < kOrdersOfATiling; ++l) {
    int64_t moving = 0;
    for (int d = 0; d < dimensions; ++d) {
      if (mapping.levels[l].temporal[d] > 1) orders *= ++moving;
    }
  }
  return std::min(orders, kOrdersOfATiling);
}

class RandomPrunedMapper final : public Mapper {
 public:
  std::optional<Mapping> Next(MapperContext& context) override {
    if (orders_left_ > 0) {
      --orders_left_;
      context.mapspace().ShuffleOrders(context.random(), tiling_);
      context.CountDraw(true);
      return tiling_;
    }
    std::optional<Mapping> mapping = context.DrawFitting();
    if (mapping) {
      tiling_ = *mapping;
      orders_left_ = DistinctOrders(tiling_, context.mapspace().problem().DimensionCount()) - 1;
    }
    return mapping;
  }

  void Tell(Mapping, const trial::Outcome&, MapperContext&) override {}

 private:
  Mapping tiling_;
  int64_t orders_left_ = 0;  ///< of the tiling, to be drawn
};

}  // namespace

std::unique_ptr<Mapper> MakeRandomPrunedMapper(const MapperContext&) {
  return std::make_unique<RandomPrunedMapper>();
}

}  // namespace bayloom::mapspace
