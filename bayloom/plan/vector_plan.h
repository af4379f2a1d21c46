// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "bayloom/plan/memory_plan.h"
#include "bayloom/target/target.h"

namespace bayloom::plan {

/// A run of a vectorized loop's positions that one vector operation covers. Lanes from `active`
/// on do not exist and are masked.
struct Chunk {
  int64_t begin = 0;
  int width = 1;  ///< lanes of the register; 1: scalar code
  int active = 1;
};

/// Covers [0, count) with registers of `width` lanes; the rest goes to a narrower register when
/// it is a power of two or masks are not to be had, else to a masked one.
std::vector<Chunk> ChunksOf(int64_t count, int width, bool masks);

/// How a vectorized loop is carried out: its slower digits are iterated one by one, the faster
/// ones together in registers. Digits go together while all accesses see them as one, that is,
/// walk through them with one stride; in copies and elementwise computations as many as fill a
/// register do if only the stores see them so.
struct VectorLoop {
  std::vector<tensor::LoopId> loops;   ///< this one and the vectorized ones directly nested in it
  std::vector<tensor::DigitId> outer;  ///< slowest first
  std::vector<tensor::DigitId> lanes;  ///< slowest first
  int64_t lane_count = 1;              ///< product of the lane digits' extents
  int width = 1;                       ///< lanes of a full register
  bool masks = false;                  ///< the target has masked loads and stores

  std::vector<Chunk> Chunks() const { return ChunksOf(lane_count, width, masks); }
};

/// Bytes of the widest element type a block's value goes through; index arithmetic is left out.
int WidestElement(const tensor::Program& program, const tensor::Block& block);

/// At most this many chunks are emitted one after the other; more become a loop.
inline constexpr int64_t kMaxChunks = 16;

/// nullopt when there is but one iteration, or loops below that are not vectorized: the loop is
/// run serially.
std::optional<VectorLoop> PlanVectorLoop(const tensor::Program& program,
                                         const target::Target& target,
                                         const std::map<tensor::BlockId, BlockAccesses>& accesses,
                                         tensor::LoopId loop);

}  // namespace bayloom::plan
