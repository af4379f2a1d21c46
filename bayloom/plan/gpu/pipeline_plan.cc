// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/target/alignment.h"
#include "bayloom/tensor/async_copy.h"

namespace bayloom::plan {
namespace {

using tensor::LoopId;
using tensor::LoopKind;
using tensor::NodeRef;

constexpr int64_t kMinCopyBytes = 4;  // of one cp.async

class PipelinePlanner {
 public:
  PipelinePlanner(const tensor::Program& program, GpuPlan& plan) : program_(program), plan_(plan) {}

  void Plan() {
    for (const tensor::BlockId id : program_.BlocksInOrder()) {
      if (const std::optional<tensor::AsyncCopy> copy = MatchCopy(id)) Add(id, *copy);
    }
    for (auto& [loop, pipeline] : plan_.pipelines) MakeRings(pipeline);
  }

 private:
  int64_t WantedStages(const tensor::Block& block, LoopId loop) const {
    const auto hint = block.annotations.find(tensor::kAsyncStages);
    if (hint == block.annotations.end()) return 1;
    return std::min(hint->second, program_.ExtentOf(loop));
  }

  void Add(tensor::BlockId id, const tensor::AsyncCopy& copy) {
    const tensor::Block& block = program_.blocks[id];
    const LoopId distributed = DistributedLoopAround(block);
    const LoopId loop = program_.loops[distributed].parent.id;
    const auto stages = static_cast<int>(WantedStages(block, loop));
    const auto found = plan_.pipelines.find(loop);
    if (found != plan_.pipelines.end() && found->second.stages != stages) return;
    Pipeline& pipeline = plan_.pipelines[loop];
    pipeline.stages = stages;
    pipeline.copies.push_back(distributed);
    pipeline.rings.push_back(block.output);
    plan_.async_copies.emplace(id, copy);
  }

  /// The cooperative loop around, if the block is all it does; -1 if not.
  LoopId DistributedLoopAround(const tensor::Block& block) const {
    for (NodeRef at = block.parent; at.is_loop(); at = program_.ParentOf(at)) {
      if (program_.loops[at.id].body.size() != 1) return -1;
      if (program_.loops[at.id].kind == LoopKind::kCooperative) return at.id;
    }
    return -1;
  }

  std::optional<tensor::AsyncCopy> MatchCopy(tensor::BlockId id) const {
    const tensor::Block& block = program_.blocks[id];
    const LoopId distributed = DistributedLoopAround(block);
    if (distributed < 0) return std::nullopt;
    const NodeRef parent = program_.loops[distributed].parent;
    if (!parent.is_loop() || WantedStages(block, parent.id) < 2) return std::nullopt;
    const LoopKind kind = program_.loops[parent.id].kind;
    const bool in_order = kind == LoopKind::kSerial || kind == LoopKind::kUnrolled;
    if (!in_order || !FillsAnew(block, parent)) return std::nullopt;
    const std::optional<tensor::AsyncCopy> copy = tensor::MatchCopy(program_, block);
    if (!copy || !IsReadHere(*copy, parent)) return std::nullopt;
    if (!CanCopy(plan_.accesses.at(id), block, *copy)) return std::nullopt;
    return copy;
  }

  /// Each iteration of the loop fills all of a buffer in shared memory that it alone reads.
  bool FillsAnew(const tensor::Block& block, NodeRef loop) const {
    const auto writes = [&](tensor::BlockId other) {
      return program_.blocks[other].output == block.output;
    };
    return plan_.places[block.output].memory == GpuMemory::kShared &&
           plan_.memory.buffers[block.output].allocation->scope == loop &&
           std::ranges::count_if(program_.BlocksInOrder(), writes) == 1;
  }

  /// A buffer in global memory that the kernel around the node does not write.
  bool IsReadHere(tensor::BufferId buffer, NodeRef node) const {
    if (!plan_.IsGlobal(buffer)) return false;
    while (program_.ParentOf(node).is_loop()) node = program_.ParentOf(node);
    return std::ranges::none_of(program_.BlocksBelow(node), [&](tensor::BlockId block) {
      return program_.blocks[block].output == buffer;
    });
  }

  /// What is copied, and all that decides whether it is.
  bool IsReadHere(const tensor::AsyncCopy& copy, NodeRef node) const {
    bool is_read_here = IsReadHere(copy.load->index, node);
    if (!copy.condition.defined()) return is_read_here;
    tensor::Visit(copy.condition, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad) is_read_here &= IsReadHere(e->index, node);
    });
    return is_read_here;
  }

  bool CanCopy(const BlockAccesses& accesses, const tensor::Block& block,
               const tensor::AsyncCopy& copy) const {
    const PlacedAccess& from = accesses.loads.at(copy.load);
    if (!from.dynamic.empty() || !accesses.store.dynamic.empty()) return false;
    const int64_t bytes = tensor::ByteSize(program_.buffers[block.output].dtype);
    const VectorLoop* vector = VectorAround(block);
    if (vector == nullptr) return bytes >= kMinCopyBytes;
    if (copy.condition.defined() &&
        tensor::VariesOver(block, copy.condition, vector->lanes, vector->lane_count)) {
      return false;
    }
    if (bytes >= kMinCopyBytes) return true;
    // Several elements at a time, next to each other on both sides.
    if (vector->lanes.size() != 1 || vector->Chunks().size() != 1) return false;
    const tensor::DigitId lane = vector->lanes[0];
    const int64_t all = vector->lane_count * bytes;
    const auto next = [&](const tensor::Affine& affine) {
      int64_t step = std::gcd(std::gcd(all, target::kBufferAlignment), affine.constant * bytes);
      for (const tensor::Affine::Term& term : affine.terms) {
        if (term.digit == lane || program_.digit_extents[term.digit] == 1) continue;
        step = std::gcd(step, term.coefficient * bytes);
      }
      return affine.CoefficientOf(lane) == 1 && step >= kMinCopyBytes;
    };
    return next(from.affine) && next(accesses.store.affine);
  }

  const VectorLoop* VectorAround(const tensor::Block& block) const {
    for (NodeRef at = block.parent; at.is_loop(); at = program_.ParentOf(at)) {
      const auto vector = plan_.vector_loops.find(at.id);
      if (vector != plan_.vector_loops.end()) return &vector->second;
    }
    return nullptr;
  }

  /// Indices into the rings depend on the slot from here on.
  void MakeRings(Pipeline& pipeline) {
    pipeline.slot = static_cast<tensor::DigitId>(program_.digit_extents.size()) + slots_++;
    for (const tensor::BufferId ring : pipeline.rings) {
      GpuPlace& place = plan_.places[ring];
      place.slots = pipeline.stages;
      const int64_t step = place.slot_bytes / tensor::ByteSize(program_.buffers[ring].dtype);
      const auto add = [&](PlacedAccess& access) {
        if (access.buffer == ring) access.affine.Add(pipeline.slot, step);
      };
      for (auto& [block, accesses] : plan_.accesses) {
        add(accesses.store);
        for (auto& [node, load] : accesses.loads) add(load);
      }
    }
  }

  const tensor::Program& program_;
  GpuPlan& plan_;
  int slots_ = 0;
};

}  // namespace

void PlanPipelines(const tensor::Program& program, GpuPlan& plan) {
  PipelinePlanner(program, plan).Plan();
}

}  // namespace bayloom::plan
