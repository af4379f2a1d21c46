// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/plan/gpu/gpu_plan.h"

namespace bayloom::plan {
namespace {

using tensor::LoopKind;
using tensor::NodeRef;

/// Elements of a buffer that is kept in registers, at most: a thread has 255.
constexpr int64_t kMaxRegisterElements = 256;
/// Bytes of an array of one thread that is not.
constexpr int64_t kMaxArrayBytes = 16 << 10;
/// Straight-line code, in block instances: of loops unrolled as the schedule asks, and in all.
constexpr int64_t kMaxAsked = 1024;
constexpr int64_t kMaxInstances = 16384;

class GpuUnroller {
 public:
  GpuUnroller(const tensor::Program& program, GpuPlan& plan) : program_(program), plan_(plan) {}

  Status Plan() {
    for (const auto& [id, accesses] : plan_.accesses) {
      if (Status s = UnrollRegisters(id, accesses.store); !s) return s;
      for (const auto& [node, load] : accesses.loads) {
        if (Status s = UnrollRegisters(id, load); !s) return s;
      }
    }
    for (NodeRef root : program_.roots) UnrollAsAsked(root, 0);
    const int64_t instances = Instances(NodeRef::Root());
    if (instances <= kMaxInstances) return Ok();
    return Error{fmt::format("'{}' cannot run on a GPU: unrolled, it would have {} steps",
                             program_.name, instances)};
  }

 private:
  /// A plain loop of one thread.
  bool MayUnroll(tensor::LoopId loop) const {
    const LoopKind kind = program_.loops[loop].kind;
    const bool plain = tensor::RunsInOrder(kind) || kind == LoopKind::kParallel ||
                       kind == LoopKind::kVirtualThread || kind == LoopKind::kVectorized;
    return plain && kind != LoopKind::kThreadReduce && !plan_.vector_loops.contains(loop);
  }

  /// That an access touches: with strides between them fewer than the box around has.
  int64_t ElementsOf(const PlacedAccess& access) const {
    int64_t elements = 1;
    for (const tensor::Affine::Term& term : access.affine.terms) {
      elements *= program_.digit_extents[term.digit];
    }
    return elements;
  }

  Status UnrollRegisters(tensor::BlockId id, const PlacedAccess& access) {
    const BufferPlace& place = plan_.memory.buffers[access.buffer];
    const int bytes = tensor::ByteSize(program_.buffers[access.buffer].dtype);
    if (plan_.places[access.buffer].memory != GpuMemory::kThread) return Ok();
    if (!access.dynamic.empty() ||
        std::min(place.bytes / bytes, ElementsOf(access)) > kMaxRegisterElements) {
      if (place.bytes <= kMaxArrayBytes) return Ok();
      return Error{
          fmt::format("'{}' cannot run on a GPU: {} would need {} bytes of each thread's "
                      "memory",
                      program_.name, program_.buffers[access.buffer].name, place.bytes)};
    }
    for (tensor::LoopId loop : program_.LoopsAround(NodeRef::Block(id))) {
      const bool tells_apart =
          std::ranges::any_of(program_.loops[loop].digits, [&](tensor::DigitId digit) {
            return program_.digit_extents[digit] > 1 && access.affine.CoefficientOf(digit) != 0;
          });
      if (tells_apart && MayUnroll(loop)) plan_.unrolled.insert(loop);
    }
    return Ok();
  }

  /// Loops marked, and nests of as few steps as a loop around asks for.
  void UnrollAsAsked(NodeRef node, int64_t max_step) {
    if (!node.is_loop()) return;
    const tensor::Loop& loop = program_.loops[node.id];
    max_step = std::max(max_step, loop.unroll_max_step);
    for (NodeRef child : loop.body) UnrollAsAsked(child, max_step);
    const bool marked = loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVirtualThread;
    if ((!marked && max_step == 0) || !MayUnroll(node.id)) return;
    const int64_t limit = marked ? kMaxAsked : std::min(max_step, kMaxAsked);
    if (IsStraight(node) && Instances(node) * program_.ExtentOf(node.id) <= limit) {
      plan_.unrolled.insert(node.id);
    }
  }

  /// No loop is left below.
  bool IsStraight(NodeRef node) const {
    return std::ranges::all_of(program_.BodyOf(node), [&](NodeRef child) {
      return !child.is_loop() || plan_.IsProduct(child.id) ||
             ((plan_.unrolled.contains(child.id) || plan_.vector_loops.contains(child.id)) &&
              IsStraight(child));
    });
  }

  /// Blocks below as often as they are emitted for one iteration of the node.
  int64_t Instances(NodeRef node) const {
    int64_t sum = 0;
    for (NodeRef child : program_.BodyOf(node)) {
      if (!child.is_loop() || plan_.IsProduct(child.id)) {
        ++sum;
        continue;
      }
      int64_t times = plan_.unrolled.contains(child.id) ? program_.ExtentOf(child.id) : 1;
      if (const auto vector = plan_.vector_loops.find(child.id);
          vector != plan_.vector_loops.end()) {
        times = static_cast<int64_t>(vector->second.Chunks().size());
      }
      sum += times * Instances(child);
    }
    return sum;
  }

  const tensor::Program& program_;
  GpuPlan& plan_;
};

}  // namespace

Status PlanGpuUnrolling(const tensor::Program& program, GpuPlan& plan) {
  return GpuUnroller(program, plan).Plan();
}

}  // namespace bayloom::plan
