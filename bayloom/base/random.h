// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

namespace bayloom::base {

/// A random stream: xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64.
///
/// One seed gives the same numbers on every platform (unlike the distributions of `<random>`).
/// `Fork` derives an independent stream, so that parallel work draws the same numbers regardless of
/// the number of threads: fork once per item, in order, before handing the items out.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed);

  uint64_t Next();
  /// Uniform in [0, bound); bound >= 1. Unbiased.
  int64_t UniformInt(int64_t bound);
  /// Uniform in [0, 1).
  double Uniform();
  double Normal();
  /// Index drawn with probability proportional to weights[i] >= 0; not all zero.
  int Weighted(std::span<const double> weights);
  RandomStream Fork();

  template <typename Container>
  void Shuffle(Container& items) {
    for (int64_t i = static_cast<int64_t>(items.size()) - 1; i > 0; --i) {
      using std::swap;
      swap(items[i], items[UniformInt(i + 1)]);
    }
  }

 private:
  uint64_t state_[4];
};

}  // namespace bayloom::base
