// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::base {

/// A prime and how often it divides a number.
struct PrimePower {
  int64_t prime = 0;
  int exponent = 0;
};

/// The prime factorization of a number >= 1, primes ascending; none for 1.
///
///     for (const auto [prime, exponent] : PrimeFactors(360)) ...   // 2^3, 3^2, 5^1
///
/// Found by trial division (extents of loops are small) and held without allocation: it is used
/// where mappings are drawn.
class PrimeFactors {
 public:
  explicit PrimeFactors(int64_t number) {
    for (int64_t prime = 2; prime * prime <= number; prime += prime == 2 ? 1 : 2) {
      if (number % prime != 0) continue;
      PrimePower& power = powers_[size_++];
      power.prime = prime;
      for (; number % prime == 0; number /= prime) ++power.exponent;
    }
    if (number > 1) powers_[size_++] = {number, 1};
  }

  /// The number of different primes.
  int size() const { return size_; }
  const PrimePower& operator[](int64_t i) const { return powers_[i]; }
  const PrimePower* begin() const { return powers_; }
  const PrimePower* end() const { return powers_ + size_; }

 private:
  static constexpr int kMaxPrimes = 15;  ///< the product of the first 16 primes exceeds 2^63

  PrimePower powers_[kMaxPrimes];
  int size_ = 0;
};

}  // namespace bayloom::base
