// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives/legality.h"
#include "bayloom/tensor/primitives/tree.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::tensor {
namespace {

/// Where a block can be computed.
struct Locations {
  bool may_inline;
  std::vector<LoopId> around;  ///< all loops around the first reader
  std::vector<int64_t> legal;  ///< positions in `around`
};

Locations FindLocations(const Program& program, BlockId block) {
  Locations locations{CheckComputeInline(program, block).ok(), {}, {}};
  const std::vector<BlockId> readers = program.ReadersOf(program.blocks[block].output);
  if (readers.empty()) return locations;
  locations.around = program.LoopsAround(NodeRef::Block(readers[0]));
  for (LoopId loop : ComputeLocations(program, block)) {
    const auto found = std::find(locations.around.begin(), locations.around.end(), loop);
    locations.legal.push_back(found - locations.around.begin());
  }
  return locations;
}

/// Uniform over the legal loops, root, and inline where it is legal.
int64_t DrawLocation(const Locations& locations, base::RandomStream& random) {
  const auto loops = static_cast<int64_t>(locations.legal.size());
  const int64_t draw = random.UniformInt(loops + (locations.may_inline ? 2 : 1));
  if (draw < loops) return locations.legal[draw];
  return draw == loops ? kLocationRoot : kLocationInline;
}

/// The decision itself where it is legal, else the next legal loop outwards, in the end root.
int64_t RepairLocation(const Locations& locations, int64_t wanted) {
  if (wanted <= kLocationInline && locations.may_inline) return kLocationInline;
  int64_t best = kLocationRoot;
  for (int64_t position : locations.legal) {
    if (position <= wanted) best = position;
  }
  return best;
}

}  // namespace

Result<Schedule::Effect> Schedule::ExecuteSampleTile(const Instruction& instruction,
                                                     const Decision* decision) {
  const auto loop = static_cast<LoopId>(values_[instruction.inputs[0]]);
  if (Status s = CheckLoop(program_, loop); !s) return s.error();
  const int64_t extent = program_.ExtentOf(loop);
  const auto parts = static_cast<int>(instruction.attributes[0]);
  const int64_t max_innermost = instruction.attributes[1];
  std::optional<std::vector<int64_t>> tile =
      decision != nullptr ? RepairTiling(extent, decision->values, max_innermost)
                          : SamplePerfectTiling(extent, parts, max_innermost, random_);
  if (!tile) {
    return Error{
        fmt::format("no tiling of extent {} in {} parts has an innermost part of at most "
                    "{}",
                    extent, parts, max_innermost)};
  }
  return Effect{*tile, Decision{*tile}};
}

Result<Schedule::Effect> Schedule::ExecuteSampleCategory(const Instruction& instruction,
                                                         const Decision* decision) {
  const std::vector<int64_t>& candidates = instruction.attributes;
  const int64_t last = static_cast<int64_t>(candidates.size()) - 1;
  const int64_t index = decision != nullptr ? std::clamp<int64_t>(decision->values[0], 0, last)
                                            : random_.Weighted(instruction.weights);
  return Effect{{candidates[index]}, Decision{{index}}};
}

Result<Schedule::Effect> Schedule::ExecuteSampleLocation(const Instruction& instruction,
                                                         const Decision* decision) {
  const auto block = static_cast<BlockId>(values_[instruction.inputs[0]]);
  if (Status s = CheckBlock(program_, block); !s) return s.error();
  const Locations locations = FindLocations(program_, block);
  const int64_t choice = decision != nullptr ? RepairLocation(locations, decision->values[0])
                                             : DrawLocation(locations, random_);
  return Effect{{choice >= 0 ? locations.around[choice] : choice}, Decision{{choice}}};
}

}  // namespace bayloom::tensor
