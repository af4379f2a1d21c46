#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom {
namespace {

Status TileLastSpatial(Schedule& schedule, const std::string& name) {
  Result<BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  const std::vector<Iter> iters = schedule.program().blocks[schedule.Get(*block)].iters;
  std::vector<LoopVar> spatial, reduction;
  for (size_t i = 0; i < iters.size(); ++i) {
    (iters[i].kind == IterKind::kSpatial ? spatial : reduction).push_back((*loops)[i]);
  }
  Result<std::vector<ValueVar>> tile =
      schedule.SamplePerfectTile(spatial.back(), 2, kMaxInnermostFactor);
  if (!tile) return tile.error();
  Result<std::vector<LoopVar>> split = schedule.Split(spatial.back(), *tile);
  if (!split) return split.error();
  std::vector<LoopVar> order(spatial.begin(), spatial.end() - 1);
  order.push_back((*split)[0]);
  order.insert(order.end(), reduction.begin(), reduction.end());
  order.push_back((*split)[1]);
  if (Status s = schedule.Reorder(order); !s) return s;
  return schedule.Annotate(*block, kTiled, 1);
}

}  // namespace

std::vector<Schedule> TileReduction(Schedule schedule, const std::string& name, const Target&) {
  const Program& program = schedule.program();
  const BlockId id = program.FindBlock(name);
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kReduce || !IsUntransformed(program, id)) {
    return {std::move(schedule)};
  }
  int last_spatial = -1;
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind == IterKind::kSpatial) last_spatial = i;
  }
  if (last_spatial < 0 || block.iters[last_spatial].extent == 1 ||
      !IsContiguousAlong(program, id, last_spatial)) {
    return {std::move(schedule)};
  }
  Schedule tiled = schedule;
  if (TileLastSpatial(tiled, name)) return {std::move(tiled)};
  return {std::move(schedule)};
}

}  // namespace bayloom
