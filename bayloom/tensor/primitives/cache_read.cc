// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/copy_block.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {

Result<BlockId> CacheRead(Program& program, BlockId id, BufferId buffer, StorageScope scope) {
  if (Status s = CheckBlock(program, id); !s) return s.error();
  const Block& block = program.blocks[id];
  if (block.kind == BlockKind::kInit || !Loads(block.value, buffer)) {
    return Error{fmt::format("{} does not read buffer {}", block.name, buffer)};
  }
  if (!program.buffers[buffer].layout.empty()) {
    return Error{fmt::format("the layout of {} is rewritten already: cache it before",
                             program.buffers[buffer].name)};
  }
  Region whole;
  for (int64_t extent : program.buffers[buffer].shape) whole.push_back({{}, 0, extent - 1});
  const NodeRef top = ChildTowards(program, NodeRef::Root(), NodeRef::Block(id));
  const Place place{NodeRef::Root(), IndexInParent(program, top)};
  if (Status s = CheckBufferComplete(program, buffer, whole, place); !s) return s.error();

  const BufferId cache = NewCache(program, buffer, scope);
  const BlockId copy = PlaceCopy(program, program.buffers[cache].name, buffer, cache, whole, place);
  Expr& value = program.blocks[id].value;
  value = Rewrite(value, [&](const Expr& e) -> std::optional<Expr> {
    if (e->op != ExprOp::kLoad || e->index != buffer) return std::nullopt;
    return Load(cache, e->dtype, e->operands);
  });
  return copy;
}

}  // namespace bayloom::tensor
