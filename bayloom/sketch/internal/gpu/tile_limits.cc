// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/internal/gpu/tile_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

/// Draws until one keeps the limits: a few percent do, and a draw takes about a microsecond.
constexpr int kMaxDraws = 100000;
/// Code generation lets each buffer begin at a multiple of so many bytes.
constexpr int64_t kAlignment = 64;

/// What one stage needs along an axis.
int64_t TileOf(const TiledAxis& axis, const std::vector<int64_t>& factors) {
  return axis.spatial ? factors[1] * factors[2] * factors[3] : factors[1];
}

}  // namespace

Status TileLimits::Check(const Decisions& decisions) const {
  int64_t threads = 1, elements = 1, box = 1;
  std::vector<int64_t> tiles;
  for (const TiledAxis& axis : axes) {
    const auto& decision = decisions[static_cast<size_t>(axis.step)];
    if (!decision) {
      tiles.push_back(1);
      continue;
    }
    const std::vector<int64_t>& factors = decision->values;
    tiles.push_back(TileOf(axis, factors));
    if (!axis.spatial) continue;
    threads *= factors[2];
    elements *= factors[1] * factors[3];
    box *= (factors[1] - 1) * factors[2] * factors[3] + factors[3];
  }
  if (threads < min_threads || threads > max_threads) {
    return Error{fmt::format("{} threads, not {} to {}", threads, min_threads, max_threads)};
  }
  if (elements > max_elements) {
    return Error{
        fmt::format("{} accumulators of a thread, the limit is {}", elements, max_elements)};
  }
  if (box > max_box) {
    return Error{fmt::format("a thread's accumulators are spread over {} elements, the limit is {}",
                             box, max_box)};
  }
  int64_t bytes = 0;
  for (const StagedOperand& operand : operands) {
    int64_t of_operand = operand.bytes;
    for (const StagedOperand::Dimension& dimension : operand.dimensions) {
      int64_t extent = 1;
      for (const StagedOperand::Term& term : dimension.terms) {
        extent += term.stride * (tiles[term.axis] - 1);
      }
      of_operand *= std::min(extent, dimension.extent);
    }
    bytes += (of_operand + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (bytes > max_shared_bytes) {
    return Error{
        fmt::format("{} bytes of shared memory, the limit is {}", bytes, max_shared_bytes)};
  }
  return Ok();
}

Status TileLimits::Draw(Decisions& decisions, base::RandomStream& random) const {
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    for (const TiledAxis& axis : axes) {
      auto factors =
          tensor::SamplePerfectTiling(axis.extent, axis.parts(), kMaxInnermostFactor, random);
      if (!factors) return Error{fmt::format("no tiles of an extent of {}", axis.extent)};
      decisions[static_cast<size_t>(axis.step)] = tensor::Decision{*std::move(factors)};
    }
    if (Check(decisions)) return Ok();
  }
  return Error{"no tiles were found that keep the limits of the GPU"};
}

}  // namespace bayloom::sketch
