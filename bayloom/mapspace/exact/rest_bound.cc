// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <limits>

#include "bayloom/mapspace/exact/partial_mapping.h"

namespace bayloom::mapspace {

// What levels cost that are not decided yet. A level has to keep some tensors, and its capacity
// bounds its tile, which is a multiple of the tile inside: the least over all such tiles of what is
// moved between the level and those outside, and of what these cost for tiles outside of it. From
// the outermost level inwards these are minima over the lattice of tiles, dimension by dimension.

void PartialMappingModel::FindRest() {
  for (int d = 0; d < dimensions_; ++d) {
    strides_[d] = tiles_;
    tiles_ *= std::ssize(divisors_[d]);
  }
  rest_.resize(levels_.size());
  for (int l = architecture().LevelCount() - 1; l >= 0; --l) FindRest(l);
}

void PartialMappingModel::FindRest(int level) {
  Rest& rest = rest_[level];
  auto& any = rest.least[tensor_count_];
  const bool is_outermost = level + 1 == architecture().LevelCount();
  const bool is_part = architecture().FirstPart(level) != architecture().LastPart(level);
  const uint32_t must = mapspace_.constraints().levels[level].must_keep;
  const int64_t capacity = architecture().levels[level].words;
  rest.is_limited = !is_outermost && !is_part && must != 0 && capacity != 0;
  for (int k = 0; k < components_; ++k) {
    any[k].assign(tiles_, 0);
    if (is_outermost) continue;
    any[k] = rest_[level + 1].least[tensor_count_][k];
    if (!is_part) continue;
    for (int t = 0; t < tensor_count_; ++t) {
      for (double& cost : any[k]) cost += levels_[level].once[t][k] - levels_[level + 1].once[t][k];
    }
  }
  if (is_outermost || is_part || must == 0) return;
  for (int t = 0; t < tensor_count_; ++t) {
    for (int k = 0; k < components_; ++k) rest.least[t][k].resize(tiles_);
  }
  // Of a whole tile of the level.
  std::vector<char> fits(tiles_);
  TileIndex tile = {};
  for (int64_t i = 0; i < tiles_; ++i) {
    for (int d = 0; d < dimensions_; ++d) {
      tile[d] = static_cast<uint8_t>(i / strides_[d] % std::ssize(divisors_[d]));
    }
    const Extents extents = ExtentsOf(tile);
    int64_t words = 0;
    for (int t = 0; t < tensor_count_; ++t) {
      if ((must >> t & 1) != 0) words += tensors_[t].BoxWords(extents);
    }
    fits[i] = capacity == 0 || words <= capacity;
    if (!fits[i]) {
      for (int k = 0; k < components_; ++k) {
        for (int t = 0; t <= tensor_count_; ++t)
          rest.least[t][k][i] = std::numeric_limits<double>::infinity();
      }
      continue;
    }
    const KeptCosts kept = LeastKept(level, tile);
    for (int k = 0; k < components_; ++k) {
      for (int t = 0; t <= tensor_count_; ++t) rest.least[t][k][i] = kept[t][k];
    }
  }
  // The least, or the most, of a tile's multiples of one dimension.
  const auto sweep = [&](std::vector<double>& values, int d, const auto& better) {
    const int64_t count = std::ssize(divisors_[d]);
    for (int64_t i = tiles_ - 1; i >= 0; --i) {
      const int64_t at = i / strides_[d] % count;
      for (const uint8_t j : multiples_[d][at]) {
        const double other = values[i + (j - at) * strides_[d]];
        if (better(other, values[i])) values[i] = other;
      }
    }
  };
  for (int t = 0; t < tensor_count_ && rest.is_limited; ++t) {
    for (int k = 0; k < components_; ++k) {
      for (int d = 0; d < dimensions_; ++d) {
        if (!IsRelevant(t, d)) sweep(rest.least[t][k], d, std::less());
      }
    }
    std::vector<double>& most = rest.most_iterations[t];
    const auto iterations = [&](int64_t i) {
      double product = 1;
      for (int d = 0; d < dimensions_; ++d) {
        if (IsRelevant(t, d)) continue;
        product *= static_cast<double>(divisors_[d][i / strides_[d] % std::ssize(divisors_[d])]);
      }
      return product;
    };
    for (int64_t i = 0; i < tiles_; ++i) most.push_back(fits[i] ? iterations(i) : 0);
    for (int d = 0; d < dimensions_; ++d) {
      if (!IsRelevant(t, d)) sweep(most, d, std::greater());
    }
    for (int64_t i = 0; i < tiles_; ++i) most[i] = std::max(1.0, most[i] / iterations(i));
  }
  for (int k = 0; k < components_; ++k) {
    for (int d = 0; d < dimensions_; ++d) sweep(any[k], d, std::less());
  }
}

}  // namespace bayloom::mapspace
