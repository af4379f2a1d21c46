// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/time_estimate.h"

#include <cmath>
#include <set>
#include <vector>

#include "bayloom/feature/internal/op_counts.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::feature {
namespace {

constexpr double kElementBytes = 4;
/// Of a kernel of the library: it goes through elements one by one.
constexpr double kOperationsPerElement = 2;

struct Cache {
  double bytes;
  double line_seconds;  ///< what a line costs that it does not hold
};

/// The caches while so many threads are busy.
std::vector<Cache> CachesOf(const target::MachineModel& machine, const EstimateWeights& weights,
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
double TouchedBytes(const tensor::Program& program, const std::vector<tensor::Access>& accesses,
                    const std::vector<bool>& free) {
  double bytes = 0;
  for (const tensor::Access& access : accesses) {
    double elements = 1;
    for (const std::optional<tensor::Affine>& index : access.indices) {
      if (index) elements *= static_cast<double>(tensor::RangeOf(program, *index, free).extent());
    }
    bytes += kElementBytes * elements;
  }
  return bytes;
}

/// Of lines that come into each cache: what the largest inner nest that fits touches, as often as
/// that nest runs.
double LineSeconds(const tensor::Program& program, tensor::BlockId block,
                   const std::vector<tensor::LoopId>& loops, double iterations,
                   const std::vector<Cache>& caches) {
  const std::vector<tensor::Access> accesses = tensor::AccessesOf(program, block);
  std::vector<bool> free(program.digit_extents.size(), false);
  double touched = TouchedBytes(program, accesses, free);
  double runs = iterations;
  double seconds = 0;
  size_t level = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend() && level < caches.size(); ++loop) {
    for (tensor::DigitId digit : program.loops[*loop].digits) free[digit] = true;
    const double wider = TouchedBytes(program, accesses, free);
    while (level < caches.size() && wider > caches[level].bytes) {
      seconds += caches[level++].line_seconds * touched * runs / target::kLineBytes;
    }
    touched = wider;
    runs /= static_cast<double>(program.ExtentOf(*loop));
  }
  while (level < caches.size())
    seconds += caches[level++].line_seconds * touched * runs / target::kLineBytes;
  return seconds;
}

/// Vector operations of one execution of the block; what is cheap is hidden behind one.
double OperationsOf(const tensor::Block& block, const target::MachineModel& machine,
                    const EstimateWeights& weights) {
  const OpCounts counts = CountOps(block);
  const double operation = weights.operation * machine.multiply_add.alone;
  return 1 + machine.transcendental / operation * counts[static_cast<size_t>(OpClass::kFloatMath)] +
         machine.division / operation * counts[static_cast<size_t>(OpClass::kFloatDivMod)];
}

double EstimateBlock(const tensor::Program& program, tensor::BlockId block,
                     const std::vector<tensor::LoopId>& loops, const target::MachineModel& machine,
                     const EstimateWeights& weights) {
  if (program.blocks[block].kind == tensor::BlockKind::kCall) {
    const double operations = tensor::OperationsOf(*tensor::AsCall(program.blocks[block].value));
    return kOperationsPerElement * weights.operation * machine.multiply_add.alone * operations;
  }
  double iterations = 1, lanes = 1, jobs = 1;
  for (tensor::LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kVectorized) lanes *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kParallel) jobs *= extent;
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
double ForkJoinSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                       const target::MachineModel& machine, std::set<tensor::LoopId>& counted) {
  double entries = 1;
  for (tensor::LoopId id : loops) {
    if (program.loops[id].kind == tensor::LoopKind::kParallel) {
      return counted.insert(id).second ? machine.fork_join * entries : 0;
    }
    entries *= static_cast<double>(program.ExtentOf(id));
  }
  return 0;
}

}  // namespace

double EstimateTime(const tensor::Program& program, const target::MachineModel& machine,
                    const EstimateWeights& weights) {
  double seconds = 0;
  std::set<tensor::LoopId> counted;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    seconds += EstimateBlock(program, block, loops, machine, weights);
    seconds += weights.fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

}  // namespace bayloom::feature
