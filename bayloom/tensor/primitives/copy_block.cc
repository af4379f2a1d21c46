// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/copy_block.h"

#include <fmt/format.h>

#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

std::string ToString(StorageScope scope) {
  switch (scope) {
    case StorageScope::kShared:
      return "shared";
    case StorageScope::kLocal:
      return "local";
    default:
      return "global";
  }
}

BufferId NewCache(Program& program, BufferId buffer, StorageScope scope) {
  Buffer cache = program.buffers[buffer];
  cache.name = FreshBufferName(program, fmt::format("{}.{}", cache.name, ToString(scope)));
  cache.role = BufferRole::kIntermediate;
  cache.scope = scope;
  cache.slice_of.clear();
  cache.transform = nullptr;
  program.buffers.push_back(std::move(cache));
  return static_cast<BufferId>(program.buffers.size()) - 1;
}

BlockId PlaceCopy(Program& program, const std::string& name, BufferId from, BufferId to,
                  const Region& region, Place place) {
  const Buffer& buffer = program.buffers[to];
  Block copy;
  copy.name = FreshBlockName(program, name);
  copy.output = to;
  Placement placement{place, {}};
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    copy.iters.push_back(
        {fmt::format("d{}", d), buffer.shape[d], IterKind::kSpatial, buffer.BoundOf(d)});
    copy.output_index.push_back(IterVar(static_cast<int>(d)));
    placement.iters.push_back(IterOver(region[d]));
  }
  copy.value = Load(from, buffer.dtype, copy.output_index);
  program.blocks.push_back(std::move(copy));
  const BlockId id = static_cast<BlockId>(program.blocks.size()) - 1;
  PlaceBlock(program, id, placement);
  return id;
}

}  // namespace bayloom::tensor
