// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/async_copy.h"

namespace bayloom::sketch {
namespace {

/// Bytes that one copy moves at most.
constexpr int64_t kCopyBytes = 16;

/// Elements that a thread copies at once.
std::vector<int64_t> CopyWidths(const tensor::Program& program, tensor::BlockId copy) {
  const int64_t bytes = tensor::ByteSize(program.buffers[program.blocks[copy].output].dtype);
  const int64_t most = std::max<int64_t>(4, kCopyBytes / bytes);
  return {most / 4, most / 2, most};
}

}  // namespace

Result<tensor::LoopVar> FuseAll(tensor::Schedule& schedule,
                                const std::vector<tensor::LoopVar>& loops) {
  return loops.size() == 1 ? Result<tensor::LoopVar>(loops[0]) : schedule.Fuse(loops);
}

Result<tensor::BlockVar> EpilogueOf(tensor::Schedule& schedule, tensor::BlockVar block) {
  if (ElementwiseConsumer(schedule.program(), schedule.Get(block)) < 0) {
    return schedule.CacheWrite(block, tensor::StorageScope::kLocal);
  }
  Result<std::vector<tensor::BlockVar>> consumers = schedule.GetConsumers(block);
  if (!consumers) return consumers.error();
  return consumers->front();
}

Result<std::vector<tensor::BlockVar>> StageOperands(tensor::Schedule& schedule,
                                                    tensor::BlockVar block) {
  std::vector<tensor::BufferId> reads;
  for (const tensor::Access& access : tensor::AccessesOf(schedule.program(), schedule.Get(block))) {
    const bool again = std::ranges::count(reads, access.buffer) > 0;
    if (!access.is_write && !again) reads.push_back(access.buffer);
  }
  std::vector<tensor::BlockVar> stages;
  for (size_t i = 0; i < reads.size(); ++i) {
    const tensor::Program& program = schedule.program();
    const tensor::BlockId writer = program.WriterOf(reads[i]);
    const bool own = writer >= 0 && IsUntransformed(program, writer) &&
                     program.blocks[writer].kind == tensor::BlockKind::kPlain &&
                     program.buffers[reads[i]].role == tensor::BufferRole::kIntermediate &&
                     program.ReadersOf(reads[i]).size() == 1;
    Result<tensor::BlockVar> stage =
        own ? schedule.GetBlock(program.blocks[writer].name)
            : schedule.CacheRead(block, static_cast<int>(i), tensor::StorageScope::kShared);
    if (!stage) return stage.error();
    if (own) {
      if (Status s = schedule.SetScope(*stage, tensor::StorageScope::kShared); !s) return s.error();
    }
    stages.push_back(*stage);
  }
  return stages;
}

std::vector<StagedOperand> FootprintsOf(const tensor::Program& program,
                                        const tensor::Block& block) {
  std::vector<StagedOperand> operands;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    const tensor::Buffer& buffer = program.buffers[e->index];
    StagedOperand operand;
    operand.bytes = tensor::ByteSize(buffer.dtype);
    for (size_t d = 0; d < e->operands.size(); ++d) {
      StagedOperand::Dimension dimension{buffer.shape[d], {}};
      const auto form = tensor::ToLinear(e->operands[d], static_cast<int>(block.iters.size()));
      for (size_t axis = 0; form && axis < form->coefficients.size(); ++axis) {
        const int64_t stride = std::abs(form->coefficients[axis]);
        if (stride != 0) dimension.terms.push_back({axis, stride});
      }
      operand.dimensions.push_back(std::move(dimension));
    }
    operands.push_back(std::move(operand));
  });
  return operands;
}

Result<StageCount> PlaceStages(tensor::Schedule& schedule,
                               const std::vector<tensor::BlockVar>& stages,
                               const std::vector<tensor::LoopVar>& steps,
                               std::vector<int64_t> counts) {
  Result<tensor::LoopVar> step = FuseAll(schedule, steps);
  if (!step) return step.error();
  StageCount count{static_cast<int>(schedule.trace().instructions().size()), std::move(counts)};
  const std::vector<double> uniform(count.choices.size(),
                                    1.0 / static_cast<double>(count.choices.size()));
  Result<tensor::ValueVar> at_a_time = schedule.SampleCategorical(count.choices, uniform);
  if (!at_a_time) return at_a_time.error();
  for (tensor::BlockVar stage : stages) {
    if (Status s = schedule.ComputeAt(stage, *step); !s) return s.error();
    Result<tensor::ValueVar> width = schedule.SampleCategorical(
        CopyWidths(schedule.program(), schedule.Get(stage)), {0.34, 0.33, 0.33});
    if (!width) return width.error();
    if (Status s = schedule.Annotate(stage, kCopyVector, *width); !s) return s.error();
    if (Status s = schedule.Annotate(stage, tensor::kAsyncStages, *at_a_time); !s) {
      return s.error();
    }
  }
  return count;
}

}  // namespace bayloom::sketch
