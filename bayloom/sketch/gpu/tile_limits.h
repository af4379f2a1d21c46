// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::sketch {

/// How an iterator of a product is tiled: the factors that a sampling step of a trace decides, in
/// the order of digits, times what is fixed.
///
///   spatial     blocks, strides, threads, elements next to each other
///   by warps    blocks, warps, matrices of a warp
///   reduction   steps from one stage to the next, steps within one
///   over blocks not tiled
struct TiledAxis {
  enum class Kind : uint8_t { kSpatial, kWarps, kReduction, kOverBlocks };
  int step = -1;       ///< of the trace; -1: nothing is decided
  int64_t extent = 1;  ///< of what is decided
  Kind kind = Kind::kSpatial;
  int64_t unit = 1;  ///< elements of the iterator that one of the innermost factor stands for

  int parts() const { return kind == Kind::kSpatial ? 4 : kind == Kind::kWarps ? 3 : 2; }
  /// What one stage needs along the axis.
  int64_t Tile(const std::vector<int64_t>& factors) const;
  int64_t Threads(const std::vector<int64_t>& factors) const;
  /// Of a thread, or of a warp in matrices.
  int64_t Elements(const std::vector<int64_t>& factors) const;
  /// From the first to the last of a thread's.
  int64_t Box(const std::vector<int64_t>& factors) const;
};

/// An operand staged in shared memory: bytes * product over dimensions of the extent of what one
/// stage needs, 1 + sum over axes of stride * (tile - 1), at most the dimension's. Rows may be
/// padded (target/mma_instruction.h).
struct StagedOperand {
  struct Term {
    size_t axis;
    int64_t stride;
  };
  struct Dimension {
    int64_t extent;
    std::vector<Term> terms;
  };
  int64_t bytes = 4;  ///< of an element
  bool padded = false;
  bool along_depth = false;  ///< of a product of matrices, rows run
  std::vector<Dimension> dimensions;

  int64_t BytesOf(const std::vector<int64_t>& tiles) const;
};

/// How many iterations' stages shared memory holds at a time (tensor/async_copy.h), decided by a
/// categorical step of a trace.
struct StageCount {
  int step = -1;
  std::vector<int64_t> choices = {1};
};

/// What the tiles of one product may not exceed: known constraints of a design space.
struct TileConstraints {
  std::vector<TiledAxis> axes;
  std::vector<StagedOperand> operands;
  StageCount stages;
  int lanes = 1;              ///< threads for each that factors count: those of a warp
  int64_t lane_elements = 1;  ///< accumulators of a thread for each that factors count
  int min_threads = 1;
  int max_threads = 1024;
  int64_t max_elements = kMaxThreadSums;          ///< accumulators of a thread
  int64_t max_block_elements = int64_t{1} << 20;  ///< accumulators of all threads
  /// Of the box around them, of which code generation keeps the elements of a thread in registers.
  int64_t max_box = kMaxSumsBox;
  int64_t max_shared_bytes = 48 << 10;

  using Decisions = std::vector<std::optional<tensor::Decision>>;

  /// Says which limit the decisions (by step of the trace) exceed; axes that are not decided are
  /// taken for 1.
  Status Check(const Decisions& decisions) const;
  /// Draws tiles of all axes and the number of stages, uniformly from those that keep the limits.
  /// Fails if none are found.
  Status Draw(Decisions& decisions, base::RandomStream& random) const;
  /// Draws one of these decisions again, regardless of limits; nullopt for a step that is not one
  /// of them.
  std::optional<tensor::Decision> DrawStep(int step, base::RandomStream& random) const;

 private:
  static const std::optional<tensor::Decision>& DecisionOf(const TiledAxis& axis,
                                                           const Decisions& decisions);
  /// As chosen, but no more than there are steps.
  int64_t StagesAtATime(const Decisions& decisions) const;
};

}  // namespace bayloom::sketch
