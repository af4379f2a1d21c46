// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/window_stages.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockId;
using tensor::BlockKind;
using tensor::BlockVar;

/// Whether what the block computes is made of the results of a reduction.
bool FollowsReduction(const tensor::Program& program, BlockId id) {
  std::set<BlockId> known = {id};
  std::vector<BlockId> left = {id};
  while (!left.empty()) {
    const tensor::Block& block = program.blocks[left.back()];
    left.pop_back();
    if (block.kind == BlockKind::kReduce) return true;
    tensor::Visit(block.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      const BlockId writer = program.WriterOf(e->index);
      if (writer >= 0 && known.insert(writer).second) left.push_back(writer);
    });
  }
  return false;
}

bool Folds(const tensor::Program& program, BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const std::vector<BlockId> readers = program.ReadersOf(block.output);
  if (block.kind != BlockKind::kPlain || readers.empty() ||
      program.buffers[block.output].role != tensor::BufferRole::kIntermediate) {
    return false;
  }
  const auto all = [&](auto&& test) { return std::ranges::all_of(readers, test); };
  if (!all([&](BlockId reader) { return program.blocks[reader].kind == BlockKind::kPlain; })) {
    return false;
  }
  const bool is_padded = !all([&](BlockId reader) {
    return !ContainsSelect(program.blocks[reader].value) ||
           ElementwiseConsumer(program, id) == reader;
  });
  return !is_padded || !FollowsReduction(program, id);
}

}  // namespace

BlockId BlocksInTurn::Take(BlockKind kind) {
  const BlockId next = Next();
  if (next < 0 || program_.blocks[next].kind != kind) return -1;
  ++next_;
  return next;
}

std::string NameOf(const tensor::Program& program, BlockId id) {
  return id < 0 ? std::string() : program.blocks[id].name;
}

BlockId OnlyReaderOf(const tensor::Program& program, BlockId id) {
  const tensor::BufferId buffer = program.blocks[id].output;
  const std::vector<BlockId> readers = program.ReadersOf(buffer);
  const bool is_inside = program.buffers[buffer].role == tensor::BufferRole::kIntermediate;
  return is_inside && readers.size() == 1 ? readers[0] : -1;
}

bool IsChannelByChannel(const tensor::Block& block) {
  const int channel = LastSpatialIter(block);
  if (channel < 1) return false;
  bool all = true;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad) all &= Mentions(e, channel);
  });
  return all;
}

bool IsPaddingOf(const tensor::Program& program, BlockId id, BlockId reader) {
  const tensor::Expr& value = program.blocks[id].value;
  return OnlyReaderOf(program, id) == reader && ContainsSelect(value) && !IsExpensive(value);
}

tensor::Schedule FoldElementwise(const tensor::Workload& workload) {
  tensor::Schedule schedule(workload, /*seed=*/0);
  std::vector<std::string> names;
  for (BlockId id : schedule.program().BlocksInOrder()) {
    names.push_back(schedule.program().blocks[id].name);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!Folds(schedule.program(), schedule.program().FindBlock(*name))) continue;
    tensor::Schedule folded = schedule;
    Result<BlockVar> var = folded.GetBlock(*name);
    if (var && folded.ComputeInline(*var)) schedule = std::move(folded);
  }
  return schedule;
}

Status InlineStage(tensor::Schedule& schedule, const std::string& name) {
  if (name.empty()) return Ok();
  Result<BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  return schedule.ComputeInline(*block);
}

Status PlaceStage(tensor::Schedule& schedule, const std::string& name, tensor::LoopVar at) {
  if (name.empty()) return Ok();
  Result<BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  return schedule.ComputeAt(*block, at);
}

Result<BlockVar> StoreOf(tensor::Schedule& schedule, BlockVar reduction,
                         const std::string& behind) {
  if (!behind.empty()) return schedule.GetBlock(behind);
  return schedule.CacheWrite(reduction, tensor::StorageScope::kLocal);
}

tensor::Schedule FinishSpace(tensor::Schedule schedule, const target::Target& target) {
  const std::string last = NameOf(schedule.program(), schedule.program().BlocksInOrder().back());
  return ParallelizeVectorizeUnroll(std::move(schedule), last, target).front();
}

std::vector<tensor::Schedule> SpacesByPadding(
    const std::string& padding,
    const std::function<Result<tensor::Schedule>(bool folds_padding)>& schedule) {
  std::vector<tensor::Schedule> spaces;
  for (const bool folds_padding : {true, false}) {
    if (padding.empty() && !folds_padding) continue;
    Result<tensor::Schedule> space = schedule(folds_padding);
    if (space) spaces.push_back(*std::move(space));
  }
  return spaces;
}

}  // namespace bayloom::sketch
