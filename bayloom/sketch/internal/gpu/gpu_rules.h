// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/sketch/internal/gpu/tile_limits.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A schedule being written for a GPU, with the constraints on its decisions.
struct GpuSketch {
  tensor::Schedule schedule;
  std::vector<TileLimits> limits;
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
/// with operands staged in shared memory if `stage`; the result is stored, or used by its only
/// reader, by the thread that has it. Fails, leaving the sketch as it is, where a primitive
/// refuses.
Status TileProduct(GpuSketch& sketch, const std::string& block, const target::GpuLimits& limits,
                   bool stage);

/// Lets threads share the iterations of a reduction, for some elements of a block each.
Status ShareReduction(GpuSketch& sketch, const std::string& block);

/// Leaves the open decisions of the nests that are dealt to a grid.
Status ChooseGridThreads(GpuSketch& sketch);

/// Finishes a replayed program, as the annotations say: stages become cooperative, nests without
/// marks are dealt to a grid, reductions are decomposed, loops unrolled.
void PostprocessForGpu(tensor::Program& program);

}  // namespace bayloom::sketch
