// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace bayloom::space {

/// Levels of a tree. What is asked of a low level costs the same however many there may be.
class LevelSet {
 public:
  static constexpr int kMaxLevels = 512;

  void Add(int level) { words_[level / 64] |= uint64_t{1} << (level % 64); }
  bool Has(int level) const { return (words_[level / 64] >> (level % 64) & 1) != 0; }
  LevelSet& operator|=(const LevelSet& other) {
    for (int w = 0; w < kWords; ++w) words_[w] |= other.words_[w];
    return *this;
  }

  bool empty() const { return End() == 0; }
  /// The number of members up to a level, itself included.
  int CountUpTo(int level) const {
    int count = 0;
    for (int w = 0; w < level / 64; ++w) count += std::popcount(words_[w]);
    return count + std::popcount(words_[level / 64] & (~uint64_t{0} >> (63 - level % 64)));
  }
  bool HasUpTo(int level) const {
    for (int w = 0; w < level / 64; ++w) {
      if (words_[w] != 0) return true;
    }
    return (words_[level / 64] & (~uint64_t{0} >> (63 - level % 64))) != 0;
  }
  int Count() const { return CountUpTo(kMaxLevels - 1); }
  /// The first member; there must be one.
  int First() const {
    int w = 0;
    while (words_[w] == 0) ++w;
    return 64 * w + std::countr_zero(words_[w]);
  }
  /// Behind the last member; 0 if there is none.
  int End() const {
    for (int w = kWords; w-- > 0;) {
      if (words_[w] != 0) return 64 * w + static_cast<int>(std::bit_width(words_[w]));
    }
    return 0;
  }

 private:
  static constexpr int kWords = kMaxLevels / 64;
  std::array<uint64_t, kWords> words_ = {};
};

}  // namespace bayloom::space
