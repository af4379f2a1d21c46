// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/tile_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/sketch/rules/rules.h"
#include "bayloom/target/mma_instruction.h"

namespace bayloom::sketch {
namespace {

/// Draws until one keeps the limits: a few percent do, and a draw takes about a microsecond.
constexpr int kMaxDraws = 100000;
/// Code generation lets each buffer begin at a multiple of so many bytes.
constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

int64_t TiledAxis::Tile(const std::vector<int64_t>& factors) const {
  int64_t tile = unit;
  for (size_t i = 1; i < factors.size(); ++i) tile *= factors[i];
  return tile;
}

int64_t TiledAxis::Threads(const std::vector<int64_t>& factors) const {
  if (kind == Kind::kReduction) return 1;
  return kind == Kind::kSpatial ? factors[2] : factors[1];
}

int64_t TiledAxis::Elements(const std::vector<int64_t>& factors) const {
  if (kind == Kind::kReduction) return 1;
  return kind == Kind::kSpatial ? factors[1] * factors[3] : factors[2];
}

int64_t TiledAxis::Box(const std::vector<int64_t>& factors) const {
  if (kind != Kind::kSpatial) return 1;
  return (factors[1] - 1) * factors[2] * factors[3] + factors[3];
}

int64_t StagedOperand::BytesOf(const std::vector<int64_t>& tiles) const {
  std::vector<int64_t> extents;
  for (const Dimension& dimension : dimensions) {
    int64_t extent = 1;
    for (const Term& term : dimension.terms) extent += term.stride * (tiles[term.axis] - 1);
    extents.push_back(std::min(extent, dimension.extent));
  }
  if (extents.empty()) return bytes;
  int64_t all = extents.back() * bytes;
  if (padded) all = target::PaddedRowBytes(all, bytes, along_depth);
  for (size_t d = 0; d + 1 < extents.size(); ++d) all *= extents[d];
  return all;
}

Status TileConstraints::Check(const Decisions& decisions) const {
  int64_t threads = lanes, elements = lane_elements, box = 1;
  std::vector<int64_t> tiles;
  for (const TiledAxis& axis : axes) {
    const auto& decision = DecisionOf(axis, decisions);
    tiles.push_back(decision ? axis.Tile(decision->values) : axis.unit);
    if (!decision) continue;
    threads *= axis.Threads(decision->values);
    elements *= axis.Elements(decision->values);
    box *= axis.Box(decision->values);
  }
  if (threads < min_threads || threads > max_threads) {
    return Error{fmt::format("{} threads, not {} to {}", threads, min_threads, max_threads)};
  }
  if (elements > max_elements) {
    return Error{
        fmt::format("{} accumulators of a thread, the limit is {}", elements, max_elements)};
  }
  if (threads * elements > max_block_elements) {
    return Error{fmt::format("{} accumulators of a block, the limit is {}", threads * elements,
                             max_block_elements)};
  }
  if (box > max_box) {
    return Error{fmt::format("a thread's accumulators are spread over {} elements, the limit is {}",
                             box, max_box)};
  }
  const int64_t at_a_time = StagesAtATime(decisions);
  int64_t bytes = 0;
  for (const StagedOperand& operand : operands) {
    bytes += at_a_time * RoundUp(operand.BytesOf(tiles), kAlignment);
  }
  if (bytes > max_shared_bytes) {
    return Error{
        fmt::format("{} bytes of shared memory, the limit is {}", bytes, max_shared_bytes)};
  }
  return Ok();
}

const std::optional<tensor::Decision>& TileConstraints::DecisionOf(const TiledAxis& axis,
                                                                   const Decisions& decisions) {
  static const std::optional<tensor::Decision> undecided;
  return axis.step < 0 ? undecided : decisions[static_cast<size_t>(axis.step)];
}

int64_t TileConstraints::StagesAtATime(const Decisions& decisions) const {
  if (stages.step < 0 || !decisions[static_cast<size_t>(stages.step)]) return 1;
  int64_t steps = 1;
  for (const TiledAxis& axis : axes) {
    const auto& decision = DecisionOf(axis, decisions);
    if (decision && axis.kind == TiledAxis::Kind::kReduction) steps *= decision->values[0];
  }
  const auto chosen = static_cast<size_t>(decisions[static_cast<size_t>(stages.step)]->values[0]);
  return std::min(stages.choices[chosen], steps);
}

Status TileConstraints::Draw(Decisions& decisions, base::RandomStream& random) const {
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    for (const TiledAxis& axis : axes) {
      if (axis.step < 0) continue;
      const auto drawn = DrawStep(axis.step, random);
      if (!drawn) return Error{fmt::format("no tiles of an extent of {}", axis.extent)};
      decisions[static_cast<size_t>(axis.step)] = drawn;
    }
    if (stages.step >= 0)
      decisions[static_cast<size_t>(stages.step)] = DrawStep(stages.step, random);
    if (Check(decisions)) return Ok();
  }
  return Error{"no tiles were found that keep the limits of the GPU"};
}

std::optional<tensor::Decision> TileConstraints::DrawStep(int step,
                                                          base::RandomStream& random) const {
  if (step >= 0 && step == stages.step) {
    return tensor::Decision{{random.UniformInt(static_cast<int64_t>(stages.choices.size()))}};
  }
  const auto axis = std::ranges::find(axes, step, &TiledAxis::step);
  if (axis == axes.end()) return std::nullopt;
  auto factors =
      tensor::SamplePerfectTiling(axis->extent, axis->parts(), kMaxInnermostFactor, random);
  if (!factors) return std::nullopt;
  return tensor::Decision{*std::move(factors)};
}

}  // namespace bayloom::sketch
