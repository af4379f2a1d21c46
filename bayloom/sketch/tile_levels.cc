// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/internal/tile_levels.h"

#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

constexpr int kSpatialLevels = 4;
constexpr int kReductionLevels = 2;

}  // namespace

Result<std::array<tensor::LoopVar, 2>> TileInLevels(tensor::Schedule& schedule,
                                                    tensor::BlockVar block,
                                                    const std::vector<tensor::LoopVar>& loops,
                                                    size_t batch) {
  std::vector<tensor::LoopVar> spatial[kSpatialLevels], reduction[kReductionLevels];
  const std::vector<tensor::Iter> iters = schedule.program().blocks[schedule.Get(block)].iters;
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool is_spatial = iters[i].kind == tensor::IterKind::kSpatial;
    std::vector<tensor::LoopVar>* levels = is_spatial ? spatial : reduction;
    if (iters[i].extent == 1 || i < batch) {
      levels[0].push_back(loops[i]);
      continue;
    }
    const int parts = is_spatial ? kSpatialLevels : kReductionLevels;
    Result<std::vector<tensor::ValueVar>> tile =
        schedule.SamplePerfectTile(loops[i], parts, kMaxInnermostFactor);
    if (!tile) return tile.error();
    Result<std::vector<tensor::LoopVar>> split = schedule.Split(loops[i], *tile);
    if (!split) return split.error();
    for (int level = 0; level < parts; ++level) levels[level].push_back((*split)[level]);
  }
  std::vector<tensor::LoopVar> order;
  for (const std::vector<tensor::LoopVar>* level :
       {&spatial[0], &spatial[1], &reduction[0], &spatial[2], &reduction[1], &spatial[3]}) {
    order.insert(order.end(), level->begin(), level->end());
  }
  if (Status s = schedule.Reorder(order); !s) return s.error();
  const tensor::LoopVar first = spatial[0].back();
  return std::array<tensor::LoopVar, 2>{first, spatial[1].empty() ? first : spatial[1].back()};
}

}  // namespace bayloom::sketch
