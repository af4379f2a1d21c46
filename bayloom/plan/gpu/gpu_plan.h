// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "bayloom/plan/memory_plan.h"
#include "bayloom/plan/open_axes.h"
#include "bayloom/plan/vector_plan.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/wgmma_instruction.h"
#include "bayloom/tensor/async_copy.h"

namespace bayloom::plan {

/// Where a buffer of a GPU program lives.
enum class GpuMemory : uint8_t {
  kParameter,  ///< the caller's
  kWorkspace,  ///< global memory for intermediates between kernels
  kShared,     ///< of all threads of a block
  kThread,     ///< of one thread: registers, if all indices are constants in the end
};

/// How a buffer in shared memory is divided into panels that groups of warps read
/// (target/wgmma_instruction.h): an element's row and its place in the row name panel, row and
/// place in the panel.
struct SwizzledTiles {
  int64_t rows = 0;       ///< of the buffer and of each panel; 0: rows lie one after the other
  int64_t row_bytes = 0;  ///< of the buffer's rows

  int64_t bytes() const { return rows * target::kPanelRowBytes; }  ///< of each
};

struct GpuPlace {
  GpuMemory memory = GpuMemory::kThread;
  int64_t position = 0;  ///< number of the parameter, or byte offset
  int slots = 1;         ///< of a ring (Pipeline), one after the other
  int64_t slot_bytes = 0;
  SwizzledTiles panels = {};
};

/// A number for a node of the loop tree.
inline int KeyOf(tensor::NodeRef node) { return node.is_loop() ? node.id : -1 - node.id; }

/// One nest at the root of a program: what is launched at a time.
///
/// Its outermost loops are those over blocks. Inside, a block of threads works through the tree
/// together: each thread takes its iteration of a loop over threads, and what is in none is done by
/// the first thread. Loops distributed to threads (kCooperative, kThreadReduce) are worked on by
/// all.
struct KernelPlan {
  tensor::NodeRef root;
  std::vector<tensor::LoopId> block_loops;  ///< outermost first
  tensor::LoopId grid = -1;  ///< the loop distributed to blocks and threads, if it is one
  int64_t blocks = 1;
  int threads = 1;  ///< of a block
  int64_t shared_bytes = 0;
  int64_t scratch_bytes = 0;  ///< the last of these, for reductions between warps
  std::set<int> barriers;     ///< KeyOf nodes before which all threads wait for each other

  /// What is inside the loops over blocks.
  std::vector<tensor::NodeRef> Body(const tensor::Program& program) const;
  std::vector<tensor::BlockId> Blocks(const tensor::Program& program) const;
  /// Those that the number of a block, and of a thread in a grid, tells; slowest first.
  std::vector<tensor::DigitId> GridDigits(const tensor::Program& program) const;
};

/// Loops over threads directly inside one another.
struct ThreadNest {
  std::vector<tensor::LoopId> loops;  ///< outermost first
  int64_t extent = 1;                 ///< of all
  int group = 1;                      ///< threads that share reductions inside, for each iteration

  /// The first of the group's threads for each iteration is the one that does what is not shared.
  int64_t threads() const { return extent * group; }
};

/// A loop that runs beside the copies for its next iterations (tensor/async_copy.h). The buffers
/// that they fill are rings of `stages` slots: iteration i reads slot i modulo `stages`, while
/// those of the next `stages` - 1 are being filled. One barrier an iteration orders all of it.
struct Pipeline {
  int stages = 2;
  std::vector<tensor::LoopId> copies;   ///< cooperative loops, children of the loop
  std::vector<tensor::BufferId> rings;  ///< what they fill
  /// A digit beyond the program's that counts the slot; indices into the rings have it.
  tensor::DigitId slot = -1;
};

/// A factor of a product of matrices by a warp: which access, and how it is loaded.
struct WarpFactor {
  enum class Form : uint8_t {
    kMatrices,    ///< by ldmatrix: what is next to each other in memory is the depth
    kTransposed,  ///< the same, transposed: rows (of the first factor) or columns (of the second)
    kElements,    ///< of 32 bits, in any order: each thread loads its own
  };
  tensor::BufferId buffer = -1;
  tensor::Affine index;
  Form form = Form::kMatrices;
};

/// A tensorized loop whose products an instruction of a warp sums up (target/mma_instruction.h).
///
/// In the loop program each thread computes its own four sums: rows lane_row and lane_row + 8,
/// columns 2 * lane_column and 2 * lane_column + 1, where the loops over threads count, slowest
/// first, warps, lane_row and lane_column. The instruction computes those of all 32 threads.
struct WarpProduct {
  const target::MmaInstruction* instruction = nullptr;
  tensor::BlockId block = -1;
  tensor::DigitId depth = -1;
  tensor::DigitId lane_row = -1, row_part = -1;
  tensor::DigitId lane_column = -1, column_part = -1;
  WarpFactor rows, columns;
};

/// Loops over columns and a tensorized loop inside of them, all of which one instruction of a group
/// of warps does (target/wgmma_instruction.h).
///
/// In the loop program each thread computes its own sums, as in a WarpProduct for each 8 columns;
/// the loops over threads count, slowest first, groups, warps of a group, lane_row and lane_column.
struct WarpGroupProduct {
  struct Factor {
    tensor::BufferId buffer = -1;
    tensor::Affine index;
    bool along_depth = false;  ///< rows of the panels run
  };
  const target::WgmmaInstruction* instruction = nullptr;
  tensor::BlockId block = -1;
  std::vector<tensor::DigitId> matrices;  ///< of 8 columns, slowest first
  tensor::DigitId row_part = -1, column_part = -1;
  std::vector<tensor::DigitId> inside;  ///< all that the instruction runs over
  Factor rows, columns;
};

/// Everything that is decided about a program's kernels before any is emitted.
struct GpuPlan {
  MemoryPlan memory;             ///< allocations; where they are is in `places`
  std::vector<GpuPlace> places;  ///< by BufferId
  std::map<tensor::BlockId, BlockAccesses> accesses;
  std::map<tensor::LoopId, VectorLoop> vector_loops;
  std::set<tensor::LoopId> unrolled;
  std::map<tensor::LoopId, ThreadNest> thread_nests;  ///< by their outermost loop
  std::map<tensor::LoopId, Pipeline> pipelines;
  std::map<tensor::BlockId, tensor::AsyncCopy> async_copies;  ///< of the pipelines
  std::map<tensor::LoopId, WarpProduct> warp_products;
  std::map<tensor::LoopId, WarpGroupProduct> group_products;  ///< by their outermost loop
  std::vector<KernelPlan> kernels;
  OpenDigits open;  ///< of loops that end at the bounds of open axes
  int64_t workspace_bytes = 0;

  bool IsGlobal(tensor::BufferId buffer) const {
    const GpuMemory place = places[buffer].memory;
    return place == GpuMemory::kParameter || place == GpuMemory::kWorkspace;
  }
  /// The block writes global memory, which it does within the bounds of open axes only.
  bool EndsAtBounds(const tensor::Block& block) const { return IsGlobal(block.output); }
  /// Instructions for matrices do all of the loop.
  bool IsProduct(tensor::LoopId loop) const {
    return warp_products.contains(loop) || group_products.contains(loop);
  }
};

/// All but the barriers and what only the emission of expressions reads, of kernels beyond the
/// limits, too: what an estimate of time reads of many programs. Fails, saying why, for programs
/// that no GPU can run as they are scheduled.
Result<GpuPlan> PlanGpuKernels(const tensor::Program& program, const target::GpuLimits& limits);

/// Fails for kernels beyond the limits, too.
Result<GpuPlan> MakeGpuPlan(const tensor::Program& program, const target::GpuLimits& limits);

/// Threads that share a kThreadReduce loop.
int ReducingThreads(const tensor::Program& program, tensor::LoopId loop);

/// Threads of each block to which a kGridThread loop is distributed.
int GridThreads(const tensor::Program& program, tensor::LoopId loop);

/// Whether threads work together on a node below loops over threads or above.
bool IsCollective(const tensor::Program& program, tensor::NodeRef node);

/// Decides which copies are asynchronous (GpuPlan::pipelines): those that the schedule wants so,
/// from global memory that the kernel does not write, of 4 bytes or more at a time. Others stay
/// what they are in the loop program.
void PlanPipelines(const tensor::Program& program, GpuPlan& plan);

/// Decides which products warps compute together (GpuPlan::warp_products). Tensorized loops that
/// are not arranged so, or have operands elsewhere than in shared memory, stay loops.
void PlanWarpProducts(const tensor::Program& program, const target::GpuLimits& limits,
                      GpuPlan& plan);

/// Decides which products groups of warps compute together (GpuPlan::group_products): those whose
/// schedule wants it (tensor::kWarpGroups), whose operands can lie in panels. Others stay loops, of
/// which PlanWarpProducts may make something.
void PlanWarpGroupProducts(const tensor::Program& program, const target::GpuLimits& limits,
                           GpuPlan& plan);

/// Decides where threads have to wait for each other (KernelPlan::barriers), from all the rest.
void PlanBarriers(const tensor::Program& program, const GpuPlan& plan, KernelPlan& kernel);

/// Decides which loops are unrolled (GpuPlan::unrolled): those whose iterations tell registers
/// apart, and those that the schedule says. Fails where that would make too long a kernel.
Status PlanGpuUnrolling(const tensor::Program& program, GpuPlan& plan);

}  // namespace bayloom::plan
