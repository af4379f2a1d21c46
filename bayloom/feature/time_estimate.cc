#include "bayloom/feature/time_estimate.h"

#include <cmath>
#include <set>
#include <vector>

#include "bayloom/feature/op_counts.h"
#include "bayloom/tensor/access.h"

namespace bayloom {
namespace {

constexpr double kElementBytes = 4;

struct Cache {
  double bytes;
  double line_seconds;  ///< what a line costs that it does not hold
};

/// The caches while so many threads are busy.
std::vector<Cache> CachesOf(const MachineModel& machine, const EstimateWeights& weights,
                            double busy) {
  std::vector<Cache> caches;
  for (size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    const bool is_memory = i + 2 == machine.levels.size();
    const double weight = is_memory ? weights.memory
                          : i == 0  ? weights.second_level
                                    : weights.further_level;
    caches.push_back({static_cast<double>(machine.levels[i].bytes),
                      weight * machine.levels[i + 1].line.PerThread(busy)});
  }
  return caches;
}

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
double LineSeconds(const Program& program, BlockId block, const std::vector<LoopId>& loops,
                   double iterations, const std::vector<Cache>& caches) {
  const std::vector<Access> accesses = AccessesOf(program, block);
  std::vector<bool> free(program.digit_extents.size(), false);
  double touched = TouchedBytes(program, accesses, free);
  double runs = iterations;
  double seconds = 0;
  size_t level = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend() && level < caches.size(); ++loop) {
    for (DigitId digit : program.loops[*loop].digits) free[digit] = true;
    const double wider = TouchedBytes(program, accesses, free);
    while (level < caches.size() && wider > caches[level].bytes) {
      seconds += caches[level++].line_seconds * touched * runs / kLineBytes;
    }
    touched = wider;
    runs /= static_cast<double>(program.ExtentOf(*loop));
  }
  while (level < caches.size())
    seconds += caches[level++].line_seconds * touched * runs / kLineBytes;
  return seconds;
}

/// Vector operations of one execution of the block; whatever is cheap is hidden behind one.
double OperationsOf(const Block& block, const MachineModel& machine,
                    const EstimateWeights& weights) {
  const OpCounts counts = CountOps(block);
  const double operation = weights.operation * machine.multiply_add.alone;
  return 1 + machine.transcendental / operation * counts[static_cast<size_t>(OpClass::kFloatMath)] +
         machine.division / operation * counts[static_cast<size_t>(OpClass::kFloatDivMod)];
}

double EstimateBlock(const Program& program, BlockId block, const std::vector<LoopId>& loops,
                     const MachineModel& machine, const EstimateWeights& weights) {
  double iterations = 1, lanes = 1, jobs = 1;
  for (LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == LoopKind::kVectorized) lanes *= extent;
    if (program.loops[id].kind == LoopKind::kParallel) jobs *= extent;
  }
  const double width = machine.lanes();
  const double busy = jobs / std::ceil(jobs / machine.threads);
  const double operations = OperationsOf(program.blocks[block], machine, weights) * iterations /
                            lanes * std::ceil(lanes / width);
  const double penalty = lanes > 4 * width ? weights.long_vector : 0;
  const double seconds =
      weights.operation * machine.multiply_add.PerThread(busy) * (1 + penalty) * operations +
      LineSeconds(program, block, loops, iterations, CachesOf(machine, weights, busy));
  return seconds / busy + (jobs > 1 ? weights.job * machine.job * jobs : 0);
}

/// Of the outermost parallel loop among these, if it has not been counted.
double ForkJoinSeconds(const Program& program, const std::vector<LoopId>& loops,
                       const MachineModel& machine, std::set<LoopId>& counted) {
  double entries = 1;
  for (LoopId id : loops) {
    if (program.loops[id].kind == LoopKind::kParallel) {
      return counted.insert(id).second ? machine.fork_join * entries : 0;
    }
    entries *= static_cast<double>(program.ExtentOf(id));
  }
  return 0;
}

}  // namespace

double EstimateTime(const Program& program, const MachineModel& machine,
                    const EstimateWeights& weights) {
  double seconds = 0;
  std::set<LoopId> counted;
  for (BlockId block : program.BlocksInOrder()) {
    const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(block));
    seconds += EstimateBlock(program, block, loops, machine, weights);
    seconds += weights.fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

}  // namespace bayloom
