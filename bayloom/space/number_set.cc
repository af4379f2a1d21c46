// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/number_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/base/prime_factors.h"

namespace bayloom::space {
namespace {

/// Whole numbers up to here are doubles.
constexpr double kMaxWhole = 0x1p53;

__extension__ using Wide = __int128;

struct Congruence {
  int64_t modulus = 1;  ///< 0: one number, the residue
  int64_t residue = 0;
};

int64_t PositiveRest(Wide value, int64_t modulus) {
  const Wide rest = value % modulus;
  return static_cast<int64_t>(rest < 0 ? rest + modulus : rest);
}

/// The congruence with numbers of any size: too large ones say nothing.
Congruence Reduced(Wide modulus, Wide residue) {
  const auto is_small = [](Wide x) {
    return x <= static_cast<Wide>(kMaxWhole) && -x <= static_cast<Wide>(kMaxWhole);
  };
  if (!is_small(modulus)) return {};
  if (modulus != 0) {
    return {static_cast<int64_t>(modulus), PositiveRest(residue, static_cast<int64_t>(modulus))};
  }
  if (!is_small(residue)) return {};
  return {0, static_cast<int64_t>(residue)};
}

bool IsWhole(double value) { return std::abs(value) <= kMaxWhole && value == std::floor(value); }

Congruence CongruenceOf(const NumberSet& set) {
  if (!(std::abs(set.low) <= kMaxWhole && std::abs(set.high) <= kMaxWhole) && set.IsPoint())
    return {};
  if (set.IsPoint()) return {0, static_cast<int64_t>(set.low)};
  return {set.modulus, set.residue};
}

Wide Gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

void SetCongruence(NumberSet& set, const Congruence& congruence) {
  const NumberSet known = NumberSet::Congruent(congruence.modulus, congruence.residue);
  if (congruence.modulus == 0) {
    set = known;
  } else {
    set.modulus = known.modulus;
    set.residue = known.residue;
  }
}

/// x with a x = 1 (mod m), for a and m without a common divisor.
int64_t Inverse(int64_t a, int64_t m) {
  Wide old_rest = a, rest = m, old_x = 1, x = 0;
  while (rest != 0) {
    const Wide quotient = old_rest / rest;
    std::swap(old_rest, rest);
    rest -= quotient * old_rest;
    std::swap(old_x, x);
    x -= quotient * old_x;
  }
  return PositiveRest(old_x, m);
}

double Product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

template <typename Function>
NumberSet HullOfCorners(const NumberSet& a, const NumberSet& b, bool whole, Function f) {
  const double corners[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return NumberSet::Between(*low, *high, whole);
}

/// All whole numbers that divide `number`, between two ends, ascending.
std::vector<double> Divisors(int64_t number, double low, double high) {
  std::vector<double> divisors = {1};
  for (const auto& [prime, exponent] : base::PrimeFactors(std::abs(number))) {
    const size_t before = divisors.size();
    double power = 1;
    for (int i = 0; i < exponent; ++i) {
      power *= static_cast<double>(prime);
      for (size_t d = 0; d < before; ++d) divisors.push_back(divisors[d] * power);
    }
  }
  if (low < 0) {
    const size_t positive = divisors.size();
    for (size_t d = 0; d < positive; ++d) divisors.push_back(-divisors[d]);
  }
  std::erase_if(divisors, [&](double d) { return d < low || d > high; });
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

}  // namespace

NumberSet NumberSet::Point(double value) { return Between(value, value, IsWhole(value)); }

NumberSet NumberSet::Between(double low, double high, bool whole) {
  NumberSet set;
  set.low = low;
  set.high = high;
  set.whole = whole;
  return set;
}

NumberSet NumberSet::Congruent(int64_t modulus, int64_t residue) {
  if (modulus == 0) return Point(static_cast<double>(residue));
  NumberSet set;
  set.whole = true;
  set.modulus = std::abs(modulus);
  set.residue = PositiveRest(residue, set.modulus);
  return set;
}

NumberSet NumberSet::DivisorsOf(int64_t dividend) {
  const auto most = static_cast<double>(std::abs(dividend));
  NumberSet set = Between(-most, most, true);
  set.dividend = std::abs(dividend);
  return set;
}

bool NumberSet::Contains(double value) const {
  if (!(value >= low && value <= high)) return false;
  if (list != nullptr && !std::binary_search(list->begin(), list->end(), value)) return false;
  if (!whole) return true;
  if (!IsWhole(value)) return false;
  const auto number = static_cast<int64_t>(value);
  if (dividend != 0 && (number == 0 || dividend % number != 0)) return false;
  return modulus == 1 || PositiveRest(number, modulus) == residue;
}

bool NumberSet::Intersect(const NumberSet& other) {
  if (IsNan() || other.IsNan()) return IsNan() && other.IsNan();
  low = std::max(low, other.low);
  high = std::min(high, other.high);
  if (other.list != nullptr && (list == nullptr || other.list->size() < list->size())) {
    list = other.list;
  }
  if (!other.whole) return Tighten();
  whole = true;
  if (other.dividend != 0) dividend = static_cast<int64_t>(Gcd(dividend, other.dividend));
  if (other.modulus == 1) return Tighten();
  const auto common = static_cast<int64_t>(Gcd(modulus, other.modulus));
  if ((residue - other.residue) % common != 0) return false;
  const int64_t own = modulus / common;
  const Wide both = static_cast<Wide>(own) * other.modulus;
  if (both > static_cast<Wide>(kMaxWhole)) {
    if (other.modulus > modulus) {
      modulus = other.modulus;
      residue = other.residue;
    }
    return Tighten();
  }
  // Chinese remainders: x = other.residue + other.modulus * t.
  const int64_t t = own == 1
                        ? 0
                        : PositiveRest(static_cast<Wide>((residue - other.residue) / common) *
                                           Inverse(PositiveRest(other.modulus / common, own), own),
                                       own);
  residue = PositiveRest(other.residue + static_cast<Wide>(other.modulus) * t,
                         static_cast<int64_t>(both));
  modulus = static_cast<int64_t>(both);
  return Tighten();
}

/// Moves the ends to the nearest members that intervals and residues know of.
bool NumberSet::Tighten() {
  if (list != nullptr) {
    const auto first = std::lower_bound(list->begin(), list->end(), low);
    const auto end = std::upper_bound(first, list->end(), high);
    if (first == end) return false;
    low = *first;
    high = *(end - 1);
  }
  if (whole) {
    if (dividend != 0) {
      low = std::max(low, -static_cast<double>(dividend));
      high = std::min(high, static_cast<double>(dividend));
      if (low > -1 && low < 1) low = 1;
      if (high < 1 && high > -1) high = -1;
    }
    low = std::ceil(low);
    high = std::floor(high);
    if (modulus > 1) {
      const auto step = static_cast<double>(modulus);
      if (std::abs(low) < kMaxWhole) {
        const int64_t rest =
            PositiveRest(static_cast<int64_t>(low) - static_cast<Wide>(residue), modulus);
        if (rest != 0) low += step - static_cast<double>(rest);
      }
      if (std::abs(high) < kMaxWhole) {
        high -= static_cast<double>(
            PositiveRest(static_cast<int64_t>(high) - static_cast<Wide>(residue), modulus));
      }
    }
  }
  return low <= high && (low < high || Contains(low));
}

NumberSet operator+(const NumberSet& a, const NumberSet& b) {
  NumberSet sum = NumberSet::Between(a.low + b.low, a.high + b.high, a.whole && b.whole);
  if (!sum.whole || sum.IsPoint()) return sum;
  const Congruence x = CongruenceOf(a), y = CongruenceOf(b);
  SetCongruence(sum, Reduced(Gcd(x.modulus, y.modulus), static_cast<Wide>(x.residue) + y.residue));
  return sum;
}

NumberSet operator-(const NumberSet& a) {
  NumberSet negated = NumberSet::Between(-a.high, -a.low, a.whole);
  negated.dividend = a.dividend;
  negated.modulus = a.modulus;
  negated.residue = a.residue == 0 ? 0 : a.modulus - a.residue;
  return negated;
}

NumberSet operator-(const NumberSet& a, const NumberSet& b) { return a + -b; }

NumberSet operator*(const NumberSet& a, const NumberSet& b) {
  NumberSet product = HullOfCorners(a, b, a.whole && b.whole, Product);
  if (!product.whole || product.IsPoint()) return product;
  const Congruence x = CongruenceOf(a), y = CongruenceOf(b);
  // Products of two numbers below 2^53 fit; those of three residues are not formed.
  const Wide modulus =
      Gcd(Gcd(static_cast<Wide>(x.modulus) * y.modulus, static_cast<Wide>(x.modulus) * y.residue),
          static_cast<Wide>(y.modulus) * x.residue);
  SetCongruence(product, Reduced(modulus, static_cast<Wide>(x.residue) * y.residue));
  return product;
}

NumberSet FactorsOf(const NumberSet& a, const NumberSet& b) {
  if (b.high < 0) return -FactorsOf(a, -b);
  double least = b.low;
  // Where the product is not zero, neither is a factor.
  const bool has_zero = a.low <= 0 && a.high >= 0;
  if (least == 0 && b.whole && !has_zero) least = 1;
  if (!(least > 0)) return {};
  return NumberSet::Between(a.low >= 0 ? a.low / b.high : a.low / least,
                            a.high >= 0 ? a.high / least : a.high / b.high, false);
}

bool WholeFactorsOf(const NumberSet& a, const NumberSet& b, NumberSet& factors) {
  const Congruence x = CongruenceOf(a), y = CongruenceOf(b);
  const auto known = static_cast<int64_t>(Gcd(y.modulus, y.residue));  // divides all of b
  const int64_t dividend = x.modulus == 0 ? std::abs(x.residue) : a.dividend;
  factors.whole = true;
  if (dividend != 0 && known != 0) {
    if (dividend % known != 0) return false;
    if (!factors.Intersect(NumberSet::DivisorsOf(dividend / known))) return false;
  }
  if (y.modulus != 0 || y.residue == 0 || x.modulus <= 1) return true;
  // y.residue * factor = x.residue (mod x.modulus)
  const auto common = static_cast<int64_t>(Gcd(y.residue, x.modulus));
  if (x.residue % common != 0) return false;
  const int64_t modulus = x.modulus / common;
  const int64_t inverse = Inverse(PositiveRest(y.residue / common, modulus), modulus);
  const int64_t residue = PositiveRest(static_cast<Wide>(x.residue / common) * inverse, modulus);
  return factors.Intersect(NumberSet::Congruent(modulus, residue));
}

Members::Members(const NumberSet& set) {
  if (set.list != nullptr || (set.dividend != 0 && set.dividend <= kMaxDividend)) {
    is_list_ = true;
    list_ = set.list != nullptr ? *set.list : Divisors(set.dividend, set.low, set.high);
    std::erase_if(list_, [&](double member) { return !set.Contains(member); });
    count_ = static_cast<double>(list_.size());
    return;
  }
  if (!set.whole || !std::isfinite(set.low) || !std::isfinite(set.high)) return;
  first_ = set.low;
  step_ = static_cast<double>(set.modulus);
  count_ = std::floor((set.high - set.low) / step_) + 1;
}

double Members::PositionFrom(double value) const {
  if (is_list_) {
    return static_cast<double>(std::lower_bound(list_.begin(), list_.end(), value) - list_.begin());
  }
  return std::clamp(std::ceil((value - first_) / step_), 0.0, count_);
}

double Members::Nearest(double value) const {
  const double above = std::min(PositionFrom(value), count_ - 1);
  if (above == 0) return At(0);
  const double below = above - 1;
  return value - At(below) < At(above) - value ? At(below) : At(above);
}

}  // namespace bayloom::space
