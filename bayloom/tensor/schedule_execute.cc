// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/instruction.h"
#include "bayloom/tensor/primitives/tree.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::tensor {
namespace {

/// The block's read_index-th distinct read buffer, in the order of AccessesOf.
Result<BufferId> ReadBuffer(const Program& program, BlockId block, int64_t read_index) {
  std::vector<BufferId> buffers;
  for (const Access& access : AccessesOf(program, block)) {
    if (access.is_write) continue;
    if (std::find(buffers.begin(), buffers.end(), access.buffer) != buffers.end()) continue;
    if (static_cast<int64_t>(buffers.size()) == read_index) return access.buffer;
    buffers.push_back(access.buffer);
  }
  return Error{fmt::format("block {} reads {} buffers: there is no number {}",
                           program.blocks[block].name, buffers.size(), read_index)};
}

}  // namespace

Result<Schedule::Effect> Schedule::Execute(const Instruction& instruction,
                                           const Decision* decision) {
  switch (instruction.kind) {
    case InstructionKind::kGetBlock:
    case InstructionKind::kGetLoops:
    case InstructionKind::kGetConsumers:
      return ExecuteQuery(instruction);
    case InstructionKind::kSamplePerfectTile:
      return ExecuteSampleTile(instruction, decision);
    case InstructionKind::kSampleCategorical:
      return ExecuteSampleCategory(instruction, decision);
    case InstructionKind::kSampleComputeLocation:
      return ExecuteSampleLocation(instruction, decision);
    case InstructionKind::kSplit:
    case InstructionKind::kSplitOverlapping:
    case InstructionKind::kFuse:
    case InstructionKind::kReorder:
    case InstructionKind::kParallelize:
    case InstructionKind::kVectorize:
    case InstructionKind::kUnroll:
    case InstructionKind::kAnnotateUnroll:
    case InstructionKind::kBind:
    case InstructionKind::kTensorize:
      return ExecuteOnLoops(instruction);
    default:
      return ExecuteOnBlock(instruction);
  }
}

Result<Schedule::Effect> Schedule::ExecuteQuery(const Instruction& instruction) {
  Effect effect;
  if (instruction.kind == InstructionKind::kGetBlock) {
    const BlockId block = program_.FindBlock(instruction.text);
    if (block < 0) return Error{fmt::format("there is no block {}", instruction.text)};
    effect.outputs = {block};
    return effect;
  }
  const BlockId block = static_cast<BlockId>(values_[instruction.inputs[0]]);
  if (Status s = CheckBlock(program_, block); !s) return s.error();
  const std::vector<int> found = instruction.kind == InstructionKind::kGetLoops
                                     ? program_.LoopsAround(NodeRef::Block(block))
                                     : program_.ReadersOf(program_.blocks[block].output);
  effect.outputs.assign(found.begin(), found.end());
  return effect;
}

Result<Schedule::Effect> Schedule::ExecuteOnLoops(const Instruction& instruction) {
  const std::vector<int>& inputs = instruction.inputs;
  std::vector<LoopId> loops;
  const bool all_are_loops =
      instruction.kind == InstructionKind::kFuse || instruction.kind == InstructionKind::kReorder;
  for (size_t i = 0; i < (all_are_loops ? inputs.size() : 1); ++i) {
    loops.push_back(static_cast<LoopId>(values_[inputs[i]]));
  }
  auto done = [](const Status& status) -> Result<Effect> {
    if (!status) return status.error();
    return Effect{};
  };
  switch (instruction.kind) {
    case InstructionKind::kSplit: {
      std::vector<int64_t> factors = instruction.attributes;
      for (size_t i = 1; i < inputs.size(); ++i) factors.push_back(values_[inputs[i]]);
      Result<std::vector<LoopId>> nest = bayloom::tensor::Split(program_, loops[0], factors);
      if (!nest) return nest.error();
      return Effect{{nest->begin(), nest->end()}, std::nullopt};
    }
    case InstructionKind::kSplitOverlapping: {
      Result<std::array<LoopId, 2>> nest =
          bayloom::tensor::SplitOverlapping(program_, loops[0], values_[inputs[1]]);
      if (!nest) return nest.error();
      return Effect{{nest->begin(), nest->end()}, std::nullopt};
    }
    case InstructionKind::kFuse: {
      Result<LoopId> fused = bayloom::tensor::Fuse(program_, loops);
      if (!fused) return fused.error();
      return Effect{{*fused}, std::nullopt};
    }
    case InstructionKind::kReorder:
      return done(bayloom::tensor::Reorder(program_, loops));
    case InstructionKind::kParallelize:
      return done(bayloom::tensor::Parallelize(program_, loops[0]));
    case InstructionKind::kVectorize:
      return done(bayloom::tensor::Vectorize(program_, loops[0]));
    case InstructionKind::kUnroll:
      return done(bayloom::tensor::Unroll(program_, loops[0]));
    case InstructionKind::kAnnotateUnroll:
      return done(bayloom::tensor::AnnotateUnroll(program_, loops[0], values_[inputs[1]]));
    case InstructionKind::kTensorize:
      return done(bayloom::tensor::Tensorize(program_, loops[0]));
    default:
      return done(bayloom::tensor::Bind(program_, loops[0],
                                        static_cast<LoopKind>(instruction.attributes[0]),
                                        inputs.size() > 1 ? values_[inputs[1]] : 0));
  }
}

Result<Schedule::Effect> Schedule::ExecuteOnBlock(const Instruction& instruction) {
  const std::vector<int>& inputs = instruction.inputs;
  const std::vector<int64_t>& attributes = instruction.attributes;
  const BlockId block = static_cast<BlockId>(values_[inputs[0]]);
  if (Status s = CheckBlock(program_, block); !s) return s.error();
  auto done = [](const Status& status) -> Result<Effect> {
    if (!status) return status.error();
    return Effect{};
  };
  auto gives = [](const Result<BlockId>& made) -> Result<Effect> {
    if (!made) return made.error();
    return Effect{{*made}, std::nullopt};
  };
  const int64_t place = inputs.size() > 1 ? values_[inputs[1]] : kLocationRoot;
  switch (instruction.kind) {
    case InstructionKind::kAnnotate:
      return done(bayloom::tensor::Annotate(program_, block, instruction.text,
                                            inputs.size() > 1 ? place : attributes[0]));
    case InstructionKind::kComputeInline:
      return done(bayloom::tensor::ComputeInline(program_, block));
    case InstructionKind::kReverseComputeInline:
      return done(bayloom::tensor::ReverseComputeInline(program_, block));
    case InstructionKind::kComputeAt:
      if (place == kLocationRoot) return Effect{};  // where it is
      if (place == kLocationInline) return done(bayloom::tensor::ComputeInline(program_, block));
      return done(bayloom::tensor::ComputeAt(program_, block, static_cast<LoopId>(place)));
    case InstructionKind::kReverseComputeAt:
      if (place == kLocationRoot) return Effect{};
      return done(bayloom::tensor::ReverseComputeAt(program_, block, static_cast<LoopId>(place)));
    case InstructionKind::kCacheRead: {
      Result<BufferId> buffer = ReadBuffer(program_, block, attributes[0]);
      if (!buffer) return buffer.error();
      const auto scope = static_cast<StorageScope>(attributes[1]);
      return gives(bayloom::tensor::CacheRead(program_, block, *buffer, scope));
    }
    case InstructionKind::kCacheWrite:
      return gives(
          bayloom::tensor::CacheWrite(program_, block, static_cast<StorageScope>(attributes[0])));
    case InstructionKind::kRFactor:
      return gives(bayloom::tensor::RFactor(program_, block, static_cast<LoopId>(place)));
    case InstructionKind::kDecomposeReduction:
      return gives(
          bayloom::tensor::DecomposeReduction(program_, block, static_cast<LoopId>(place)));
    case InstructionKind::kRewriteLayout: {
      Result<BufferId> buffer = ReadBuffer(program_, block, attributes[0]);
      if (!buffer) return buffer.error();
      return done(bayloom::tensor::RewriteLayout(program_, *buffer));
    }
    case InstructionKind::kWinograd: {
      Result<std::vector<BlockId>> made = bayloom::tensor::Winograd(program_, block, attributes[0]);
      if (!made) return made.error();
      return Effect{{made->begin(), made->end()}, std::nullopt};
    }
    case InstructionKind::kPadProduct: {
      Result<std::vector<BlockId>> made = bayloom::tensor::PadProduct(program_, block, attributes);
      if (!made) return made.error();
      return Effect{{made->begin(), made->end()}, std::nullopt};
    }
    default:
      return done(bayloom::tensor::SetScope(program_, program_.blocks[block].output,
                                            static_cast<StorageScope>(attributes[0])));
  }
}

Result<std::vector<int>> Schedule::Record(Instruction instruction, const Decision* decision) {
  if (Status s = CheckForm(instruction, trace_.variable_kinds()); !s) return s.error();
  if (decision != nullptr) {
    if (Status s = CheckDecision(instruction, *decision); !s) return s.error();
  }
  Result<Effect> effect = Execute(instruction, decision);
  if (!effect) return effect.error();
  instruction.outputs.clear();
  for (size_t i = 0; i < effect->outputs.size(); ++i) {
    instruction.outputs.push_back(trace_.variable_count() + static_cast<int>(i));
  }
  std::vector<int> outputs = instruction.outputs;
  trace_.Append(std::move(instruction), std::move(effect->decision));
  values_.insert(values_.end(), effect->outputs.begin(), effect->outputs.end());
  return outputs;
}

Result<Schedule> Replay(const Workload& workload, const Trace& trace, base::RandomStream random) {
  Schedule schedule(workload, random);
  std::vector<std::optional<Decision>> decisions(trace.instructions().size());
  schedule.values_.reserve(trace.variable_count());
  for (size_t i = 0; i < trace.instructions().size(); ++i) {
    const Instruction& instruction = trace.instructions()[i];
    const std::optional<Decision>& decision = trace.decisions()[i];
    Result<Schedule::Effect> effect =
        schedule.Execute(instruction, decision ? &*decision : nullptr);
    if (!effect) return effect.error();
    if (effect->outputs.size() != instruction.outputs.size()) {
      return Error{fmt::format("replay: {} gave {} results where the trace has {}",
                               ToString(instruction.kind), effect->outputs.size(),
                               instruction.outputs.size())};
    }
    schedule.values_.insert(schedule.values_.end(), effect->outputs.begin(), effect->outputs.end());
    decisions[i] = std::move(effect->decision);
  }
  schedule.trace_ = trace.WithDecisions(std::move(decisions));
  return schedule;
}

}  // namespace bayloom::tensor
