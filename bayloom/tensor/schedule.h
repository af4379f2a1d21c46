// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::tensor {

/// A Program under transformation together with the Trace of what was done to it.
///
/// Every method applies a primitive and, when it succeeds, appends an Instruction whose operands
/// are variables, not ids: that is what lets a trace be replayed with other decisions. Sampling
/// methods draw from the schedule's random stream unless a decision is given.
///
///     Schedule s(workload, /*seed=*/1);
///     BlockVar c = *s.GetBlock("c");
///     std::vector<LoopVar> loops = *s.GetLoops(c);
///     std::vector<ValueVar> tile = *s.SamplePerfectTile(loops[0], 4, 64);
///     std::vector<LoopVar> i = *s.Split(loops[0], tile);
class Schedule {
 public:
  Schedule(const Workload& workload, uint64_t seed);
  Schedule(const Workload& workload, base::RandomStream random);

  const Program& program() const { return program_; }
  const Trace& trace() const { return trace_; }
  base::RandomStream& random() { return random_; }

  // Variables and what they stand for now.
  BlockId Get(BlockVar block) const;
  LoopId Get(LoopVar loop) const;
  int64_t Get(ValueVar value) const;

  Result<BlockVar> GetBlock(const std::string& name);
  /// The loops around a block, outermost first.
  Result<std::vector<LoopVar>> GetLoops(BlockVar block);
  /// Blocks that read what `block` writes, in execution order.
  Result<std::vector<BlockVar>> GetConsumers(BlockVar block);

  // Sampling. `decision` fixes the outcome; it is repaired as MetaSchedule does when it does not
  // fit (notes in trace.h).
  Result<std::vector<ValueVar>> SamplePerfectTile(LoopVar loop, int parts, int64_t max_innermost,
                                                  const Decision* decision = nullptr);
  Result<ValueVar> SampleCategorical(const std::vector<int64_t>& candidates,
                                     const std::vector<double>& probabilities,
                                     const Decision* decision = nullptr);
  /// A loop for ComputeAt, or root (leave the block where it is), or inline where legal.
  Result<LoopVar> SampleComputeLocation(BlockVar block, const Decision* decision = nullptr);

  // Primitives; see primitives.h.
  Result<std::vector<LoopVar>> Split(LoopVar loop, const std::vector<ValueVar>& factors);
  Result<std::vector<LoopVar>> Split(LoopVar loop, const std::vector<int64_t>& factors);
  Result<std::array<LoopVar, 2>> SplitOverlapping(LoopVar loop, ValueVar tile);
  Result<LoopVar> Fuse(const std::vector<LoopVar>& loops);
  Status Reorder(const std::vector<LoopVar>& order);
  Status Parallelize(LoopVar loop);
  Status Vectorize(LoopVar loop);
  Status Unroll(LoopVar loop);
  Status AnnotateUnroll(LoopVar loop, ValueVar max_step);
  Status Bind(LoopVar loop, LoopKind kind);
  Status Bind(LoopVar loop, LoopKind kind, ValueVar threads);
  Status Tensorize(LoopVar loop);
  Status Annotate(BlockVar block, const std::string& key, ValueVar value);
  Status Annotate(BlockVar block, const std::string& key, int64_t value);
  Status ComputeInline(BlockVar block);
  Status ReverseComputeInline(BlockVar block);
  /// Understands the two special locations SampleComputeLocation can give.
  Status ComputeAt(BlockVar block, LoopVar loop);
  Status ReverseComputeAt(BlockVar block, LoopVar loop);
  Result<BlockVar> CacheRead(BlockVar block, int read_index, StorageScope scope);
  Result<BlockVar> CacheWrite(BlockVar block, StorageScope scope);
  Result<BlockVar> RFactor(BlockVar block, LoopVar loop);
  Result<BlockVar> DecomposeReduction(BlockVar block, LoopVar loop);
  /// The block's read_index-th distinct read buffer (order of AccessesOf).
  Status RewriteLayout(BlockVar block, int read_index);
  Status SetScope(BlockVar block, StorageScope scope);
  Result<std::vector<BlockVar>> Winograd(BlockVar block, int64_t tile);
  Result<std::vector<BlockVar>> PadProduct(BlockVar block, const std::vector<int64_t>& extents);

  /// Runs an instruction whose operands are variables of this schedule's trace and appends it
  /// (its outputs are numbered again); `decision` only for sampling instructions.
  Status Apply(Instruction instruction, const Decision* decision);

  /// The program for postprocessors, whose rewriting is a function of the trace and therefore
  /// not recorded.
  Program& mutable_program() { return program_; }

 private:
  friend Result<Schedule> Replay(const Workload& workload, const Trace& trace,
                                 base::RandomStream random);
  /// What the outputs of an instruction stand for, and what it chose if it samples.
  struct Effect {
    std::vector<int64_t> outputs;
    std::optional<Decision> decision;
  };
  Result<Effect> Execute(const Instruction& instruction, const Decision* decision);
  Result<Effect> ExecuteQuery(const Instruction& instruction);
  Result<Effect> ExecuteSampleTile(const Instruction& instruction, const Decision* decision);
  Result<Effect> ExecuteSampleCategory(const Instruction& instruction, const Decision* decision);
  Result<Effect> ExecuteSampleLocation(const Instruction& instruction, const Decision* decision);
  Result<Effect> ExecuteOnLoops(const Instruction& instruction);
  Result<Effect> ExecuteOnBlock(const Instruction& instruction);
  /// Executes and records; returns the variables of the outputs.
  Result<std::vector<int>> Record(Instruction instruction, const Decision* decision = nullptr);

  Program program_;
  Trace trace_;
  base::RandomStream random_;
  std::vector<int64_t> values_;  ///< what each variable of the trace stands for
};

/// Replays a trace onto its workload: decisions that are present are used, the rest are drawn
/// from `random`. Fails when an instruction is refused.
Result<Schedule> Replay(const Workload& workload, const Trace& trace, base::RandomStream random);

}  // namespace bayloom::tensor
