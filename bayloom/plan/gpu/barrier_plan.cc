// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "bayloom/plan/gpu/gpu_plan.h"

namespace bayloom::plan {
namespace {

using tensor::LoopKind;
using tensor::NodeRef;

/// What is done between two places where threads may wait: a node that is not divided further.
struct Phase {
  NodeRef node;
  /// Phases of the same mode are carried out by the same thread for each iteration of the loops
  /// over threads, so that what one writes the other may read: the key of these loops, or of a node
  /// that all threads share.
  int mode = 0;
  /// Iterations of loops around the loops over threads are told apart: what a thread wrote in one,
  /// another may read in the next.
  int generation = 0;
  std::vector<tensor::BufferId> reads, writes;
};

constexpr int kFirstThread = 1 << 30;  // the mode of what is in no loop over threads

class BarrierPlanner {
 public:
  BarrierPlanner(const tensor::Program& program, const GpuPlan& plan, KernelPlan& kernel)
      : program_(program), plan_(plan), kernel_(kernel) {}

  /// Walked through until nothing is added: what is written in one iteration of a loop may be read
  /// in the next one.
  void Plan() {
    if (kernel_.grid >= 0 || kernel_.threads == 1) return;
    size_t before;
    do {
      before = kernel_.barriers.size();
      open_.clear();
      generation_ = 0;
      VisitAll(kernel_.Body(program_), kFirstThread);
    } while (kernel_.barriers.size() > before);
  }

 private:
  void VisitAll(const std::vector<NodeRef>& nodes, int mode) {
    for (NodeRef node : nodes) Visit(node, mode);
  }

  void Visit(NodeRef node, int mode) {
    if (!IsCollective(program_, node)) return VisitPhase(node, mode);
    const tensor::Loop& loop = program_.loops[node.id];
    if (loop.kind == LoopKind::kCooperative || loop.kind == LoopKind::kThreadReduce) {
      return VisitPhase(node, KeyOf(node) + kFirstThread + 1);
    }
    if (const auto nest = plan_.thread_nests.find(node.id); nest != plan_.thread_nests.end()) {
      return VisitAll(program_.loops[nest->second.loops.back()].body, KeyOf(node));
    }
    if (const auto pipeline = plan_.pipelines.find(node.id); pipeline != plan_.pipelines.end()) {
      return VisitPipeline(node, pipeline->second, mode);
    }
    VisitAll(loop.body, mode);
    if (program_.ExtentOf(node.id) == 1) return;
    if (mode == kFirstThread) ++generation_;
    VisitAll(loop.body, mode);
  }

  /// The first copies are made before the loop. Each iteration begins with a barrier, after which
  /// the slot that the iteration before has read may be filled, beside those that are read.
  void VisitPipeline(NodeRef loop, const Pipeline& pipeline, int mode) {
    Phase copies{loop, KeyOf(loop) + kFirstThread + 1, generation_, {}, {}};
    std::vector<NodeRef> rest;
    for (const NodeRef child : program_.BodyOf(loop)) {
      if (std::ranges::count(pipeline.copies, child.id) == 0 || !child.is_loop()) {
        rest.push_back(child);
        continue;
      }
      const Phase copy = MakePhase(child, copies.mode);
      copies.reads.insert(copies.reads.end(), copy.reads.begin(), copy.reads.end());
      copies.writes.insert(copies.writes.end(), copy.writes.begin(), copy.writes.end());
    }
    Enter(copies);
    open_.clear();
    VisitAll(rest, mode);
  }

  void VisitPhase(NodeRef node, int mode) {
    Enter(MakePhase(node, mode));
    if (CombinesWarps(node)) SplitAtItsBarrier();
  }

  void Enter(const Phase& phase) {
    const NodeRef node = phase.node;
    const bool known = kernel_.barriers.contains(KeyOf(node));
    const bool conflicts =
        std::ranges::any_of(open_, [&](const Phase& other) { return Conflict(other, phase); });
    if (known || conflicts) {
      kernel_.barriers.insert(KeyOf(node));
      open_.clear();
    }
    open_.push_back(phase);
  }

  /// A reduction by several warps has a barrier of its own: before it inputs are read and scratch
  /// memory is written, after it scratch memory is read and the output is written.
  void SplitAtItsBarrier() {
    Phase after = open_.back();
    after.reads = after.writes;
    std::erase(after.writes, Scratch());
    open_ = {std::move(after)};
  }

  bool CombinesWarps(NodeRef node) const {
    return node.is_loop() && program_.loops[node.id].kind == LoopKind::kThreadReduce &&
           ReducingThreads(program_, node.id) > target::kWarpThreads;
  }

  tensor::BufferId Scratch() const {
    return static_cast<tensor::BufferId>(program_.buffers.size());
  }

  Phase MakePhase(NodeRef node, int mode) const {
    Phase phase{node, mode, generation_, {}, {}};
    for (tensor::BlockId id : node.is_block() ? std::vector{node.id} : program_.BlocksBelow(node)) {
      const tensor::Block& block = program_.blocks[id];
      for (const tensor::Access& access : tensor::AccessesOf(program_, id)) {
        if (plan_.places[access.buffer].memory == GpuMemory::kThread) continue;
        (access.is_write ? phase.writes : phase.reads).push_back(access.buffer);
      }
      if (block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate) {
        if (plan_.places[block.output].memory != GpuMemory::kThread) {
          phase.reads.push_back(block.output);
        }
      }
    }
    if (CombinesWarps(node)) phase.writes.push_back(Scratch());
    return phase;
  }

  static bool Meet(const std::vector<tensor::BufferId>& a, const std::vector<tensor::BufferId>& b) {
    return std::ranges::any_of(
        a, [&](tensor::BufferId buffer) { return std::ranges::count(b, buffer) > 0; });
  }

  static bool Conflict(const Phase& before, const Phase& after) {
    const bool one_thread = before.mode == after.mode && before.mode <= kFirstThread &&
                            (before.mode == kFirstThread || before.generation == after.generation);
    if (one_thread) return false;
    return Meet(before.writes, after.reads) || Meet(before.reads, after.writes) ||
           Meet(before.writes, after.writes);
  }

  const tensor::Program& program_;
  const GpuPlan& plan_;
  KernelPlan& kernel_;
  std::vector<Phase> open_;  ///< since the last barrier
  int generation_ = 0;
};

}  // namespace

void PlanBarriers(const tensor::Program& program, const GpuPlan& plan, KernelPlan& kernel) {
  BarrierPlanner(program, plan, kernel).Plan();
}

}  // namespace bayloom::plan
