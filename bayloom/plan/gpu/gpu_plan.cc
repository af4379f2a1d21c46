// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/gpu/gpu_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "bayloom/target/alignment.h"
#include "bayloom/target/gpu_machine.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::plan {
namespace {

using tensor::LoopId;
using tensor::LoopKind;
using tensor::NodeRef;

/// Loads and stores of one thread move at most so much at once.
constexpr int kVectorBytes = 16;
/// Of arrays of one thread, elements between those that it touches included.
constexpr int64_t kMaxThreadBytes = 64 << 10;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

/// Calls visit(loop) for all loops below a node, outer ones first.
template <typename Visit>
void ForEachLoopBelow(const tensor::Program& program, NodeRef node, const Visit& visit) {
  for (NodeRef child : program.BodyOf(node)) {
    if (!child.is_loop()) continue;
    visit(child.id);
    ForEachLoopBelow(program, child, visit);
  }
}

template <typename Predicate>
bool HasLoopBelow(const tensor::Program& program, NodeRef node, const Predicate& predicate) {
  bool found = false;
  ForEachLoopBelow(program, node, [&](LoopId loop) { found |= predicate(program.loops[loop]); });
  return found;
}

bool IsShared(LoopKind kind) {
  return kind == LoopKind::kCooperative || kind == LoopKind::kThreadReduce;
}

template <typename... Args>
Error Refusal(const tensor::Program& program, fmt::format_string<Args...> reason, Args&&... args) {
  return Error{fmt::format("'{}' cannot run on a GPU: ", program.name) +
               fmt::format(reason, std::forward<Args>(args)...)};
}

class GpuPlanner {
 public:
  GpuPlanner(const tensor::Program& program, const target::GpuLimits& limits)
      : program_(program), limits_(limits) {}

  Result<GpuPlan> Plan() {
    if (tensor::AsCall(program_)) return Refuse("calls the library");
    plan_.open = PlanOpenDigits(program_);
    for (NodeRef root : program_.roots) {
      if (Status s = AddKernel(root); !s) return s.error();
    }
    if (Status s = PlaceBuffers(); !s) return s.error();
    if (Status s = CheckSharedMemory(); !s) return s.error();
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      Result<BlockAccesses> accesses =
          PlaceLoadsAndStore(program_, plan_.memory, program_.blocks[block]);
      if (!accesses) return accesses.error();
      plan_.accesses.emplace(block, std::move(*accesses));
    }
    PlanVectors();
    PlanPipelines(program_, plan_);
    PlanWarpGroupProducts(program_, limits_, plan_);
    PlanWarpProducts(program_, limits_, plan_);
    PlaceSharedMemory();
    if (Status s = PlanGpuUnrolling(program_, plan_); !s) return s.error();
    for (KernelPlan& kernel : plan_.kernels) AddScratch(kernel);
    return std::move(plan_);
  }

 private:
  template <typename... Args>
  Error Refuse(fmt::format_string<Args...> reason, Args&&... args) const {
    return Refusal(program_, reason, std::forward<Args>(args)...);
  }

  // --- Kernels ---------------------------------------------------------------------------------

  Status AddKernel(NodeRef root) {
    KernelPlan kernel;
    kernel.root = root;
    NodeRef inside = root;
    while (inside.is_loop() && tensor::IsBlockIndex(program_.loops[inside.id].kind)) {
      kernel.block_loops.push_back(inside.id);
      kernel.blocks *= program_.ExtentOf(inside.id);
      if (program_.loops[inside.id].body.size() != 1) break;
      inside = program_.loops[inside.id].body[0];
    }
    if (root.is_loop() && program_.loops[root.id].kind == LoopKind::kGridThread) {
      AddGrid(std::move(kernel));
      return Ok();
    }
    std::optional<Error> refusal;
    if (root.is_loop()) {
      ForEachLoopBelow(program_, root, [&](LoopId loop) {
        const bool late = tensor::IsBlockIndex(program_.loops[loop].kind) &&
                          std::ranges::count(kernel.block_loops, loop) == 0;
        if (late) refusal = Refuse("loops over blocks have to be the outermost of their nest");
      });
    }
    if (refusal) return *refusal;
    int64_t threads = 1;
    for (NodeRef node : kernel.Body(program_)) {
      Result<int64_t> needed = ThreadsOf(node, nullptr);
      if (!needed) return needed.error();
      threads = std::max(threads, *needed);
    }
    // Reductions by threads shuffle in whole warps.
    const bool reduces =
        std::ranges::any_of(kernel.Body(program_), [&](NodeRef node) { return Reduces(node); });
    kernel.threads = static_cast<int>(reduces ? RoundUp(threads, target::kWarpThreads) : threads);
    plan_.kernels.push_back(std::move(kernel));
    return Ok();
  }

  void AddGrid(KernelPlan kernel) {
    kernel.grid = kernel.root.id;
    kernel.threads = GridThreads(program_, kernel.grid);
    kernel.blocks = CeilDivide(program_.ExtentOf(kernel.grid), kernel.threads);
    plan_.kernels.push_back(std::move(kernel));
  }

  bool Reduces(NodeRef node) const {
    const auto reduces = [](const tensor::Loop& loop) {
      return loop.kind == LoopKind::kThreadReduce;
    };
    return node.is_loop() &&
           (reduces(program_.loops[node.id]) || HasLoopBelow(program_, node, reduces));
  }

  /// Threads that a node keeps busy, inside the given loops over threads or in none.
  Result<int64_t> ThreadsOf(NodeRef node, ThreadNest* around) {
    if (!node.is_loop()) return 1;
    const LoopKind kind = program_.loops[node.id].kind;
    if (tensor::IsThreadIndex(kind)) return ThreadsOfNest(node.id);
    if (kind == LoopKind::kThreadReduce) {
      const int threads = ReducingThreads(program_, node.id);
      if (around == nullptr) return threads;
      if (around->group != 1 && around->group != threads) {
        return Refuse("reductions of {} and of {} threads are in the same loop over threads",
                      around->group, threads);
      }
      around->group = threads;
      return 1;
    }
    if (kind == LoopKind::kCooperative) {
      if (around != nullptr) return 1;
      const int64_t wanted = program_.loops[node.id].threads;
      return wanted > 0 ? wanted
                        : std::min(target::kDefaultBlockThreads,
                                   RoundUp(program_.ExtentOf(node.id), target::kWarpThreads));
    }
    int64_t threads = 1;
    for (NodeRef child : program_.loops[node.id].body) {
      Result<int64_t> needed = ThreadsOf(child, around);
      if (!needed) return needed;
      threads = std::max(threads, *needed);
    }
    return threads;
  }

  Result<int64_t> ThreadsOfNest(LoopId outermost) {
    ThreadNest nest;
    for (NodeRef at = NodeRef::Loop(outermost);
         at.is_loop() && tensor::IsThreadIndex(program_.loops[at.id].kind);) {
      nest.loops.push_back(at.id);
      nest.extent *= program_.ExtentOf(at.id);
      if (program_.loops[at.id].body.size() != 1) break;
      at = program_.loops[at.id].body[0];
    }
    const NodeRef inside = NodeRef::Loop(nest.loops.back());
    if (HasLoopBelow(program_, inside,
                     [](const tensor::Loop& loop) { return tensor::IsThreadIndex(loop.kind); })) {
      return Refuse("loops over threads have to be directly inside one another");
    }
    for (NodeRef child : program_.BodyOf(inside)) {
      if (Result<int64_t> threads = ThreadsOf(child, &nest); !threads) return threads;
    }
    const int64_t threads = nest.threads();
    plan_.thread_nests.emplace(outermost, std::move(nest));
    return threads;
  }

  // --- Memory ----------------------------------------------------------------------------------

  Status PlaceBuffers() {
    const std::vector<tensor::BufferId> parameters = program_.Parameters();
    plan_.memory.buffers.resize(program_.buffers.size());
    plan_.places.resize(program_.buffers.size());
    std::map<int, int64_t> thread_bytes;  // by kernel
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const auto id = static_cast<tensor::BufferId>(i);
      const tensor::Buffer& buffer = program_.buffers[i];
      BufferPlace& place = plan_.memory.buffers[i];
      if (buffer.role != tensor::BufferRole::kIntermediate) {
        const auto at = std::ranges::find(parameters, id);
        plan_.places[i] = {GpuMemory::kParameter, at - parameters.begin()};
        place.bytes = buffer.MemorySpan() * tensor::ByteSize(buffer.dtype);
        continue;
      }
      if (program_.WriterOf(id) < 0) continue;  // inlined away
      place.allocation = tensor::AllocationOf(program_, id);
      ExpandOverLanes(program_, place);
      PadRows(buffer, place);
      int64_t elements = place.lane_count;
      for (int64_t extent : place.allocation->shape) elements *= extent;
      if (!buffer.layout.empty()) elements = buffer.ElementCount() * place.lane_count;
      place.bytes = elements * tensor::ByteSize(buffer.dtype);
      Result<GpuMemory> memory = MemoryOf(buffer, place.allocation->scope);
      if (!memory) return memory.error();
      plan_.places[i].memory = *memory;
      if (*memory == GpuMemory::kThread) {
        int64_t& bytes = thread_bytes[KeyOf(KernelAround(place.allocation->scope).root)];
        bytes += target::AlignUp(place.bytes);
        if (bytes > kMaxThreadBytes) {
          return Refuse("{} would need {} bytes of each thread's memory", buffer.name, place.bytes);
        }
        continue;
      }
      plan_.places[i].slot_bytes = target::AlignUp(place.bytes);
      if (*memory == GpuMemory::kShared) continue;  // when the rings are known
      plan_.places[i].position = plan_.workspace_bytes;
      plan_.workspace_bytes += target::AlignUp(place.bytes);
    }
    return Ok();
  }

  /// Rows of matrices that warps read; groups of warps read panels.
  void PadRows(const tensor::Buffer& buffer, BufferPlace& place) const {
    std::vector<int64_t>& shape = place.allocation->shape;
    const auto id = static_cast<tensor::BufferId>(&buffer - program_.buffers.data());
    if (buffer.scope != tensor::StorageScope::kShared || !buffer.layout.empty() || shape.empty()) {
      return;
    }
    const std::optional<tensor::MatrixStage> stage = tensor::MatrixStageOf(program_, id);
    if (!stage || stage->for_groups) return;
    const int64_t bytes = tensor::ByteSize(buffer.dtype);
    shape.back() = target::PaddedRowBytes(shape.back() * bytes, bytes, stage->along_depth) / bytes;
  }

  void PlaceSharedMemory() {
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      GpuPlace& place = plan_.places[i];
      const BufferPlace& buffer = plan_.memory.buffers[i];
      if (place.memory != GpuMemory::kShared || !buffer.allocation) continue;
      int64_t& part = KernelAround(buffer.allocation->scope).shared_bytes;
      if (place.panels.rows > 0) part = RoundUp(part, target::kPanelAlignment);
      place.position = part;
      part += place.slots * place.slot_bytes;
    }
  }

  /// Inside loops over threads each would fill all of it.
  Status CheckSharedMemory() const {
    for (tensor::BlockId id : program_.BlocksInOrder()) {
      const tensor::Block& block = program_.blocks[id];
      if (plan_.places[block.output].memory != GpuMemory::kShared) continue;
      bool distributed = false;
      for (LoopId loop : program_.LoopsAround(NodeRef::Block(id))) {
        distributed |= program_.loops[loop].kind == LoopKind::kCooperative;
      }
      bool by_each = false;
      for (NodeRef at = plan_.memory.buffers[block.output].allocation->scope; at.is_loop();
           at = program_.ParentOf(at)) {
        by_each |= tensor::IsThreadIndex(program_.loops[at.id].kind);
      }
      if (by_each && !distributed) {
        return Refuse("each thread would fill {}: make a loop around {} cooperative",
                      program_.buffers[block.output].name, block.name);
      }
    }
    return Ok();
  }

  KernelPlan& KernelAround(NodeRef node) {
    while (program_.ParentOf(node).is_loop()) node = program_.ParentOf(node);
    return *std::ranges::find(plan_.kernels, node, &KernelPlan::root);
  }

  Result<GpuMemory> MemoryOf(const tensor::Buffer& buffer, NodeRef scope) {
    const bool shared = buffer.scope == tensor::StorageScope::kShared;
    if (!scope.is_loop()) {
      if (shared) return Refuse("{} is in shared memory, but used by several kernels", buffer.name);
      return GpuMemory::kWorkspace;
    }
    const KernelPlan& kernel = KernelAround(scope);
    if (HasLoopBelow(program_, scope,
                     [](const tensor::Loop& loop) { return tensor::IsBlockIndex(loop.kind); })) {
      return Refuse("{} is used by several blocks of threads", buffer.name);
    }
    if (shared) {
      if (kernel.grid >= 0) return Refuse("{}: threads of a grid share nothing", buffer.name);
      return GpuMemory::kShared;
    }
    bool of_one_thread = kernel.grid >= 0;
    for (NodeRef at = scope; at.is_loop(); at = program_.ParentOf(at)) {
      const LoopKind kind = program_.loops[at.id].kind;
      of_one_thread |= tensor::IsThreadIndex(kind) || IsShared(kind);
    }
    const bool threads_below = HasLoopBelow(program_, scope, [&](const tensor::Loop& loop) {
      return tensor::IsThreadIndex(loop.kind) || (!of_one_thread && IsShared(loop.kind));
    });
    if (threads_below) {
      return Refuse("{} is used by several threads of a block: give it shared scope", buffer.name);
    }
    return GpuMemory::kThread;
  }

  void AddScratch(KernelPlan& kernel) {
    std::vector<LoopId> reductions;
    const auto collect = [&](LoopId loop) {
      if (program_.loops[loop].kind == LoopKind::kThreadReduce) reductions.push_back(loop);
    };
    if (kernel.root.is_loop()) {
      collect(kernel.root.id);
      ForEachLoopBelow(program_, kernel.root, collect);
    }
    for (LoopId loop : reductions) {
      const int64_t threads = ReducingThreads(program_, loop);
      if (threads <= target::kWarpThreads) continue;
      const tensor::BlockId block = program_.BlocksBelow(NodeRef::Loop(loop)).front();
      const int bytes = tensor::ByteSize(program_.buffers[program_.blocks[block].output].dtype);
      const int64_t warps = CeilDivide(kernel.threads, threads) * (threads / target::kWarpThreads);
      kernel.scratch_bytes = std::max(kernel.scratch_bytes, target::AlignUp(warps * bytes));
    }
    kernel.shared_bytes += kernel.scratch_bytes;
  }

  void PlanVectors() {
    target::Target registers;
    registers.vector_bytes = kVectorBytes;
    std::set<LoopId> inside;
    ForEachLoopBelow(program_, NodeRef::Root(), [&](LoopId loop) {
      if (program_.loops[loop].kind != LoopKind::kVectorized || inside.contains(loop)) return;
      auto vector = PlanVectorLoop(program_, registers, plan_.accesses, loop);
      if (vector && !MayCrossBound(*vector)) {
        inside.insert(vector->loops.begin(), vector->loops.end());
        plan_.vector_loops.emplace(loop, std::move(*vector));
      }
    });
  }

  /// Whether one store of neighbours could go beyond the bound of an open axis.
  bool MayCrossBound(const VectorLoop& vector) const {
    for (tensor::BlockId id : program_.BlocksBelow(NodeRef::Loop(vector.loops.front()))) {
      const tensor::Block& block = program_.blocks[id];
      for (size_t i = 0; plan_.EndsAtBounds(block) && i < block.iters.size(); ++i) {
        const bool is_open =
            block.iters[i].bound.is_open() && block.iters[i].kind == tensor::IterKind::kSpatial;
        const bool moves = std::ranges::any_of(vector.lanes, [&](tensor::DigitId digit) {
          return block.bindings[i].CoefficientOf(digit) != 0;
        });
        if (is_open && moves) return true;
      }
    }
    return false;
  }

  const tensor::Program& program_;
  const target::GpuLimits& limits_;
  GpuPlan plan_;
};

/// Of loops that threads share.
Status CheckMarks(const tensor::Program& program) {
  Status status = Ok();
  ForEachLoopBelow(program, NodeRef::Root(), [&](LoopId loop) {
    const LoopKind kind = program.loops[loop].kind;
    if (!status || (!IsShared(kind) && kind != LoopKind::kGridThread)) return;
    const Status mark = tensor::CheckKindOfLoop(program, loop);
    if (!mark) status = Refusal(program, "{}", mark.error().message);
  });
  return status;
}

Status CheckLimits(const tensor::Program& program, const KernelPlan& kernel,
                   const target::GpuLimits& limits) {
  if (kernel.threads > limits.max_threads) {
    return Refusal(program, "a block would have {} threads, the limit is {}", kernel.threads,
                   limits.max_threads);
  }
  if (kernel.blocks > limits.max_blocks) {
    return Refusal(program, "{} blocks are too many, the limit is {}", kernel.blocks,
                   limits.max_blocks);
  }
  if (kernel.shared_bytes > limits.max_shared_bytes) {
    return Refusal(program, "a block would need {} bytes of shared memory, the limit is {}",
                   kernel.shared_bytes, limits.max_shared_bytes);
  }
  return Ok();
}

}  // namespace

std::vector<NodeRef> KernelPlan::Body(const tensor::Program& program) const {
  return block_loops.empty() ? std::vector<NodeRef>{root} : program.loops[block_loops.back()].body;
}

std::vector<tensor::BlockId> KernelPlan::Blocks(const tensor::Program& program) const {
  return root.is_loop() ? program.BlocksBelow(root) : std::vector<tensor::BlockId>{root.id};
}

std::vector<tensor::DigitId> KernelPlan::GridDigits(const tensor::Program& program) const {
  if (grid >= 0) return program.loops[grid].digits;
  std::vector<tensor::DigitId> digits;
  for (LoopId loop : block_loops) {
    const std::vector<tensor::DigitId>& own = program.loops[loop].digits;
    digits.insert(digits.end(), own.begin(), own.end());
  }
  return digits;
}

int ReducingThreads(const tensor::Program& program, LoopId loop) {
  const int64_t wanted = program.loops[loop].threads;
  if (wanted > 0) return static_cast<int>(wanted);
  const auto extent =
      static_cast<uint64_t>(std::min(program.ExtentOf(loop), target::kDefaultBlockThreads));
  return static_cast<int>(std::bit_floor(extent));
}

int GridThreads(const tensor::Program& program, LoopId loop) {
  const int64_t wanted = program.loops[loop].threads;
  return static_cast<int>(std::min(wanted > 0 ? wanted : target::kDefaultBlockThreads,
                                   RoundUp(program.ExtentOf(loop), target::kWarpThreads)));
}

Result<GpuPlan> PlanGpuKernels(const tensor::Program& program, const target::GpuLimits& limits) {
  return GpuPlanner(program, limits).Plan();
}

Result<GpuPlan> MakeGpuPlan(const tensor::Program& program, const target::GpuLimits& limits) {
  if (Status s = CheckMarks(program); !s) return s.error();
  Result<GpuPlan> plan = PlanGpuKernels(program, limits);
  if (!plan) return plan;
  for (auto& [block, accesses] : plan->accesses) {
    AddAffineExpressions(program.blocks[block], accesses);
  }
  for (KernelPlan& kernel : plan->kernels) {
    PlanBarriers(program, *plan, kernel);
    if (Status s = CheckLimits(program, kernel, limits); !s) return s.error();
  }
  return plan;
}

bool IsCollective(const tensor::Program& program, NodeRef node) {
  const auto collective = [](const tensor::Loop& loop) {
    return tensor::IsThreadIndex(loop.kind) || IsShared(loop.kind);
  };
  return node.is_loop() &&
         (collective(program.loops[node.id]) || HasLoopBelow(program, node, collective));
}

}  // namespace bayloom::plan
