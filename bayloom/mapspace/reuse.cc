// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/reuse.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>

namespace bayloom::mapspace {

TensorReuse::TensorReuse(const DataSpace& tensor)
    : indexed_(tensor.Indexed()),
      axis_count_(static_cast<int>(tensor.axes.size())),
      dimension_count_(std::bit_width(indexed_)) {
  for (int a = 0; a < axis_count_; ++a) {
    for (const AxisTerm& term : tensor.axes[a]) {
      coefficients_[a][term.dimension] += term.coefficient;
    }
    windowed_ =
        windowed_ || std::ranges::count_if(coefficients_[a], [](int64_t c) { return c != 0; }) > 1;
  }
}

TensorReuse::Vector TensorReuse::Widths(const Extents& tile) const {
  Vector widths;
  for (int a = 0; a < axis_count_; ++a) {
    widths[a] = 1;
    for (int d = 0; d < dimension_count_; ++d) widths[a] += coefficients_[a][d] * (tile[d] - 1);
  }
  return widths;
}

int64_t TensorReuse::BoxWords(const Extents& tile) const {
  const Vector widths = Widths(tile);
  int64_t words = 1;
  for (int a = 0; a < axis_count_; ++a) words *= widths[a];
  return words;
}

TensorReuse::Vector TensorReuse::Step(const NestLoop& loop) const {
  Vector step;
  for (int a = 0; a < axis_count_; ++a) step[a] = coefficients_[a][loop.dimension] * loop.stride;
  return step;
}

int64_t TensorReuse::Deliveries(const Extents& tile, std::span<const NestLoop> loops,
                                ReuseCounting counting) const {
  if (windowed_) {
    return counting == ReuseCounting::kExact ? ExactDeliveries(tile, loops)
                                             : TimeloopDeliveries(tile, loops);
  }
  // Loops that do not index the tensor leave the tile where it is, until one has moved it.
  const auto first =
      std::ranges::find_if(loops, [this](const NestLoop& loop) { return Indexes(loop.dimension); });
  loops = loops.subspan(static_cast<size_t>(first - loops.begin()));
  int64_t words = BoxWords(tile);
  for (const NestLoop& loop : loops) words *= loop.count;
  return words;
}

namespace {

int64_t Product(std::span<const NestLoop> loops) {
  int64_t product = 1;
  for (const NestLoop& loop : loops) product *= loop.count;
  return product;
}

}  // namespace

int64_t TensorReuse::ExactDeliveries(const Extents& tile, std::span<const NestLoop> loops) const {
  const Vector widths = Widths(tile);
  const int64_t words = BoxWords(tile);
  int64_t outside = Product(loops);
  int64_t total = words;
  Vector rewind = {};  // from the first to the last position of the loops inside
  for (const NestLoop& loop : loops) {
    outside /= loop.count;
    const Vector step = Step(loop);
    int64_t kept = 1;
    for (int a = 0; a < axis_count_; ++a) {
      kept *= std::max<int64_t>(0, widths[a] - std::abs(step[a] - rewind[a]));
      rewind[a] += (loop.count - 1) * step[a];
    }
    total += (loop.count - 1) * outside * (words - kept);
  }
  return total;
}

namespace {

/// What moving a tile brings in, as Timeloop sees it. A partial overlap is along one axis in one
/// direction and counts only if no other direction is remembered.
struct Move {
  enum class Kind : uint8_t { kStays, kJumps, kSlides };
  Kind kind = Kind::kStays;
  int direction = 0;      ///< of a slide: 1 + 2 * axis + (1 if backwards)
  int64_t new_words = 0;  ///< of a slide
};

constexpr int kDirections = 1 + 2 * kMaxAxes;  // 0: none remembered

}  // namespace

int64_t TensorReuse::TimeloopDeliveries(const Extents& tile,
                                        std::span<const NestLoop> loops) const {
  const Vector widths = Widths(tile);
  const int64_t words = BoxWords(tile);
  const int directions = 1 + 2 * axis_count_;
  // Of the loops so far, all run once from their second positions on, beginning with any
  // remembered direction: the words brought in and the direction remembered in the end.
  std::array<int64_t, kDirections> brought = {};
  std::array<int, kDirections> remembered;
  for (int i = 0; i < directions; ++i) remembered[i] = i;

  Vector rewind = {};  // by one step of each loop inside
  for (const NestLoop& loop : loops) {
    const Vector step = Step(loop);
    Move move;
    for (int a = 0; a < axis_count_; ++a) {
      const int64_t shift = step[a] - rewind[a];
      rewind[a] += step[a];
      if (shift == 0 || move.kind == Move::Kind::kJumps) continue;
      if (move.kind == Move::Kind::kSlides || std::abs(shift) >= widths[a]) {
        move.kind = Move::Kind::kJumps;
      } else {
        move = {Move::Kind::kSlides, 1 + 2 * a + (shift < 0 ? 1 : 0),
                words / widths[a] * std::abs(shift)};
      }
    }
    const auto inside_brought = brought;
    const auto inside_remembered = remembered;
    for (int i = 0; i < directions; ++i) {
      const int before = inside_remembered[i];
      int after = 0;
      int64_t moved = move.kind == Move::Kind::kStays ? 0 : words;
      if (move.kind == Move::Kind::kSlides && (before == 0 || before == move.direction)) {
        moved = move.new_words;
        after = move.direction;
      }
      brought[i] += (loop.count - 1) * (moved + inside_brought[after]);
      remembered[i] = inside_remembered[after];
    }
  }
  return words + brought[0];
}

SpatialSpread TensorReuse::Spread(const Extents& tile, const Extents& factors) const {
  SpatialSpread spread;
  std::set<int64_t> group_sizes = {1};
  for (int a = 0; a < axis_count_; ++a) {
    int64_t instances = 1;
    int moving = 0;
    for (int d = 0; d < dimension_count_; ++d) {
      if (coefficients_[a][d] == 0 || factors[d] == 1) continue;
      instances *= factors[d];
      ++moving;
    }
    if (moving < 2) {
      spread.boxes *= instances;
      continue;
    }
    // Several dimensions move along this axis: count the instances at each offset.
    std::map<int64_t, int64_t> at_offset = {{0, 1}};
    for (int d = 0; d < dimension_count_; ++d) {
      if (coefficients_[a][d] == 0) continue;
      std::map<int64_t, int64_t> moved;
      for (const auto& [offset, count] : at_offset) {
        for (int64_t i = 0; i < factors[d]; ++i) {
          moved[offset + i * coefficients_[a][d] * tile[d]] += count;
        }
      }
      at_offset = std::move(moved);
    }
    spread.boxes *= static_cast<int64_t>(at_offset.size());
    std::set<int64_t> products;
    for (int64_t size : group_sizes) {
      for (const auto& [offset, count] : at_offset) products.insert(size * count);
    }
    group_sizes = std::move(products);
  }
  spread.group_sizes = static_cast<int>(group_sizes.size());
  return spread;
}

}  // namespace bayloom::mapspace
