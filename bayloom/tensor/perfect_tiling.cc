// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "bayloom/base/prime_factors.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::tensor {
namespace {

/// Ordered factorizations of n into `parts` factors: a composition per prime power, that is
/// C(exponent + parts - 1, parts - 1) each.
int64_t CountFactorizations(int64_t n, int parts) {
  if (parts == 0) return n == 1 ? 1 : 0;
  int64_t count = 1;
  for (const base::PrimePower& power : base::PrimeFactors(n)) {
    int64_t binomial = 1;
    for (int i = 1; i <= power.exponent; ++i) binomial = binomial * (parts - 1 + i) / i;
    count *= binomial;
  }
  return count;
}

std::vector<int64_t> DivisorsOf(int64_t n) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d * d != n) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

void ListTilings(int64_t extent, int parts, int64_t max_innermost, std::vector<int64_t>& prefix,
                 std::vector<std::vector<int64_t>>& tilings) {
  if (parts == 1) {
    if (extent > max_innermost) return;
    prefix.push_back(extent);
    tilings.push_back(prefix);
    prefix.pop_back();
    return;
  }
  for (int64_t divisor : DivisorsOf(extent)) {
    prefix.push_back(divisor);
    ListTilings(extent / divisor, parts - 1, max_innermost, prefix, tilings);
    prefix.pop_back();
  }
}

/// Deals `exponent` copies of a prime out over the factors: a uniform composition, drawn as the
/// places of parts - 1 bars among exponent + parts - 1 (stars and bars).
void DealPrime(const base::PrimePower& power, base::RandomStream& random,
               std::vector<int64_t>& factors) {
  int64_t bars = static_cast<int64_t>(factors.size()) - 1;
  int64_t places = power.exponent + bars;
  size_t part = 0;
  for (; places > 0; --places) {
    if (random.UniformInt(places) < bars) {
      --bars;
      ++part;
    } else {
      factors[part] *= power.prime;
    }
  }
}

int64_t LargestDivisorUpTo(int64_t limit, int64_t n) {
  int64_t largest = 1;
  for (int64_t divisor : DivisorsOf(n)) {
    if (divisor <= limit) largest = divisor;
  }
  return largest;
}

/// The inner factors while they divide the extent; one that does not takes all that remains.
std::vector<int64_t> FitFactors(int64_t extent, std::vector<int64_t> factors) {
  int64_t left = extent;
  for (size_t i = factors.size() - 1; i > 0; --i) {
    if (factors[i] < 1 || left % factors[i] != 0) factors[i] = left;
    left /= factors[i];
  }
  factors[0] = left;
  return factors;
}

}  // namespace

const std::vector<std::vector<int64_t>>& PerfectTilings(int64_t extent, int parts,
                                                        int64_t max_innermost) {
  using Tilings = std::vector<std::vector<int64_t>>;
  static std::shared_mutex mutex;
  static std::map<std::tuple<int64_t, int, int64_t>, std::unique_ptr<const Tilings>> cache;
  const auto key = std::make_tuple(extent, parts, max_innermost);
  {
    std::shared_lock lock(mutex);
    if (auto found = cache.find(key); found != cache.end()) return *found->second;
  }
  auto tilings = std::make_unique<Tilings>();
  std::vector<int64_t> prefix;
  ListTilings(extent, parts, max_innermost, prefix, *tilings);
  std::unique_lock lock(mutex);
  return *cache.emplace(key, std::move(tilings)).first->second;
}

int64_t CountPerfectTilings(int64_t extent, int parts, int64_t max_innermost) {
  int64_t count = 0;
  for (int64_t innermost : DivisorsOf(extent)) {
    if (innermost <= max_innermost) count += CountFactorizations(extent / innermost, parts - 1);
  }
  return count;
}

std::optional<std::vector<int64_t>> SamplePerfectTiling(int64_t extent, int parts,
                                                        int64_t max_innermost,
                                                        base::RandomStream& random) {
  if (parts == 1 && extent > max_innermost) return std::nullopt;
  const base::PrimeFactors powers(extent);
  std::vector<int64_t> factors(parts);
  do {  // with two parts or more the innermost factor can be 1, so this ends
    std::fill(factors.begin(), factors.end(), 1);
    for (const base::PrimePower& power : powers) DealPrime(power, random, factors);
  } while (factors.back() > max_innermost);
  return factors;
}

std::vector<int64_t> RepairTiling(int64_t extent, const std::vector<int64_t>& wanted,
                                  int64_t max_innermost) {
  std::vector<int64_t> factors = FitFactors(extent, wanted);
  if (factors == wanted || factors.back() <= max_innermost || factors.size() == 1) return factors;
  const int64_t innermost = LargestDivisorUpTo(max_innermost, extent);
  factors.assign(wanted.begin(), wanted.end() - 1);
  factors = FitFactors(extent / innermost, std::move(factors));
  factors.push_back(innermost);
  return factors;
}

}  // namespace bayloom::tensor
