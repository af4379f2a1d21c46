#include "bayloom/sketch/rules/rules.h"

namespace bayloom {

std::vector<Schedule> RandomComputeLocation(Schedule schedule, const std::string& name,
                                            const Target&) {
  const Program& program = schedule.program();
  const BlockId id = program.FindBlock(name);
  const Block& block = program.blocks[id];
  const bool movable = block.kind == BlockKind::kPlain || block.kind == BlockKind::kReduce;
  if (!movable || block.annotations.contains(kTiled) || block.annotations.contains(kPacked) ||
      program.ReadersOf(block.output).empty() ||
      program.buffers[block.output].role != BufferRole::kIntermediate) {
    return {std::move(schedule)};
  }
  Schedule moved = schedule;
  Result<BlockVar> var = moved.GetBlock(name);
  if (!var) return {std::move(schedule)};
  Result<LoopVar> location = moved.SampleComputeLocation(*var);
  if (!location || !moved.ComputeAt(*var, *location)) return {std::move(schedule)};
  return {std::move(moved)};
}

}  // namespace bayloom
