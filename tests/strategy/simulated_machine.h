// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/program.h"

namespace bayloom::strategy {

/// A machine that exists on paper only: the time of a program is a deterministic function of its
/// loops, rugged enough that searching for fast programs is a task. It has caches of two sizes,
/// vector registers, cores, and loops that cost something.
class SimulatedMachine {
 public:
  static constexpr int kCores = 4;
  static constexpr int kLanes = 8;

  /// Seconds of one run.
  static double Run(const tensor::Program& program) {
    double seconds = 0;
    for (tensor::BlockId block : program.BlocksInOrder()) seconds += BlockSeconds(program, block);
    const uint64_t quirk = base::Hasher().Add(program.StructuralHash()).Digest() % 1000;
    return seconds * (1 + 2e-5 * static_cast<double>(quirk));
  }

  /// Bytes of machine code: loops that are unrolled or vectorized are copied.
  static double CodeBytes(const tensor::Program& program) {
    double bytes = 0;
    for (tensor::BlockId block : program.BlocksInOrder()) {
      double copies = 1;
      for (tensor::LoopId id : program.LoopsAround(tensor::NodeRef::Block(block))) {
        const tensor::Loop& loop = program.loops[id];
        copies = std::max(copies, static_cast<double>(loop.unroll_max_step));
        if (loop.kind == tensor::LoopKind::kVectorized) {
          copies = std::max(copies, static_cast<double>(program.ExtentOf(id)));
        }
      }
      bytes += 1000 + 400 * copies;
    }
    return bytes;
  }

 private:
  static double BlockSeconds(const tensor::Program& program, tensor::BlockId block) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    double iterations = 1, lanes = 1, jobs = 1, unrolled = 0;
    for (tensor::LoopId id : loops) {
      const tensor::Loop& loop = program.loops[id];
      const double extent = static_cast<double>(program.ExtentOf(id));
      iterations *= extent;
      if (loop.kind == tensor::LoopKind::kVectorized) lanes *= extent;
      if (loop.kind == tensor::LoopKind::kParallel) jobs *= extent;
      unrolled = std::max(unrolled, static_cast<double>(loop.unroll_max_step));
    }
    const double arithmetic = 0.5e-9 * iterations / lanes * std::ceil(lanes / kLanes);
    const double steps = 1e-9 * iterations / lanes / (1 + std::min(unrolled, 64.0) / 16);
    const double too_long = unrolled > 256 ? 1.3 : 1.0;
    const double misses = 2e-9 * Lines(program, block, loops, 32 << 10) +
                          10e-9 * Lines(program, block, loops, 512 << 10);
    const double speedup = jobs / std::ceil(jobs / kCores);
    return (too_long * (arithmetic + steps) + misses) / speedup + 1e-6 * (jobs > 1 ? jobs : 0);
  }

  /// Cache lines the block brings into a cache: what the largest inner nest that fits touches, as
  /// often as that nest runs.
  static double Lines(const tensor::Program& program, tensor::BlockId block,
                      const std::vector<tensor::LoopId>& loops, double cache_bytes) {
    std::vector<bool> free(program.digit_extents.size(), false);
    const std::vector<tensor::Access> accesses = tensor::AccessesOf(program, block);
    double runs = 1;
    for (tensor::LoopId id : loops) runs *= static_cast<double>(program.ExtentOf(id));
    double touched = Touched(program, accesses, free);
    for (auto id = loops.rbegin(); id != loops.rend(); ++id) {
      for (tensor::DigitId digit : program.loops[*id].digits) free[digit] = true;
      const double wider = Touched(program, accesses, free);
      if (wider > cache_bytes) break;
      touched = wider;
      runs /= static_cast<double>(program.ExtentOf(*id));
    }
    return touched * runs / 64;
  }

  /// Bytes the accesses touch while the free digits run.
  static double Touched(const tensor::Program& program, const std::vector<tensor::Access>& accesses,
                        const std::vector<bool>& free) {
    double bytes = 0;
    for (const tensor::Access& access : accesses) {
      double elements = 1;
      for (const auto& index : access.indices) {
        if (index) elements *= static_cast<double>(tensor::RangeOf(program, *index, free).extent());
      }
      bytes += 4 * elements;
    }
    return bytes;
  }
};

}  // namespace bayloom::strategy
