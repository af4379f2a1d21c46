// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_access.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>

namespace bayloom::feature {
namespace {

constexpr int64_t kSectorBytes = 32;
constexpr int64_t kCacheLine = 128;
constexpr int64_t kBanks = 32;
constexpr int64_t kBankBytes = 4;
constexpr int kAccessBytes = 16;  ///< of a thread, at most

/// Adds to an offset what an iteration of a fused loop contributes.
int64_t OffsetAt(const tensor::Program& program, const tensor::Affine& offset, tensor::LoopId loop,
                 int64_t iteration) {
  int64_t sum = 0;
  const std::vector<tensor::DigitId>& digits = program.loops[loop].digits;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int64_t extent = program.digit_extents[*digit];
    sum += offset.CoefficientOf(*digit) * (iteration % extent);
    iteration /= extent;
  }
  return sum;
}

/// The elements that the first warp's threads begin at.
std::vector<int64_t> LaneOffsets(const tensor::Program& program, const GpuBlockNest& nest,
                                 const tensor::Affine& offset) {
  std::vector<int64_t> offsets;
  const int64_t lanes = std::min(target::kWarpThreads, nest.active_threads);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t at = 0, thread = lane;
    if (nest.distributed >= 0) {
      at = OffsetAt(program, offset, nest.distributed, lane);
    } else {
      if (nest.reduced >= 0) {
        const int64_t group = plan::ReducingThreads(program, nest.reduced);
        at = OffsetAt(program, offset, nest.reduced, lane % group);
        thread = lane / group;
      }
      for (auto loop = nest.thread_loops.rbegin(); loop != nest.thread_loops.rend(); ++loop) {
        const int64_t extent = program.ExtentOf(*loop);
        at += OffsetAt(program, offset, *loop, thread % extent);
        thread /= extent;
      }
    }
    offsets.push_back(at);
  }
  return offsets;
}

/// Elements that straight code loads together: a run along memory whose pieces are aligned.
int WidthOf(const tensor::Program& program, const GpuBlockNest& nest, const tensor::Affine& offset,
            int element_bytes) {
  for (const tensor::LoopId loop : nest.straight) {
    for (const tensor::DigitId run : program.loops[loop].digits) {
      if (offset.CoefficientOf(run) != 1) continue;
      int64_t width = kAccessBytes / element_bytes;
      const auto divides = [&](int64_t number) { return number % width == 0; };
      while (width > 1) {
        bool aligned = divides(program.digit_extents[run]) && divides(offset.constant);
        for (const tensor::Affine::Term& term : offset.terms) {
          aligned &= term.digit == run || divides(term.coefficient);
        }
        if (aligned) return static_cast<int>(width);
        width /= 2;
      }
    }
  }
  return 1;
}

/// Numbers of the granules that are touched, each once.
std::vector<int64_t> Touched(std::span<const int64_t> offsets, int element_bytes, int width,
                             int64_t granule) {
  std::vector<int64_t> touched;
  const int64_t step = std::max<int64_t>(1, element_bytes / granule);
  for (const int64_t offset : offsets) {
    const int64_t last = (offset + width - 1) * element_bytes / granule;
    for (int64_t at = offset * element_bytes / granule; at <= last; at += step) {
      if (touched.empty() || touched.back() != at) touched.push_back(at);
    }
  }
  if (std::ranges::is_sorted(touched, std::less_equal<>())) return touched;
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

double Granules(std::span<const int64_t> offsets, int element_bytes, int width, int64_t granule) {
  return static_cast<double>(Touched(offsets, element_bytes, width, granule).size());
}

/// As many threads at a time as move 128 bytes.
double SharedClocks(std::span<const int64_t> offsets, int element_bytes, int width) {
  const int64_t bytes = std::max<int64_t>(int64_t{element_bytes} * width, kBankBytes);
  const size_t at_once = static_cast<size_t>(kCacheLine / bytes);
  double clocks = 0;
  for (size_t first = 0; first < offsets.size(); first += at_once) {
    const auto now = offsets.subspan(first, std::min(at_once, offsets.size() - first));
    std::array<int, kBanks> ways = {};
    for (const int64_t word : Touched(now, element_bytes, width, kBankBytes)) {
      ++ways[static_cast<size_t>(word % kBanks)];
    }
    clocks += std::max(1, *std::ranges::max_element(ways));
  }
  return clocks;
}

}  // namespace

WarpAccess WarpAccessOf(const tensor::Program& program, const plan::GpuPlan& plan,
                        const GpuBlockNest& nest, const tensor::Access& access) {
  const std::optional<tensor::Allocation>& allocation =
      plan.memory.buffers[access.buffer].allocation;
  const std::optional<tensor::Affine> offset =
      tensor::LinearOffset(program, access, allocation ? &*allocation : nullptr);
  const int bytes = tensor::ByteSize(program.buffers[access.buffer].dtype);
  WarpAccess warp;
  if (!offset) {
    warp.sectors = warp.lines = warp.shared_clocks =
        static_cast<double>(std::min(target::kWarpThreads, nest.active_threads));
    warp.wanted_bytes = warp.sectors * bytes;
    return warp;
  }
  warp.width = WidthOf(program, nest, *offset, bytes);
  std::vector<int64_t> offsets = LaneOffsets(program, nest, *offset);
  const int64_t least = *std::ranges::min_element(offsets);
  for (int64_t& at : offsets) at -= least;
  if (plan.places[access.buffer].memory == plan::GpuMemory::kShared) {
    warp.shared_clocks = SharedClocks(offsets, bytes, warp.width);
    return warp;
  }
  warp.sectors = Granules(offsets, bytes, warp.width, kSectorBytes);
  warp.lines = Granules(offsets, bytes, warp.width, kCacheLine);
  warp.wanted_bytes = Granules(offsets, bytes, warp.width, bytes) * bytes;
  return warp;
}

bool MovesWith(const tensor::Program& program, const tensor::Access& access, tensor::LoopId loop) {
  for (const std::optional<tensor::Affine>& index : access.indices) {
    if (!index) return true;
    for (const tensor::DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] > 1 && index->CoefficientOf(digit) != 0) return true;
    }
  }
  return false;
}

double TouchedBytes(const tensor::Program& program, const tensor::Access& access,
                    const std::vector<int64_t>& values) {
  const tensor::Buffer& buffer = program.buffers[access.buffer];
  double bytes = tensor::ByteSize(buffer.dtype), most = bytes;
  for (const int64_t count : values) most *= static_cast<double>(count);
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const auto whole = static_cast<double>(buffer.shape[d]);
    if (!access.indices[d]) {
      bytes *= whole;
      continue;
    }
    double extent = 1, combinations = 1;
    for (const tensor::Affine::Term& term : access.indices[d]->terms) {
      const auto count = static_cast<double>(values[static_cast<size_t>(term.digit)]);
      extent += static_cast<double>(std::abs(term.coefficient)) * (count - 1);
      combinations *= count;
    }
    bytes *= std::min({extent, combinations, whole});
  }
  return std::min(bytes, most);  // indices that data decide go through no more than there are
}

}  // namespace bayloom::feature
