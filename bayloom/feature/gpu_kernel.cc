// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_kernel.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "bayloom/target/gpu_machine.h"
#include "bayloom/target/warp_instruction.h"
#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::feature {
namespace {

using target::kUsualBlockThreads;
using tensor::LoopKind;

// As code generation has them (codegen/internal/gpu).
constexpr int64_t kWarp = 32;
constexpr int64_t kBufferAlignment = 64;
constexpr int64_t kMaxRegisterElements = 256;
constexpr int64_t kMinCopyBytes = 4;  ///< of an asynchronous copy

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

int64_t ElementsOf(const tensor::Allocation& allocation) {
  int64_t elements = 1;
  for (const int64_t extent : allocation.shape) elements *= extent;
  return elements;
}

class ShapeFinder {
 public:
  explicit ShapeFinder(const tensor::Program& program) : program_(program) {}

  GpuProgramShape Find() {
    PlaceBuffers();
    for (const tensor::NodeRef root : program_.roots) AddKernel(root);
    FindUnrolled();
    return std::move(shape_);
  }

 private:
  const tensor::Loop& LoopAt(tensor::LoopId id) const { return program_.loops[id]; }

  void PlaceBuffers() {
    shape_.spaces.assign(program_.buffers.size(), GpuSpace::kGlobal);
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const auto id = static_cast<tensor::BufferId>(i);
      const tensor::Buffer& buffer = program_.buffers[i];
      if (buffer.role != tensor::BufferRole::kIntermediate || program_.WriterOf(id) < 0) continue;
      tensor::Allocation& allocation =
          shape_.allocations.emplace(id, tensor::AllocationOf(program_, id)).first->second;
      PadRows(id, allocation);
      if (!allocation.scope.is_loop()) continue;
      shape_.spaces[i] =
          buffer.scope == tensor::StorageScope::kShared ? GpuSpace::kShared : GpuSpace::kRegisters;
    }
  }

  /// Rows of matrices that warps read; groups of warps read panels.
  void PadRows(tensor::BufferId id, tensor::Allocation& allocation) const {
    const tensor::Buffer& buffer = program_.buffers[id];
    std::vector<int64_t>& shape = allocation.shape;
    if (buffer.scope != tensor::StorageScope::kShared || !buffer.layout.empty() || shape.empty()) {
      return;
    }
    const std::optional<tensor::MatrixStage> stage = tensor::MatrixStageOf(program_, id);
    if (!stage || stage->for_groups) return;
    const int64_t bytes = tensor::ByteSize(buffer.dtype);
    shape.back() = target::PaddedRowBytes(shape.back() * bytes, bytes, stage->along_depth) / bytes;
  }

  void AddKernel(tensor::NodeRef root) {
    GpuKernel kernel;
    kernel.root = root;
    for (tensor::NodeRef at = root; at.is_loop() && tensor::IsBlockIndex(LoopAt(at.id).kind);) {
      kernel.block_loops.push_back(at.id);
      kernel.blocks *= program_.ExtentOf(at.id);
      if (LoopAt(at.id).body.size() != 1) break;
      at = LoopAt(at.id).body[0];
    }
    if (root.is_loop() && LoopAt(root.id).kind == LoopKind::kGridThread) {
      kernel.grid = root.id;
      const int64_t extent = program_.ExtentOf(root.id), wanted = LoopAt(root.id).threads;
      kernel.threads = std::min(wanted > 0 ? wanted : kUsualBlockThreads, RoundUp(extent, kWarp));
      kernel.blocks = CeilDivide(extent, kernel.threads);
    }
    const std::vector<tensor::BlockId> blocks =
        root.is_loop() ? program_.BlocksBelow(root) : std::vector<tensor::BlockId>{root.id};
    for (const tensor::BlockId block : blocks) kernel.nests.push_back(NestOf(kernel, block));
    if (kernel.grid < 0) FindThreads(kernel);
    for (GpuBlockNest& nest : kernel.nests) Deal(kernel, nest);
    for (const GpuBlockNest& nest : kernel.nests) {
      const tensor::BufferId output = program_.blocks[nest.block].output;
      if (shape_.spaces[output] != GpuSpace::kShared) continue;
      if (program_.WriterOf(output) != nest.block) continue;  // an initialization
      kernel.shared_bytes +=
          nest.stages * RoundUp(ElementsOf(shape_.allocations.at(output)) *
                                    tensor::ByteSize(program_.buffers[output].dtype),
                                kBufferAlignment);
    }
    shape_.kernels.push_back(std::move(kernel));
  }

  GpuBlockNest NestOf(const GpuKernel& kernel, tensor::BlockId block) const {
    GpuBlockNest nest;
    nest.block = block;
    nest.accesses = tensor::AccessesOf(program_, block);
    nest.loops = program_.LoopsAround(tensor::NodeRef::Block(block));
    for (const tensor::LoopId loop : nest.loops) {
      const LoopKind kind = LoopAt(loop).kind;
      if (std::ranges::count(kernel.block_loops, loop) > 0) continue;
      if (tensor::IsThreadIndex(kind)) {
        nest.thread_loops.push_back(loop);
      } else if (kind == LoopKind::kCooperative || kind == LoopKind::kGridThread) {
        nest.dealt = loop;
      } else if (kind == LoopKind::kThreadReduce) {
        nest.reduced = loop;
      } else {
        nest.serial.push_back(loop);
      }
    }
    nest.stages = StagesOf(nest);
    return nest;
  }

  /// 1 for what is no copy that a GPU makes asynchronously.
  int64_t StagesOf(const GpuBlockNest& nest) const {
    const tensor::Block& block = program_.blocks[nest.block];
    const auto wish = block.annotations.find(tensor::kAsyncStages);
    if (wish == block.annotations.end() || nest.dealt < 0 || !IsCopy(nest)) return 1;
    const tensor::NodeRef around = LoopAt(nest.dealt).parent;
    if (shape_.spaces[block.output] != GpuSpace::kShared || !around.is_loop() ||
        shape_.allocations.at(block.output).scope != around) {
      return 1;
    }
    return std::clamp<int64_t>(wish->second, 1, program_.ExtentOf(around.id));
  }

  /// From global memory, elements as they are or zeros, at least 4 bytes at a time.
  bool IsCopy(const GpuBlockNest& nest) const {
    const tensor::Block& block = program_.blocks[nest.block];
    const std::optional<tensor::AsyncCopy> copy = tensor::MatchCopy(program_, block);
    if (!copy || shape_.spaces[copy->load->index] != GpuSpace::kGlobal) return false;
    const std::vector<tensor::DigitId> lanes = LanesOf(nest);
    int64_t count = 1;
    for (const tensor::DigitId lane : lanes) count *= program_.digit_extents[lane];
    if (copy->condition.defined() && tensor::VariesOver(block, copy->condition, lanes, count)) {
      return false;
    }
    return tensor::ByteSize(program_.buffers[block.output].dtype) >= kMinCopyBytes ||
           std::ranges::all_of(nest.accesses, [&](const tensor::Access& access) {
             const bool is_copied = access.is_write || access.buffer == copy->load->index;
             return !is_copied || AreAdjacent(nest, access);
           });
  }

  /// Digits of vectorized loops.
  std::vector<tensor::DigitId> LanesOf(const GpuBlockNest& nest) const {
    std::vector<tensor::LoopId> vectorized;
    std::ranges::copy_if(nest.serial, std::back_inserter(vectorized), [&](tensor::LoopId loop) {
      return LoopAt(loop).kind == LoopKind::kVectorized;
    });
    return tensor::MovingDigits(program_, vectorized);
  }

  /// Whether the elements of a vectorized loop are next to each other in memory, and aligned to
  /// what is copied at a time.
  bool AreAdjacent(const GpuBlockNest& nest, const tensor::Access& access) const {
    const auto allocation = shape_.allocations.find(access.buffer);
    const bool shrunk =
        allocation != shape_.allocations.end() && program_.buffers[access.buffer].layout.empty();
    const auto offset =
        tensor::LinearOffset(program_, access, shrunk ? &allocation->second : nullptr);
    if (!offset) return false;
    const int64_t bytes = tensor::ByteSize(program_.buffers[access.buffer].dtype);
    const std::vector<tensor::DigitId> lanes = LanesOf(nest);
    int64_t step = std::gcd(kBufferAlignment, offset->constant * bytes);
    bool adjacent = false;
    for (const tensor::Affine::Term& term : offset->terms) {
      const int64_t extent = program_.digit_extents[term.digit];
      if (extent == 1) continue;
      const bool is_lane = std::ranges::count(lanes, term.digit) > 0;
      if (is_lane && term.coefficient != 1) return false;
      adjacent |= is_lane;
      step = std::gcd(step, (is_lane ? extent : term.coefficient) * bytes);
    }
    return adjacent && step >= kMinCopyBytes;
  }

  int64_t OwnThreads(const GpuBlockNest& nest) const {
    int64_t threads = 1;
    for (const tensor::LoopId loop : nest.thread_loops) threads *= program_.ExtentOf(loop);
    return nest.reduced < 0 ? threads : threads * ReducingThreads(program_, nest.reduced);
  }

  void FindThreads(GpuKernel& kernel) const {
    bool reduces = false;
    for (const GpuBlockNest& nest : kernel.nests) {
      reduces |= nest.reduced >= 0;
      int64_t threads = OwnThreads(nest);
      if (nest.dealt >= 0 && nest.thread_loops.empty()) {
        const int64_t wanted = LoopAt(nest.dealt).threads;
        threads = wanted > 0
                      ? wanted
                      : std::min(kUsualBlockThreads, RoundUp(program_.ExtentOf(nest.dealt), kWarp));
      }
      kernel.threads = std::max(kernel.threads, threads);
    }
    if (reduces) kernel.threads = RoundUp(kernel.threads, kWarp);
  }

  void Deal(const GpuKernel& kernel, GpuBlockNest& nest) const {
    if (nest.dealt >= 0) {
      const int64_t extent = program_.ExtentOf(nest.dealt);
      nest.active_threads = std::min(kernel.threads, extent);
      nest.dealt_steps = kernel.grid >= 0 ? 1 : CeilDivide(extent, kernel.threads);
      return;
    }
    nest.active_threads = std::min(kernel.threads, OwnThreads(nest));
    if (nest.reduced < 0) return;
    nest.dealt_steps =
        CeilDivide(program_.ExtentOf(nest.reduced), ReducingThreads(program_, nest.reduced));
  }

  // --- Straight code ----------------------------------------------------------------------------

  void FindUnrolled() {
    for (const GpuKernel& kernel : shape_.kernels) {
      for (const GpuBlockNest& nest : kernel.nests) {
        for (const tensor::Access& access : nest.accesses) {
          UnrollRegisters(nest, access);
        }
        UnrollAsAsked(nest);
      }
    }
  }

  void UnrollRegisters(const GpuBlockNest& nest, const tensor::Access& access) {
    if (shape_.spaces[access.buffer] != GpuSpace::kRegisters) return;
    const tensor::Allocation& allocation = shape_.allocations.at(access.buffer);
    if (ElementsOf(allocation) > kMaxRegisterElements) return;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      if (!access.indices[d]) return;
      for (const tensor::LoopId loop : nest.serial) {
        for (const tensor::DigitId digit : LoopAt(loop).digits) {
          const int64_t moves =
              access.indices[d]->CoefficientOf(digit) - allocation.origin[d].CoefficientOf(digit);
          if (moves != 0 && program_.digit_extents[digit] > 1) shape_.unrolled.insert(loop);
        }
      }
    }
  }

  void UnrollAsAsked(const GpuBlockNest& nest) {
    int64_t asked = 0, steps = 1;
    for (const tensor::LoopId loop : nest.loops) {
      asked = std::max(asked, LoopAt(loop).unroll_max_step);
    }
    for (auto loop = nest.serial.rbegin(); loop != nest.serial.rend(); ++loop) {
      const LoopKind kind = LoopAt(*loop).kind;
      const bool marked = kind == LoopKind::kUnrolled || kind == LoopKind::kVectorized ||
                          kind == LoopKind::kVirtualThread || shape_.unrolled.contains(*loop);
      steps *= program_.ExtentOf(*loop);
      if (!marked && steps > asked) return;
      shape_.unrolled.insert(*loop);
    }
  }

  const tensor::Program& program_;
  GpuProgramShape shape_;
};

}  // namespace

GpuProgramShape ShapeOf(const tensor::Program& program) { return ShapeFinder(program).Find(); }

int64_t ReducingThreads(const tensor::Program& program, tensor::LoopId loop) {
  const int64_t wanted = program.loops[loop].threads;
  if (wanted > 0) return wanted;
  const int64_t extent = std::min(program.ExtentOf(loop), kUsualBlockThreads);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(extent)));
}

}  // namespace bayloom::feature
