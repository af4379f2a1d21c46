#pragma once

#include <map>
#include <optional>
#include <vector>

#include "bayloom/codegen/emit/memory_plan.h"
#include "bayloom/target/target.h"

namespace bayloom {

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
/// walk through them with one stride.
struct VectorLoop {
  std::vector<LoopId> loops;   ///< this one and the vectorized ones directly nested in it
  std::vector<DigitId> outer;  ///< slowest first
  std::vector<DigitId> lanes;  ///< slowest first
  int64_t lane_count = 1;      ///< product of the lane digits' extents
  int width = 1;               ///< lanes of a full register
  bool masks = false;          ///< the target has masked loads and stores

  std::vector<Chunk> Chunks() const { return ChunksOf(lane_count, width, masks); }
};

/// At most this many chunks are emitted one after the other; more become a loop.
inline constexpr int64_t kMaxChunks = 16;

/// nullopt when there is but one iteration, or loops below that are not vectorized: the loop is
/// run serially.
std::optional<VectorLoop> PlanVectorLoop(const Program& program, const Target& target,
                                         const std::map<BlockId, BlockAccesses>& accesses,
                                         LoopId loop);

}  // namespace bayloom
