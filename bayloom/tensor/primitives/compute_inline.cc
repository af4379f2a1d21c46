// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/evaluation_cost.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/legality.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/tree.h"
#include "bayloom/tensor/simplify.h"

namespace bayloom::tensor {
namespace {

/// Moving a block's reads to its readers keeps them inside the loops that it shares with its
/// producers: outside, the producers' buffers would have to live longer than an iteration.
Status CheckProducersReach(const Program& program, BlockId id,
                           const std::vector<BlockId>& readers) {
  const Block& block = program.blocks[id];
  for (BufferId buffer : BuffersReadBy(block)) {
    const BlockId writer = program.WriterOf(buffer);
    if (writer < 0) continue;
    const NodeRef shared = CommonAncestor(program, NodeRef::Block(writer), NodeRef::Block(id));
    for (BlockId reader : readers) {
      if (IsBelow(program, NodeRef::Block(reader), shared)) continue;
      return Error{fmt::format("cannot inline {} into {}: its producer {} is computed in its nest",
                               block.name, program.blocks[reader].name,
                               program.blocks[writer].name)};
    }
  }
  return Ok();
}

}  // namespace

Status CheckComputeInline(const Program& program, BlockId id) {
  if (Status s = CheckBlock(program, id); !s) return s;
  const Block& block = program.blocks[id];
  const Buffer& buffer = program.buffers[block.output];
  if (block.kind != BlockKind::kPlain) {
    return Error{fmt::format("cannot inline {}: it is part of a reduction", block.name)};
  }
  if (buffer.role != BufferRole::kIntermediate) {
    return Error{fmt::format("cannot inline {}: it writes the output {}", block.name, buffer.name)};
  }
  if (Loads(block.value, block.output)) {
    return Error{fmt::format("cannot inline {}: it reads what it writes", block.name)};
  }
  const std::vector<BlockId> readers = program.ReadersOf(block.output);
  if (readers.empty()) {
    return Error{fmt::format("cannot inline {}: nothing reads what it computes", block.name)};
  }
  if (Status s = CheckNoLayouts(program, id); !s) return s;
  const Result<std::vector<int>> iters = IterOfDimension(program, block);
  if (!iters) return iters.error();
  for (BlockId reader : readers) {
    const int64_t cost =
        CostAfterInlining(program.blocks[reader].value, block.output, block.value, *iters);
    if (cost > kMaxInlinedCost) {
      return Error{
          fmt::format("cannot inline {} into {}: its value would cost more than {} "
                      "operations",
                      block.name, program.blocks[reader].name, kMaxInlinedCost)};
    }
  }
  return CheckProducersReach(program, id, readers);
}

Status ComputeInline(Program& program, BlockId id) {
  if (Status s = CheckComputeInline(program, id); !s) return s;
  const Block& block = program.blocks[id];
  const std::vector<int> iter_of_dimension = *IterOfDimension(program, block);
  for (BlockId reader : program.ReadersOf(block.output)) {
    Expr& value = program.blocks[reader].value;
    value = Rewrite(value, [&](const Expr& e) -> std::optional<Expr> {
      if (e->op != ExprOp::kLoad || e->index != block.output) return std::nullopt;
      std::vector<Expr> iters(block.iters.size(), Expr(0));
      for (size_t d = 0; d < iter_of_dimension.size(); ++d) {
        if (iter_of_dimension[d] >= 0) iters[iter_of_dimension[d]] = e->operands[d];
      }
      return SubstituteIters(block.value, iters);
    });
    value = Simplify(value, program.blocks[reader].iters);
  }
  Detach(program, NodeRef::Block(id));
  program.blocks[id].alive = false;
  return Ok();
}

}  // namespace bayloom::tensor
