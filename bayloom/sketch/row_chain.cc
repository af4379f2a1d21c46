// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/row_chain.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

using Loops = std::vector<tensor::LoopVar>;

/// Brings a reduction's own loops into the order rows | reduction | lanes, if it has lanes: results
/// that lie together in memory, as what they are computed from does.
Status PutLanesInside(tensor::Schedule& schedule, tensor::BlockVar block) {
  const tensor::BlockId id = schedule.Get(block);
  Result<LoopsByKind> loops = OwnLoopsByKind(schedule, block);
  if (!loops) return loops.error();
  const auto& [spatial, reduction] = *loops;
  const int last = LastSpatialIter(schedule.program().blocks[id]);
  if (last < 0 || schedule.program().ExtentOf(schedule.Get(spatial.back())) == 1 ||
      !IsContiguousAlong(schedule.program(), id, last)) {
    return Ok();
  }
  Loops order(spatial.begin(), spatial.end() - 1);
  order.insert(order.end(), reduction.begin(), reduction.end());
  order.push_back(spatial.back());
  return schedule.Reorder(order);
}

/// Computes all blocks within the last one's loop number `depth`, each as often as before.
Result<tensor::Schedule> ComputeInRows(tensor::Schedule schedule,
                                       const std::vector<std::string>& names, size_t depth) {
  Result<tensor::BlockVar> output = schedule.GetBlock(names.back());
  if (!output) return output.error();
  Result<Loops> loops = schedule.GetLoops(*output);
  if (!loops) return loops.error();
  for (auto name = names.rbegin() + 1; name != names.rend(); ++name) {
    Result<tensor::BlockVar> block = schedule.GetBlock(*name);
    if (!block) return block.error();
    const tensor::BlockId id = schedule.Get(*block);
    const int64_t before = Iterations(schedule.program(), id);
    if (Status s = schedule.ComputeAt(*block, (*loops)[depth]); !s) return s.error();
    if (Iterations(schedule.program(), id) != before) return Error{"rows share '" + *name + "'"};
    if (schedule.program().blocks[id].kind != tensor::BlockKind::kReduce) continue;
    if (Status s = PutLanesInside(schedule, *block); !s) return s.error();
  }
  return schedule;
}

/// Whether reductions, but no products, come before an output that is computed element by element.
bool IsChain(const tensor::Program& program, const std::vector<tensor::BlockId>& blocks) {
  const auto reduces = [&](tensor::BlockId id) {
    return program.blocks[id].kind == tensor::BlockKind::kReduce;
  };
  return program.blocks[blocks.back()].kind == tensor::BlockKind::kPlain &&
         std::ranges::any_of(blocks, reduces) &&
         std::ranges::none_of(blocks, [&](tensor::BlockId id) {
           return HasDataReuse(program, id) || program.blocks[id].kind == tensor::BlockKind::kCall;
         });
}

}  // namespace

std::optional<tensor::Schedule> RowChainSpace(const tensor::Workload& workload,
                                              const target::Target& target) {
  const tensor::Schedule inlined = ApplyRules(workload, InliningRules(), target).front();
  const tensor::Program& program = inlined.program();
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  if (!IsChain(program, blocks)) return std::nullopt;
  std::vector<std::string> names;
  for (tensor::BlockId id : blocks) names.push_back(program.blocks[id].name);
  for (size_t depth = program.blocks[blocks.back()].iters.size(); depth-- > 0;) {
    Result<tensor::Schedule> rows = ComputeInRows(inlined, names, depth);
    if (!rows) continue;
    return ParallelizeVectorizeUnroll(*std::move(rows), names.back(), target).front();
  }
  return std::nullopt;
}

}  // namespace bayloom::sketch
