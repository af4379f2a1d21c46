#include "bayloom/sketch/rules/rules.h"

#include <array>

namespace bayloom {

std::span<const Rule> CpuRules() {
  static constexpr std::array kRules = {
      Rule{"inline constants", InlineConstants},
      Rule{"auto inline", AutoInline},
      Rule{"add rfactor", AddRFactor},
      Rule{"multi-level tiling", MultiLevelTiling},
      Rule{"tile reduction", TileReduction},
      Rule{"parallelize, vectorize, unroll", ParallelizeVectorizeUnroll},
      Rule{"random compute location", RandomComputeLocation},
  };
  return kRules;
}

}  // namespace bayloom
