// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

Status CheckIsMovableProducer(const Program& program, BlockId id) {
  if (Status s = CheckBlock(program, id); !s) return s;
  const Block& block = program.blocks[id];
  if (program.buffers[block.output].role != BufferRole::kIntermediate) {
    return Error{fmt::format("{} writes the output {}: it cannot be computed at a reader",
                             block.name, program.buffers[block.output].name)};
  }
  if (block.kind == BlockKind::kInit || block.kind == BlockKind::kUpdate) {
    return Error{
        fmt::format("the reduction of {} is decomposed already: move it before", block.name)};
  }
  return CheckNoLayouts(program, id);
}

/// Before the first child of `parent` that reads.
Result<Place> PlaceBeforeReaders(const Program& program, const Block& block,
                                 const std::vector<BlockId>& readers, NodeRef parent) {
  if (readers.empty()) return Error{fmt::format("nothing reads what {} computes", block.name)};
  Place place{parent, static_cast<int>(program.BodyOf(parent).size())};
  for (BlockId reader : readers) {
    const NodeRef node = NodeRef::Block(reader);
    if (!IsBelow(program, node, parent)) {
      return Error{fmt::format("{} reads {} outside of loop {}", program.blocks[reader].name,
                               block.name, parent.id)};
    }
    place.index =
        std::min(place.index, IndexInParent(program, ChildTowards(program, parent, node)));
  }
  return place;
}

/// What readers need of the output during one iteration of the place.
Result<Region> RegionNeeded(const Program& program, const Block& block,
                            const std::vector<BlockId>& readers, NodeRef parent) {
  const Buffer& buffer = program.buffers[block.output];
  if (!parent.is_loop()) {
    Region whole;
    for (int64_t extent : buffer.shape) whole.push_back({{}, 0, extent - 1});
    return whole;
  }
  DigitMask outer = DigitsAround(program, parent);
  for (NodeRef at = parent; at.is_loop(); at = program.ParentOf(at)) {
    if (SelectsPart(program.loops[at.id], buffer)) continue;
    for (DigitId digit : program.loops[at.id].digits) outer[digit] = false;
  }
  Region needed = ReadRegion(program, program.blocks[readers[0]], block.output, outer);
  for (size_t i = 1; i < readers.size(); ++i) {
    Unite(buffer, ReadRegion(program, program.blocks[readers[i]], block.output, outer), needed);
  }
  for (size_t d = 0; d < needed.size(); ++d) {
    Span bounds = needed[d];
    Widen(program, DigitMask(program.digit_extents.size()), bounds);
    if (bounds.min < 0 || bounds.max >= buffer.shape[d]) {
      return Error{
          fmt::format("the part of {} needed under loop {} may lie outside of it: its "
                      "readers guard their accesses",
                      buffer.name, parent.id)};
    }
  }
  return needed;
}

}  // namespace

Result<Placement> PlanComputeAt(const Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckIsMovableProducer(program, id); !s) return s.error();
  const NodeRef parent = loop < 0 ? NodeRef::Root() : NodeRef::Loop(loop);
  if (parent.is_loop()) {
    if (Status s = CheckLoop(program, loop); !s) return s.error();
  }
  if (Status s = CheckMayContainLoops(program, parent); !s) return s.error();
  const Block& block = program.blocks[id];
  const std::vector<BlockId> readers = program.ReadersOf(block.output);
  Result<Place> place = PlaceBeforeReaders(program, block, readers, parent);
  if (!place) return place.error();
  Result<Region> needed = RegionNeeded(program, block, readers, parent);
  if (!needed) return needed.error();
  Result<std::vector<int>> iter_of_dimension = IterOfDimension(program, block);
  if (!iter_of_dimension) return iter_of_dimension.error();

  Placement placement{*place, {}};
  for (const Iter& iter : block.iters) {
    placement.iters.push_back(IterOver({{}, 0, iter.extent - 1}));
  }
  for (size_t d = 0; d < needed->size(); ++d) {
    const int iter = (*iter_of_dimension)[d];
    if (iter >= 0) placement.iters[iter] = IterOver((*needed)[d]);
  }
  if (Status s = CheckInputsAvailable(program, id, SpansOf(placement), *place); !s) {
    return s.error();
  }
  return placement;
}

Status ComputeAt(Program& program, BlockId block, LoopId loop) {
  Result<Placement> placement = PlanComputeAt(program, block, loop);
  if (!placement) return placement.error();
  MoveBlock(program, block, *placement);
  return Ok();
}

std::vector<LoopId> ComputeLocations(const Program& program, BlockId block) {
  std::vector<LoopId> locations;
  const std::vector<BlockId> readers = program.ReadersOf(program.blocks[block].output);
  if (readers.empty()) return locations;
  NodeRef deepest = program.ParentOf(NodeRef::Block(readers[0]));
  for (BlockId reader : readers) {
    deepest = CommonAncestor(program, deepest, NodeRef::Block(reader));
  }
  if (!deepest.is_loop()) return locations;
  std::vector<LoopId> around = program.LoopsAround(deepest);
  around.push_back(deepest.id);
  for (LoopId loop : around) {
    if (program.ExtentOf(loop) == 1) continue;
    if (IsReductionLoop(program, loop)) break;
    if (PlanComputeAt(program, block, loop).ok()) locations.push_back(loop);
  }
  return locations;
}

}  // namespace bayloom::tensor
