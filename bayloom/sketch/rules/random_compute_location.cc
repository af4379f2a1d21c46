// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {

std::vector<tensor::Schedule> RandomComputeLocation(tensor::Schedule schedule,
                                                    const std::string& name,
                                                    const target::Target&) {
  const tensor::Program& program = schedule.program();
  const tensor::BlockId id = program.FindBlock(name);
  const tensor::Block& block = program.blocks[id];
  const bool movable =
      block.kind == tensor::BlockKind::kPlain || block.kind == tensor::BlockKind::kReduce;
  if (!movable || block.annotations.contains(kTiled) || block.annotations.contains(kPacked) ||
      program.ReadersOf(block.output).empty() ||
      program.buffers[block.output].role != tensor::BufferRole::kIntermediate) {
    return {std::move(schedule)};
  }
  tensor::Schedule moved = schedule;
  Result<tensor::BlockVar> var = moved.GetBlock(name);
  if (!var) return {std::move(schedule)};
  Result<tensor::LoopVar> location = moved.SampleComputeLocation(*var);
  if (!location || !moved.ComputeAt(*var, *location)) return {std::move(schedule)};
  return {std::move(moved)};
}

}  // namespace bayloom::sketch
