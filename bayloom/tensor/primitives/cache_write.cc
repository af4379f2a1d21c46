// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/copy_block.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// The innermost loop that the block shares with one of its readers: there its output must be
/// ready after each iteration.
NodeRef ScopeOfOutput(const Program& program, BlockId id) {
  NodeRef innermost = NodeRef::Root();
  for (BlockId reader : program.ReadersOf(program.blocks[id].output)) {
    const NodeRef shared = CommonAncestor(program, NodeRef::Block(id), NodeRef::Block(reader));
    if (IsBelow(program, shared, innermost)) innermost = shared;
  }
  return innermost;
}

}  // namespace

Result<BlockId> CacheWrite(Program& program, BlockId id, StorageScope scope) {
  if (Status s = CheckBlock(program, id); !s) return s.error();
  const BufferId output = program.blocks[id].output;
  const std::string name = program.blocks[id].name;
  if (program.blocks[id].kind == BlockKind::kInit ||
      program.blocks[id].kind == BlockKind::kUpdate) {
    return Error{fmt::format("the reduction of {} is decomposed already: cache it before", name)};
  }
  if (program.blocks[id].guarded) {
    return Error{fmt::format("{} is guarded: cache what it writes before it is moved", name)};
  }
  if (!program.buffers[output].layout.empty()) {
    return Error{fmt::format("the layout of {} is rewritten already: cache it before",
                             program.buffers[output].name)};
  }
  const NodeRef around = ScopeOfOutput(program, id);
  if (Status s = CheckMayContainLoops(program, around); !s) return s.error();
  const std::optional<Region> written =
      WrittenRegion(program, program.blocks[id], DigitsAround(program, around));
  if (!written) {
    return Error{
        fmt::format("what {} writes per iteration of the loops it shares with its readers "
                    "is not a box",
                    name)};
  }
  const NodeRef child = ChildTowards(program, around, NodeRef::Block(id));
  const Place place{around, IndexInParent(program, child) + 1};
  const BufferId cache = NewCache(program, output, scope);
  program.blocks[id].output = cache;
  return PlaceCopy(program, name + ".copy", cache, output, *written, place);
}

}  // namespace bayloom::tensor
