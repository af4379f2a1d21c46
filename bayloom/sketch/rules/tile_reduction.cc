// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"

namespace bayloom::sketch {
namespace {

Status TileLastSpatial(tensor::Schedule& schedule, const std::string& name) {
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<LoopsByKind> loops = OwnLoopsByKind(schedule, *block);
  if (!loops) return loops.error();
  const auto& [spatial, reduction] = *loops;
  Result<std::vector<tensor::LoopVar>> split =
      TilePerfectly(schedule, spatial.back(), 2, kMaxInnermostFactor);
  if (!split) return split.error();
  std::vector<tensor::LoopVar> order(spatial.begin(), spatial.end() - 1);
  order.push_back((*split)[0]);
  order.insert(order.end(), reduction.begin(), reduction.end());
  order.push_back((*split)[1]);
  if (Status s = schedule.Reorder(order); !s) return s;
  return schedule.Annotate(*block, kTiled, 1);
}

}  // namespace

std::vector<tensor::Schedule> TileReduction(tensor::Schedule schedule, const std::string& name,
                                            const target::Target&) {
  const tensor::Program& program = schedule.program();
  const tensor::BlockId id = program.FindBlock(name);
  const tensor::Block& block = program.blocks[id];
  if (block.kind != tensor::BlockKind::kReduce || !IsUntransformed(program, id)) {
    return {std::move(schedule)};
  }
  const int last_spatial = LastSpatialIter(block);
  if (last_spatial < 0 || block.iters[last_spatial].extent == 1 ||
      !IsContiguousAlong(program, id, last_spatial)) {
    return {std::move(schedule)};
  }
  tensor::Schedule tiled = schedule;
  if (TileLastSpatial(tiled, name)) return {std::move(tiled)};
  return {std::move(schedule)};
}

}  // namespace bayloom::sketch
