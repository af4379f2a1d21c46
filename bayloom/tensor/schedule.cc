// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/schedule.h"

#include <utility>

namespace bayloom::tensor {
namespace {

template <typename Var>
std::vector<Var> AsVars(const std::vector<int>& ids) {
  std::vector<Var> vars;
  vars.reserve(ids.size());
  for (int id : ids) vars.push_back({id});
  return vars;
}

template <typename Var>
Result<std::vector<Var>> AllVars(Result<std::vector<int>> outputs) {
  if (!outputs) return outputs.error();
  return AsVars<Var>(*outputs);
}

template <typename Var>
Result<Var> OneVar(const Result<std::vector<int>>& outputs) {
  if (!outputs) return outputs.error();
  return Var{(*outputs)[0]};
}

Status NoVar(const Result<std::vector<int>>& outputs) {
  return outputs ? Ok() : Status(outputs.error());
}

template <typename Var>
std::vector<int> Operands(int first, const std::vector<Var>& rest) {
  std::vector<int> ids;
  ids.reserve(rest.size() + 1);
  if (first >= 0) ids.push_back(first);
  for (Var var : rest) ids.push_back(var.id);
  return ids;
}

/// A step whose outputs, if any, are still to be numbered.
Instruction InstructionOf(InstructionKind kind, std::vector<int> inputs,
                          std::vector<int64_t> attributes = {}, std::string text = {}) {
  return {kind, std::move(inputs), std::move(attributes), {}, std::move(text), {}};
}

}  // namespace

Schedule::Schedule(const Workload& workload, uint64_t seed)
    : Schedule(workload, base::RandomStream(seed)) {}

Schedule::Schedule(const Workload& workload, base::RandomStream random)
    : program_(Lower(workload)), random_(random) {}

BlockId Schedule::Get(BlockVar block) const { return static_cast<BlockId>(values_.at(block.id)); }
LoopId Schedule::Get(LoopVar loop) const { return static_cast<LoopId>(values_.at(loop.id)); }
int64_t Schedule::Get(ValueVar value) const { return values_.at(value.id); }

Result<BlockVar> Schedule::GetBlock(const std::string& name) {
  return OneVar<BlockVar>(Record(InstructionOf(InstructionKind::kGetBlock, {}, {}, name)));
}

Result<std::vector<LoopVar>> Schedule::GetLoops(BlockVar block) {
  return AllVars<LoopVar>(Record(InstructionOf(InstructionKind::kGetLoops, {block.id})));
}

Result<std::vector<BlockVar>> Schedule::GetConsumers(BlockVar block) {
  return AllVars<BlockVar>(Record(InstructionOf(InstructionKind::kGetConsumers, {block.id})));
}

Result<std::vector<ValueVar>> Schedule::SamplePerfectTile(LoopVar loop, int parts,
                                                          int64_t max_innermost,
                                                          const Decision* decision) {
  return AllVars<ValueVar>(
      Record(InstructionOf(InstructionKind::kSamplePerfectTile, {loop.id}, {parts, max_innermost}),
             decision));
}

Result<ValueVar> Schedule::SampleCategorical(const std::vector<int64_t>& candidates,
                                             const std::vector<double>& probabilities,
                                             const Decision* decision) {
  Instruction step = InstructionOf(InstructionKind::kSampleCategorical, {}, candidates);
  step.weights = probabilities;
  return OneVar<ValueVar>(Record(std::move(step), decision));
}

Result<LoopVar> Schedule::SampleComputeLocation(BlockVar block, const Decision* decision) {
  return OneVar<LoopVar>(
      Record(InstructionOf(InstructionKind::kSampleComputeLocation, {block.id}), decision));
}

Result<std::vector<LoopVar>> Schedule::Split(LoopVar loop, const std::vector<ValueVar>& factors) {
  return AllVars<LoopVar>(
      Record(InstructionOf(InstructionKind::kSplit, Operands(loop.id, factors))));
}

Result<std::vector<LoopVar>> Schedule::Split(LoopVar loop, const std::vector<int64_t>& factors) {
  return AllVars<LoopVar>(Record(InstructionOf(InstructionKind::kSplit, {loop.id}, factors)));
}

Result<std::array<LoopVar, 2>> Schedule::SplitOverlapping(LoopVar loop, ValueVar tile) {
  Result<std::vector<LoopVar>> nest = AllVars<LoopVar>(
      Record(InstructionOf(InstructionKind::kSplitOverlapping, {loop.id, tile.id})));
  if (!nest) return nest.error();
  return std::array<LoopVar, 2>{(*nest)[0], (*nest)[1]};
}

Result<LoopVar> Schedule::Fuse(const std::vector<LoopVar>& loops) {
  return OneVar<LoopVar>(Record(InstructionOf(InstructionKind::kFuse, Operands(-1, loops))));
}

Status Schedule::Reorder(const std::vector<LoopVar>& order) {
  return NoVar(Record(InstructionOf(InstructionKind::kReorder, Operands(-1, order))));
}

Status Schedule::Parallelize(LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kParallelize, {loop.id})));
}

Status Schedule::Vectorize(LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kVectorize, {loop.id})));
}

Status Schedule::Unroll(LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kUnroll, {loop.id})));
}

Status Schedule::AnnotateUnroll(LoopVar loop, ValueVar max_step) {
  return NoVar(Record(InstructionOf(InstructionKind::kAnnotateUnroll, {loop.id, max_step.id})));
}

Status Schedule::Bind(LoopVar loop, LoopKind kind) {
  return NoVar(
      Record(InstructionOf(InstructionKind::kBind, {loop.id}, {static_cast<int64_t>(kind)})));
}

Status Schedule::Bind(LoopVar loop, LoopKind kind, ValueVar threads) {
  return NoVar(Record(
      InstructionOf(InstructionKind::kBind, {loop.id, threads.id}, {static_cast<int64_t>(kind)})));
}

Status Schedule::Tensorize(LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kTensorize, {loop.id})));
}

Status Schedule::Annotate(BlockVar block, const std::string& key, ValueVar value) {
  return NoVar(Record(InstructionOf(InstructionKind::kAnnotate, {block.id, value.id}, {}, key)));
}

Status Schedule::Annotate(BlockVar block, const std::string& key, int64_t value) {
  return NoVar(Record(InstructionOf(InstructionKind::kAnnotate, {block.id}, {value}, key)));
}

Status Schedule::ComputeInline(BlockVar block) {
  return NoVar(Record(InstructionOf(InstructionKind::kComputeInline, {block.id})));
}

Status Schedule::ReverseComputeInline(BlockVar block) {
  return NoVar(Record(InstructionOf(InstructionKind::kReverseComputeInline, {block.id})));
}

Status Schedule::ComputeAt(BlockVar block, LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kComputeAt, {block.id, loop.id})));
}

Status Schedule::ReverseComputeAt(BlockVar block, LoopVar loop) {
  return NoVar(Record(InstructionOf(InstructionKind::kReverseComputeAt, {block.id, loop.id})));
}

Result<BlockVar> Schedule::CacheRead(BlockVar block, int read_index, StorageScope scope) {
  return OneVar<BlockVar>(Record(InstructionOf(InstructionKind::kCacheRead, {block.id},
                                               {read_index, static_cast<int64_t>(scope)})));
}

Result<BlockVar> Schedule::CacheWrite(BlockVar block, StorageScope scope) {
  return OneVar<BlockVar>(Record(
      InstructionOf(InstructionKind::kCacheWrite, {block.id}, {static_cast<int64_t>(scope)})));
}

Result<BlockVar> Schedule::RFactor(BlockVar block, LoopVar loop) {
  return OneVar<BlockVar>(Record(InstructionOf(InstructionKind::kRFactor, {block.id, loop.id})));
}

Result<BlockVar> Schedule::DecomposeReduction(BlockVar block, LoopVar loop) {
  return OneVar<BlockVar>(
      Record(InstructionOf(InstructionKind::kDecomposeReduction, {block.id, loop.id})));
}

Status Schedule::RewriteLayout(BlockVar block, int read_index) {
  return NoVar(Record(InstructionOf(InstructionKind::kRewriteLayout, {block.id}, {read_index})));
}

Status Schedule::SetScope(BlockVar block, StorageScope scope) {
  return NoVar(
      Record(InstructionOf(InstructionKind::kSetScope, {block.id}, {static_cast<int64_t>(scope)})));
}

Result<std::vector<BlockVar>> Schedule::Winograd(BlockVar block, int64_t tile) {
  return AllVars<BlockVar>(Record(InstructionOf(InstructionKind::kWinograd, {block.id}, {tile})));
}

Result<std::vector<BlockVar>> Schedule::PadProduct(BlockVar block,
                                                   const std::vector<int64_t>& extents) {
  return AllVars<BlockVar>(
      Record(InstructionOf(InstructionKind::kPadProduct, {block.id}, extents)));
}

Status Schedule::Apply(Instruction instruction, const Decision* decision) {
  return NoVar(Record(std::move(instruction), decision));
}

}  // namespace bayloom::tensor
