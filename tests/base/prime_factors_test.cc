// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/prime_factors.h"

#include <gtest/gtest.h>

#include <limits>

namespace bayloom::base {
namespace {

bool IsPrime(int64_t number) {
  for (int64_t d = 2; d * d <= number; ++d) {
    if (number % d == 0) return false;
  }
  return number > 1;
}

int64_t Product(const PrimeFactors& factors) {
  int64_t product = 1;
  for (const auto [prime, exponent] : factors) {
    for (int i = 0; i < exponent; ++i) product *= prime;
  }
  return product;
}

TEST(PrimeFactors, AreAscendingPrimesWhoseProductIsTheNumber) {
  for (int64_t number = 1; number <= 5000; ++number) {
    const PrimeFactors factors(number);
    EXPECT_EQ(Product(factors), number);
    int64_t last = 1;
    for (const auto [prime, exponent] : factors) {
      EXPECT_TRUE(IsPrime(prime)) << number;
      EXPECT_GT(prime, last) << number;
      EXPECT_GE(exponent, 1) << number;
      last = prime;
    }
  }
  EXPECT_EQ(PrimeFactors(1).size(), 0);
}

TEST(PrimeFactors, HoldLargeNumbers) {
  int64_t primorial = 1;  // of the first 15 primes; one more does not fit 63 bits
  int primes = 0;
  for (int64_t p = 2; primes < 15; ++p) {
    if (IsPrime(p)) primorial *= p, ++primes;
  }
  EXPECT_EQ(PrimeFactors(primorial).size(), 15);
  EXPECT_GT(primorial, std::numeric_limits<int64_t>::max() / 53);
  EXPECT_EQ(PrimeFactors(int64_t{1} << 62)[0].exponent, 62);
  EXPECT_EQ(PrimeFactors(int64_t{1000003} * 1000033)[1].prime, 1000033);
}

}  // namespace
}  // namespace bayloom::base
