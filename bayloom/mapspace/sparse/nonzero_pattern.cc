// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/nonzero_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/sparse/optimization.h"

namespace bayloom::mapspace {
namespace {

int64_t TilesOver(int64_t bound, int64_t tile) { return (bound + tile - 1) / tile; }

/// Counts along one axis: those of single words become those of spans. `inner` values of the later
/// axes stand behind each other.
std::vector<int32_t> SumSpans(const std::vector<int32_t>& counts, int64_t length, int64_t inner,
                              const std::vector<std::pair<int64_t, int64_t>>& spans) {
  const int64_t outer = std::ssize(counts) / (length * inner);
  std::vector<int32_t> sums(static_cast<size_t>(outer * std::ssize(spans) * inner));
  std::vector<int32_t> until(static_cast<size_t>((length + 1) * inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < length * inner; ++i) {
      until[i + inner] = until[i] + counts[o * length * inner + i];
    }
    for (int64_t s = 0; s < std::ssize(spans); ++s) {
      const auto [begin, end] = spans[s];
      int32_t* to = &sums[(o * std::ssize(spans) + s) * inner];
      for (int64_t i = 0; i < inner; ++i) to[i] = until[end * inner + i] - until[begin * inner + i];
    }
  }
  return sums;
}

/// Calls `visit` with the numbers of every cell of a grid, the last fastest.
template <typename Visit>
void ForEachCell(const std::vector<int64_t>& sizes, Visit visit) {
  std::vector<int64_t> at(sizes.size(), 0);
  for (;;) {
    visit(at);
    int d = static_cast<int>(sizes.size()) - 1;
    for (; d >= 0; --d) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

/// `counts` tiles have the value `k * unit`.
TileStatistics StatisticsOf(const std::vector<int64_t>& counts, double unit) {
  const auto tiles = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  TileStatistics statistics;
  double sum = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const double value = static_cast<double>(k) * unit;
    sum += value * static_cast<double>(counts[k]);
    statistics.values.emplace_back(value, static_cast<double>(counts[k]) / tiles);
  }
  statistics.mean = sum / tiles;
  return statistics;
}

}  // namespace

double TileStatistics::At(double probability) const {
  if (probability == kFitsExpected) return mean;
  if (probability >= 1) return values.back().first;
  double total = 0;
  for (const auto& [value, share] : values) {
    total += share;
    if (total >= probability) return value;
  }
  return values.back().first;
}

NonzeroPattern::NonzeroPattern(const DataSpace& tensor, const Extents& bounds,
                               std::shared_ptr<const Nonzeros> nonzeros)
    : bounds_(bounds), nonzeros_(std::move(nonzeros)) {
  DimensionSet seen = 0;
  for (const std::vector<AxisTerm>& terms : tensor.axes) {
    Axis& axis = axes_.emplace_back();
    axis.length = 1;
    for (const AxisTerm& term : terms) {
      if ((seen >> term.dimension & 1) != 0) {
        throw InputError(fmt::format(
            "tensor '{}': it cannot be said where nonzeros are if a dimension indexes it twice",
            tensor.name));
      }
      seen |= DimensionSet{1} << term.dimension;
      const int64_t bound = bounds[term.dimension];
      axis.terms.push_back({term.dimension, bound, term.coefficient});
      axis.length += term.coefficient * (bound - 1);
    }
  }
  std::vector<int64_t> lengths;
  for (const Axis& axis : axes_) lengths.push_back(axis.length);
  if (lengths != nonzeros_->lengths) {
    throw InputError(fmt::format("tensor '{}' is of {} words, its nonzeros are of one of {}",
                                 tensor.name, fmt::join(lengths, "x"),
                                 fmt::join(nonzeros_->lengths, "x")));
  }
}

Extents NonzeroPattern::Normalized(Extents tile) const {
  Extents normalized = kUnitExtents;
  for (const Axis& axis : axes_) {
    for (const Term& term : axis.terms) {
      normalized[term.dimension] = std::min(tile[term.dimension], term.bound);
    }
  }
  return normalized;
}

NonzeroPattern::Places NonzeroPattern::PlacesAlong(const Axis& axis, const Extents& tile) const {
  std::vector<int64_t> sizes;
  for (const Term& term : axis.terms) sizes.push_back(TilesOver(term.bound, tile[term.dimension]));
  Places places;
  std::map<std::pair<int64_t, int64_t>, int32_t> known;
  ForEachCell(sizes, [&](const std::vector<int64_t>& at) {
    int64_t begin = 0, end = 1;
    for (size_t t = 0; t < axis.terms.size(); ++t) {
      const Term& term = axis.terms[t];
      const int64_t first = at[t] * tile[term.dimension];
      const int64_t last = std::min(first + tile[term.dimension], term.bound) - 1;
      begin += term.coefficient * first;
      end += term.coefficient * last;
    }
    const auto [found, is_new] =
        known.try_emplace({begin, end}, static_cast<int32_t>(places.spans.size()));
    if (is_new) {
      places.spans.emplace_back(begin, end);
      places.tiles.push_back(0);
    }
    ++places.tiles[found->second];
    places.of_tile.push_back(found->second);
  });
  return places;
}

std::vector<int32_t> NonzeroPattern::CountsAt(const std::vector<Places>& places) const {
  std::vector<int32_t> counts(nonzeros_->flags.begin(), nonzeros_->flags.end());
  int64_t inner = nonzeros_->Words();
  for (size_t a = 0; a < axes_.size(); ++a) {
    inner /= axes_[a].length;
    counts = SumSpans(counts, axes_[a].length, inner, places[a].spans);
  }
  return counts;
}

std::shared_ptr<const TileStatistics> NonzeroPattern::Occupancies(const Extents& wanted) const {
  const Extents tile = Normalized(wanted);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = occupancies_.find(tile); found != occupancies_.end()) {
      return found->second;
    }
  }
  std::vector<Places> places;
  std::vector<int64_t> sizes;
  for (const Axis& axis : axes_) {
    places.push_back(PlacesAlong(axis, tile));
    sizes.push_back(std::ssize(places.back().spans));
  }
  const std::vector<int32_t> occupancy = CountsAt(places);
  std::vector<int64_t> counts(static_cast<size_t>(*std::ranges::max_element(occupancy)) + 1);
  size_t index = 0;
  ForEachCell(sizes, [&](const std::vector<int64_t>& at) {
    int64_t tiles = 1;
    for (size_t a = 0; a < places.size(); ++a) tiles *= places[a].tiles[at[a]];
    counts[occupancy[index++]] += tiles;
  });
  auto statistics = std::make_shared<const TileStatistics>(StatisticsOf(counts, 1));
  const std::lock_guard lock(mutex_);
  return occupancies_.emplace(tile, std::move(statistics)).first->second;
}

NonzeroPattern::Grid NonzeroPattern::NonemptyGrid(const Extents& tile) const {
  std::vector<Places> places;
  std::vector<int64_t> tiles_along;
  Grid grid;
  for (const Axis& axis : axes_) {
    places.push_back(PlacesAlong(axis, tile));
    tiles_along.push_back(std::ssize(places.back().of_tile));
    for (const Term& term : axis.terms) {
      grid.dimensions.push_back(term.dimension);
      grid.sizes.push_back(TilesOver(term.bound, tile[term.dimension]));
    }
  }
  const std::vector<int32_t> counts = CountsAt(places);
  ForEachCell(tiles_along, [&](const std::vector<int64_t>& at) {
    int64_t index = 0;
    for (size_t a = 0; a < places.size(); ++a) {
      index = index * std::ssize(places[a].spans) + places[a].of_tile[at[a]];
    }
    grid.nonempty.push_back(counts[index] > 0 ? 1 : 0);
  });
  return grid;
}

std::shared_ptr<const TileStatistics> NonzeroPattern::NonemptyParts(
    const Extents& wanted_tile, const Extents& wanted_part) const {
  const Extents tile = Normalized(wanted_tile), part = Normalized(wanted_part);
  const std::pair key(tile, part);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
  }
  const Grid parts = NonemptyGrid(part);
  int64_t parts_in_tile = 1;
  std::vector<int64_t> along, tiles;
  int64_t tile_count = 1;
  for (const int d : parts.dimensions) {
    along.push_back(std::max<int64_t>(1, tile[d] / part[d]));
    tiles.push_back(TilesOver(bounds_[d], tile[d]));
    parts_in_tile *= along.back();
    tile_count *= tiles.back();
  }
  std::vector<int64_t> nonempty(static_cast<size_t>(tile_count));
  size_t index = 0;
  ForEachCell(parts.sizes, [&](const std::vector<int64_t>& at) {
    if (parts.nonempty[index++] == 0) return;
    int64_t of = 0;
    for (size_t d = 0; d < at.size(); ++d) of = of * tiles[d] + at[d] / along[d];
    ++nonempty[of];
  });
  std::vector<int64_t> counts(static_cast<size_t>(*std::ranges::max_element(nonempty)) + 1);
  for (const int64_t count : nonempty) ++counts[count];
  auto statistics = std::make_shared<const TileStatistics>(
      StatisticsOf(counts, 1 / static_cast<double>(parts_in_tile)));
  const std::lock_guard lock(mutex_);
  return parts_.emplace(key, std::move(statistics)).first->second;
}

std::vector<double> NonzeroPattern::MeansOver(const Grid& grid, const std::vector<int>& shared) {
  std::vector<int64_t> stride(grid.dimensions.size(), 0);
  int64_t cells = 1;
  for (auto d = shared.rbegin(); d != shared.rend(); ++d) {
    const auto at = std::ranges::find(grid.dimensions, *d) - grid.dimensions.begin();
    stride[at] = cells;
    cells *= grid.sizes[at];
  }
  std::vector<double> means(static_cast<size_t>(cells));
  const double share = static_cast<double>(cells) / static_cast<double>(grid.nonempty.size());
  size_t index = 0;
  ForEachCell(grid.sizes, [&](const std::vector<int64_t>& at) {
    if (grid.nonempty[index++] == 0) return;
    int64_t of = 0;
    for (size_t d = 0; d < at.size(); ++d) of += at[d] * stride[d];
    means[of] += share;
  });
  return means;
}

double NonzeroPattern::NonemptyTogether(const Extents& wanted, const NonzeroPattern& other,
                                        const Extents& other_wanted) const {
  const Extents mine = Normalized(wanted), theirs = other.Normalized(other_wanted);
  const Together key(&other, mine, theirs);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = together_.find(key); found != together_.end()) return found->second;
  }
  const Grid a = NonemptyGrid(mine), b = other.NonemptyGrid(theirs);
  std::vector<int> shared;
  std::vector<int64_t> cells, unit;
  for (const int d : a.dimensions) {
    if (std::ranges::find(b.dimensions, d) == b.dimensions.end()) continue;
    shared.push_back(d);
    unit.push_back(std::gcd(mine[d], theirs[d]));
    cells.push_back(TilesOver(bounds_[d], unit.back()));
  }
  const std::vector<double> of_a = MeansOver(a, shared), of_b = MeansOver(b, shared);
  double sum = 0, points = 0;
  ForEachCell(cells, [&](const std::vector<int64_t>& at) {
    int64_t in_a = 0, in_b = 0, size = 1;
    for (size_t i = 0; i < shared.size(); ++i) {
      const int d = shared[i];
      const int64_t first = at[i] * unit[i];
      in_a = in_a * TilesOver(bounds_[d], mine[d]) + first / mine[d];
      in_b = in_b * TilesOver(bounds_[d], theirs[d]) + first / theirs[d];
      size *= std::min(unit[i], bounds_[d] - first);
    }
    sum += static_cast<double>(size) * of_a[in_a] * of_b[in_b];
    points += static_cast<double>(size);
  });
  const std::lock_guard lock(mutex_);
  return together_.emplace(key, sum / points).first->second;
}

}  // namespace bayloom::mapspace
