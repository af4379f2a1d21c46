// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/internal/cache_lines.h"

#include <cmath>
#include <optional>

#include "bayloom/tensor/access.h"

namespace bayloom::feature {
namespace {

constexpr double kElementBytes = 4;

/// Bytes the accesses touch while the free digits run; of whole lines if wanted.
double TouchedBytes(const tensor::Program& program, const std::vector<tensor::Access>& accesses,
                    const std::vector<bool>& free, bool whole_lines) {
  double bytes = 0;
  for (const tensor::Access& access : accesses) {
    double touched = kElementBytes;
    const size_t dimensions = access.indices.size();
    for (size_t i = 0; i < dimensions; ++i) {
      const std::optional<tensor::Affine>& index = access.indices[dimensions - 1 - i];
      if (index) {
        touched *= static_cast<double>(tensor::RangeOf(program, *index, free).extent());
      }
      if (i == 0 && whole_lines && program.buffers[access.buffer].layout.empty()) {
        touched = std::max(touched, target::kLineBytes);
      }
    }
    bytes += touched;
  }
  return bytes;
}

}  // namespace

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

double LineSeconds(const tensor::Program& program, tensor::BlockId block,
                   const std::vector<tensor::LoopId>& loops, double iterations,
                   const std::vector<Cache>& caches, bool whole_lines) {
  const std::vector<tensor::Access> accesses = tensor::AccessesOf(program, block);
  std::vector<bool> free(program.digit_extents.size(), false);
  double touched = TouchedBytes(program, accesses, free, whole_lines);
  double runs = iterations;
  double seconds = 0;
  size_t level = 0;
  for (auto loop = loops.rbegin(); loop != loops.rend() && level < caches.size(); ++loop) {
    for (tensor::DigitId digit : program.loops[*loop].digits) free[digit] = true;
    const double wider = TouchedBytes(program, accesses, free, whole_lines);
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

}  // namespace bayloom::feature
