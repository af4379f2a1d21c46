#include "bayloom/feature/time_estimate.h"

#include <array>
#include <cmath>
#include <vector>

#include "bayloom/feature/op_counts.h"
#include "bayloom/tensor/access.h"

namespace bayloom {
namespace {

/// Seconds, about as fitted to some 30,000 measured schedules of networks on one x86 machine; only
/// their ratios matter.
constexpr double kVectorOperation = 1e-9;
/// What transcendental functions and divisions take, in vector operations; a guess.
constexpr double kMathOperations = 10, kDivisionOperations = 4;
/// More for a vector operation where a vectorized loop needs over four registers at once.
constexpr double kTooLongVector = 0.8;
constexpr double kFromSecondLevel = 0.05e-9, kFromThirdLevel = 0.5e-9, kFromMemory = 1.3e-9;
constexpr double kJob = 0.1e-9;

constexpr double kLineBytes = 64;
constexpr double kElementBytes = 4;
/// A share of the caches that cores have in common, about.
constexpr double kThirdLevelBytes = 16 << 20;

struct CacheLevel {
  double bytes;
  double line_seconds;  ///< what a line costs that it does not hold
};

/// Bytes the accesses touch while the free digits run.
double TouchedBytes(const Program& program, const std::vector<Access>& accesses,
                    const std::vector<bool>& free) {
  double bytes = 0;
  for (const Access& access : accesses) {
    double elements = 1;
    for (const std::optional<Affine>& index : access.indices) {
      if (index) elements *= static_cast<double>(RangeOf(program, *index, free).extent());
    }
    bytes += kElementBytes * elements;
  }
  return bytes;
}

/// Of lines that come into each cache: what the largest inner nest that fits touches, as often as
/// that nest runs.
template <size_t kLevels>
double LineSeconds(const Program& program, BlockId block, const std::vector<LoopId>& loops,
                   double iterations, const std::array<CacheLevel, kLevels>& levels) {
  const std::vector<Access> accesses = AccessesOf(program, block);
  std::vector<bool> free(program.digit_extents.size(), false);
  double touched = TouchedBytes(program, accesses, free);
  double runs = iterations;
  double seconds = 0;
  size_t level = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend() && level < kLevels; ++loop) {
    for (DigitId digit : program.loops[*loop].digits) free[digit] = true;
    const double wider = TouchedBytes(program, accesses, free);
    while (level < kLevels && wider > levels[level].bytes) {
      seconds += levels[level++].line_seconds * touched * runs / kLineBytes;
    }
    touched = wider;
    runs /= static_cast<double>(program.ExtentOf(*loop));
  }
  while (level < kLevels) seconds += levels[level++].line_seconds * touched * runs / kLineBytes;
  return seconds;
}

/// Vector operations of one execution of the block; whatever is cheap is hidden behind one.
double OperationsOf(const Block& block) {
  const OpCounts counts = CountOps(block);
  return 1 + kMathOperations * counts[static_cast<size_t>(OpClass::kFloatMath)] +
         kDivisionOperations * counts[static_cast<size_t>(OpClass::kFloatDivMod)];
}

double EstimateBlock(const Program& program, BlockId block, const Target& target) {
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(block));
  double iterations = 1, lanes = 1, jobs = 1;
  for (LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == LoopKind::kVectorized) lanes *= extent;
    if (program.loops[id].kind == LoopKind::kParallel) jobs *= extent;
  }
  const double width = target.vector_bytes / kElementBytes;
  const double operations =
      OperationsOf(program.blocks[block]) * iterations / lanes * std::ceil(lanes / width);
  const double penalty = lanes > 4 * width ? kTooLongVector : 0;
  const std::array<CacheLevel, 3> levels = {
      CacheLevel{static_cast<double>(target.l1_bytes), kFromSecondLevel},
      CacheLevel{static_cast<double>(target.l2_bytes), kFromThirdLevel},
      CacheLevel{kThirdLevelBytes, kFromMemory}};
  const double seconds = kVectorOperation * (1 + penalty) * operations +
                         LineSeconds(program, block, loops, iterations, levels);
  const double speedup = jobs / std::ceil(jobs / target.cores);
  return seconds / speedup + (jobs > 1 ? kJob * jobs : 0);
}

}  // namespace

double EstimateTime(const Program& program, const Target& target) {
  double seconds = 0;
  for (BlockId block : program.BlocksInOrder()) seconds += EstimateBlock(program, block, target);
  return seconds;
}

}  // namespace bayloom
