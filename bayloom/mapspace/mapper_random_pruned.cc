#include <algorithm>

#include "bayloom/mapspace/mapper_run.h"

namespace bayloom {
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
  void Search(MapperRun& run) override {
    while (std::optional<Mapping> mapping = run.DrawFitting()) {
      const int64_t orders = DistinctOrders(*mapping, run.mapspace().problem().DimensionCount());
      run.Evaluate(*mapping);
      for (int64_t i = 1; i < orders && !run.Done(); ++i) {
        run.mapspace().ShuffleOrders(run.random(), *mapping);
        run.CountDraw(true);
        run.Evaluate(*mapping);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Mapper> MakeRandomPrunedMapper(const MapperRun&) {
  return std::make_unique<RandomPrunedMapper>();
}

}  // namespace bayloom
