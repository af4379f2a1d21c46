// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// A block below adds up over a loop outside: what two tiles share would be added twice.
Status CheckComputesWholeTiles(const Program& program, LoopId loop) {
  std::string offender;
  const std::vector<LoopId> outside = program.LoopsAround(NodeRef::Loop(loop));
  ForEachBlockBelow(program, NodeRef::Loop(loop), [&](BlockId id) {
    const Block& block = program.blocks[id];
    bool refused = block.kind == BlockKind::kUpdate || block.kind == BlockKind::kInit;
    refused |= ReducesOver(program, block, program.loops[loop].digits);
    for (LoopId outer : outside)
      refused |= ReducesOver(program, block, program.loops[outer].digits);
    if (refused) offender = block.name;
  });
  if (offender.empty()) return Ok();
  return Error{
      fmt::format("cannot split loop {} into overlapping tiles: {} would add to an element twice",
                  loop, offender)};
}

}  // namespace

std::optional<OverlappingTiles> FindOverlappingTiles(int64_t extent, int64_t tile) {
  if (tile < 1 || tile > extent) return std::nullopt;
  const int64_t rest = extent - tile;
  int64_t step = std::min(tile, rest);
  if (rest == 0) return OverlappingTiles{1, tile};
  while (rest % step != 0) --step;
  return OverlappingTiles{rest / step + 1, step};
}

Result<std::array<LoopId, 2>> SplitOverlapping(Program& program, LoopId loop, int64_t tile) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s.error();
  const std::vector<DigitId> digits = program.loops[loop].digits;
  if (digits.size() != 1) {
    return Error{fmt::format("cannot split loop {} into overlapping tiles: it is fused", loop)};
  }
  const int64_t extent = program.ExtentOf(loop);
  const std::optional<OverlappingTiles> tiles = FindOverlappingTiles(extent, tile);
  if (!tiles) {
    return Error{
        fmt::format("cannot split a loop of extent {} into tiles of {}: a tile is between "
                    "1 and the extent",
                    extent, tile)};
  }
  if (tiles->step != tile) {
    if (Status s = CheckComputesWholeTiles(program, loop); !s) return s.error();
  }
  const DigitId which = NewDigit(program, tiles->count), within = NewDigit(program, tile);
  const std::array<LoopId, 2> nest = {NewLoop(program, {which}), NewLoop(program, {within})};
  ForEachBlockBelow(program, NodeRef::Loop(loop), [&](BlockId block) {
    for (Affine& binding : program.blocks[block].bindings) {
      const int64_t coefficient = binding.CoefficientOf(digits[0]);
      if (coefficient == 0) continue;
      binding.Add(digits[0], -coefficient);
      binding.Add(which, coefficient * tiles->step);
      binding.Add(within, coefficient);
    }
  });
  program.loops[nest[0]].unroll_max_step = program.loops[loop].unroll_max_step;
  SetBody(program, nest[1], std::move(program.loops[loop].body));
  ReplaceNode(program, NodeRef::Loop(loop), Nest(program, {nest[0]}, NodeRef::Loop(nest[1])));
  program.loops[loop].alive = false;
  return nest;
}

}  // namespace bayloom::tensor
