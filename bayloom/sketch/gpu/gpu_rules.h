// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <vector>

#include "bayloom/sketch/gpu/tile_limits.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A schedule being written for a GPU, with the constraints on its decisions.
struct GpuSketch {
  tensor::Schedule schedule;
  std::vector<TileConstraints> limits;
  std::set<std::string> split = {};  ///< blocks that compute parts of sums (SplitSum)

  /// The iterator of a block that counts the parts of its sum; -1 if it is not split.
  int PartsOfSum(const std::string& block) const { return split.contains(block) ? 0 : -1; }
};

// Annotations that rules leave on blocks for the postprocessors.
inline constexpr char kCopyVector[] = "copy_vector";    ///< on stages: elements moved at once
inline constexpr char kGridThreads[] = "grid_threads";  ///< on the last block, for all nests

/// Reductions are shared by threads if there are fewer elements to reduce to than this: about as
/// many as threads that a GPU runs at a time.
inline constexpr int64_t kMaxSharedReductions = 16384;

/// Tiles a product (HasDataReuse) in blocks, threads and registers:
///
///     blocks: threads: outer steps { stages } steps: strides: neighbours
///
/// with operands staged in shared memory if `stage`, some steps ahead; the result is stored, or
/// used by its only reader, by the thread that has it. Fails, leaving the sketch as it is, where a
/// primitive refuses.
Status TileProduct(GpuSketch& sketch, const std::string& block, const target::GpuLimits& limits,
                   bool stage);

/// How far iterators are extended that are no multiples of what the instruction for matrices takes.
enum class MatrixPadding : uint8_t {
  kLeast,    ///< to the next multiple
  kRounded,  ///< a little further, to numbers of matrices with more divisors
};

/// Tiles a product of float16, bfloat16 or tf32 that sums up in float32 in blocks, warps and the
/// matrices that warps multiply by one instruction (target/mma_instruction.h):
///
///     blocks: warps, lanes: outer steps { stages } steps: matrices: depth, rows, columns
///
/// What is beyond an operand is filled with zeros when it is staged, what is beyond the result is
/// not stored. Refused where the GPU has no such instruction, or would do more than four times the
/// work.
Status TileForWarps(GpuSketch& sketch, const std::string& block, const target::GpuLimits& limits,
                    MatrixPadding padding);
/// The same for groups of four warps, which multiply panels of shared memory
/// (target/wgmma_instruction.h): tiles are multiples of 64 rows, 64 columns and 128 bytes of
/// the depth. Refused also for operands that are read in another order than they lie, and where a
/// product would become more than one and a half times as large.
Status TileForWarpGroups(GpuSketch& sketch, const std::string& block,
                         const target::GpuLimits& limits);

/// Lets threads share the iterations of a reduction, for some elements of a block each.
Status ShareReduction(GpuSketch& sketch, const std::string& block);

/// Splits the sum of a product into parts that blocks of threads of their own compute (split-K);
/// what combines them, an element a thread, is a kernel of its own. Returns the name of the block
/// that computes the parts, which is then tiled like any product, the parts over blocks. Fails
/// where half as many parts fill a GPU, and where they would be short or are not equal.
Result<std::string> SplitSum(GpuSketch& sketch, const std::string& block, int64_t parts);

/// Puts reductions of rows, and what is computed of them element by element, into one kernel: each
/// row has a block of threads, which share its reductions and its elements, with what lies between
/// them in shared memory. Of blocks that have nests of their own, which then are in nests of the
/// last one of each such chain; where a row would need more shared memory than a block of threads
/// has, they stay as they are.
void ShareRows(GpuSketch& sketch, const target::GpuLimits& limits);

/// Leaves the open decisions of the nests that are distributed to a grid.
Status ChooseGridThreads(GpuSketch& sketch);

// What the rules for products have in common.

/// One loop of all; the loop itself where there is one.
Result<tensor::LoopVar> FuseAll(tensor::Schedule& schedule,
                                const std::vector<tensor::LoopVar>& loops);
/// The block that stores what a product computes: its only reader, if that is elementwise, or a
/// copy.
Result<tensor::BlockVar> EpilogueOf(tensor::Schedule& schedule, tensor::BlockVar block);
/// The blocks that bring what the block reads into shared memory: the producer itself if nothing
/// else reads it and it is no reduction (padding), a copy otherwise.
Result<std::vector<tensor::BlockVar>> StageOperands(tensor::Schedule& schedule,
                                                    tensor::BlockVar block);
/// What a stage of each operand takes of shared memory.
std::vector<StagedOperand> FootprintsOf(const tensor::Program& program, const tensor::Block& block);
/// Computes the stages in each of the steps of the reduction, made one loop. How many elements are
/// copied at once, and for how many steps ahead, is left open; the latter, one of `counts`, is
/// returned.
Result<StageCount> PlaceStages(tensor::Schedule& schedule,
                               const std::vector<tensor::BlockVar>& stages,
                               const std::vector<tensor::LoopVar>& steps,
                               std::vector<int64_t> counts = {1, 2, 3, 4});

/// Finishes a replayed program, as the annotations say: stages become cooperative, nests without
/// marks are distributed to a grid, reductions are decomposed, loops unrolled.
void PostprocessForGpu(tensor::Program& program);

}  // namespace bayloom::sketch
