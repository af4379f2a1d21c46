// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bayloom/base/prime_factors.h"
#include "bayloom/base/single_line.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {
namespace {

/// Number of ways to write `total` as an ordered sum of `parts` numbers from 0 up, which is
/// binomial(total + parts - 1, total); as a double, so that what is too large stays comparable.
double Compositions(int total, int parts) {
  if (parts == 0) return total == 0 ? 1 : 0;
  double count = 1;
  for (int i = 1; i <= total; ++i) count = std::round(count * (parts - 1 + i) / i);
  return count;
}

/// Ranks go by the innermost factor, from small to large; below it, each prime of what is left
/// brings one digit: the rank of how its exponent is spread over the outer places.
class Factorization final : public Parameter {
 public:
  Factorization(std::string name, int64_t extent, int parts, int64_t max_innermost)
      : Parameter(std::move(name)),
        extent_(extent),
        parts_(parts),
        max_innermost_(max_innermost),
        primes_(extent) {
    FindInnermost(0, 1);
    std::sort(innermost_.begin(), innermost_.end());
    double before = 0;
    for (int64_t factor : innermost_) {
      before_.push_back(before);
      before += OuterCount(extent / factor);
    }
    before_.push_back(before);
  }

  ParameterKind kind() const override { return ParameterKind::kFactorization; }
  std::string Describe() const override {
    return fmt::format(
        "factorization of {} into {}{}", extent_, parts_,
        max_innermost_ > 0 ? fmt::format(", innermost at most {}", max_innermost_) : "");
  }
  int64_t Cardinality() const override { return static_cast<int64_t>(before_.back()); }
  /// As Cardinality, but not cut off.
  double Size() const { return before_.back(); }
  Value ValueAt(double coordinate) const override {
    std::vector<int64_t> factors(parts_);
    ElementsAt(coordinate, factors);
    return factors;
  }

  Result<double> CoordinateOf(const Value& value) const override {
    const auto* factors = std::get_if<std::vector<int64_t>>(&value);
    if (factors != nullptr && IsInDomain(*factors)) return RankOf(*factors);
    return Error{fmt::format("{} is no {}", base::SingleLine(ToString(value)), Describe())};
  }

  double NumberAt(double coordinate) const override { return coordinate; }
  int ElementCount() const override { return parts_; }

  void ElementsAt(double coordinate, std::span<int64_t> factors) const override {
    const auto above = std::upper_bound(before_.begin(), before_.end(), coordinate);
    const auto index = static_cast<size_t>(above - before_.begin()) - 1;
    auto rank = static_cast<int64_t>(coordinate - before_[index]);
    std::fill(factors.begin(), factors.begin() + parts_, 1);
    factors[parts_ - 1] = innermost_[index];
    int64_t rest = extent_ / innermost_[index];
    for (const auto& [prime, most] : primes_) {
      const int exponent = TakeOut(rest, prime);
      const auto ways = static_cast<int64_t>(Compositions(exponent, parts_ - 1));
      if (exponent > 0) Spread(rank % ways, prime, exponent, factors);
      rank /= ways;
    }
  }

  int EmbeddingSize() const override { return parts_; }
  void Embed(double coordinate, std::span<double> point) const override {
    std::array<int64_t, kMaxElements> factors;
    ElementsAt(coordinate, factors);
    // Farthest apart is all of the extent in one place from all of it in another.
    const double movable = static_cast<double>(parts_ > 2 ? extent_ : innermost_.back());
    const double farthest = movable > 1 && parts_ > 1 ? M_SQRT2 * std::log(movable) : 1;
    for (int i = 0; i < parts_; ++i)
      point[i] = std::log(static_cast<double>(factors[i])) / farthest;
  }

  double Sample(base::RandomStream& random) const override {
    return static_cast<double>(random.UniformInt(Cardinality()));
  }

  std::vector<double> Neighbours(double coordinate, base::RandomStream&) const override {
    std::array<int64_t, kMaxElements> factors;
    ElementsAt(coordinate, factors);
    std::vector<double> neighbours;
    for (const auto& [prime, exponent] : primes_) {
      for (int from = 0; from < parts_; ++from) {
        if (factors[from] % prime != 0) continue;
        for (int to = 0; to < parts_; ++to) {
          if (to == from) continue;
          factors[from] /= prime;
          factors[to] *= prime;
          if (factors[parts_ - 1] <= innermost_.back()) neighbours.push_back(RankOf(factors));
          factors[from] *= prime;
          factors[to] /= prime;
        }
      }
    }
    return neighbours;
  }

 private:
  /// Collects the divisors that the innermost factor may be.
  void FindInnermost(int prime, int64_t divisor) {
    if (prime == primes_.size()) {
      if (parts_ == 1 && divisor != extent_) return;
      if (max_innermost_ <= 0 || divisor <= max_innermost_) innermost_.push_back(divisor);
      return;
    }
    for (int e = 0; e <= primes_[prime].exponent; ++e) {
      FindInnermost(prime + 1, divisor);
      divisor *= primes_[prime].prime;
    }
  }

  static int TakeOut(int64_t& number, int64_t prime) {
    int exponent = 0;
    for (; number % prime == 0; number /= prime) ++exponent;
    return exponent;
  }

  /// Number of splits into the outer factors.
  double OuterCount(int64_t product) const {
    double count = 1;
    for (const base::PrimePower& p : primes_)
      count *= Compositions(TakeOut(product, p.prime), parts_ - 1);
    return count;
  }

  /// Multiplies the outer factors by the prime as often as the composition with this rank says:
  /// the exponent of the first place counts first, then that of the second...
  void Spread(int64_t rank, int64_t prime, int exponent, std::span<int64_t> factors) const {
    for (int place = 0; place < parts_ - 1; ++place) {
      int here = 0;
      for (; here < exponent; ++here) {
        const auto ways = static_cast<int64_t>(Compositions(exponent - here, parts_ - 2 - place));
        if (rank < ways) break;
        rank -= ways;
      }
      for (int i = 0; i < here; ++i) factors[place] *= prime;
      exponent -= here;
    }
  }

  bool IsInDomain(const std::vector<int64_t>& factors) const {
    if (static_cast<int>(factors.size()) != parts_ || factors.back() > innermost_.back())
      return false;
    int64_t rest = extent_;
    for (int64_t f : factors) {
      if (f < 1 || rest % f != 0) return false;
      rest /= f;
    }
    return rest == 1;
  }

  double RankOf(std::span<const int64_t> factors) const {
    const auto found = std::lower_bound(innermost_.begin(), innermost_.end(), factors[parts_ - 1]);
    double rank = 0;
    double weight = 1;
    for (const auto& [prime, most] : primes_) {
      std::array<int, kMaxElements> exponents{};
      int left = 0;
      for (int i = 0; i < parts_ - 1; ++i) {
        int64_t factor = factors[i];
        left += exponents[i] = TakeOut(factor, prime);
      }
      const double ways = Compositions(left, parts_ - 1);
      double digit = 0;
      for (int i = 0; i < parts_ - 1; ++i) {
        for (int fewer = 0; fewer < exponents[i]; ++fewer) {
          digit += Compositions(left - fewer, parts_ - 2 - i);
        }
        left -= exponents[i];
      }
      rank += weight * digit;
      weight *= ways;
    }
    return before_[static_cast<size_t>(found - innermost_.begin())] + rank;
  }

  int64_t extent_;
  int parts_;
  int64_t max_innermost_;
  base::PrimeFactors primes_;
  std::vector<int64_t> innermost_;  ///< sorted
  std::vector<double> before_;      ///< splits with a smaller innermost factor; at the end, all
};

}  // namespace

std::unique_ptr<Parameter> MakeFactorization(std::string name, int64_t extent, int parts,
                                             int64_t max_innermost) {
  const std::string what =
      fmt::format("parameter '{}': {} split into {} factors", name, extent, parts);
  if (extent < 1 || extent > int64_t{1} << 40 || parts < 1 || parts > kMaxElements) {
    throw InputError(fmt::format("{}: extents are 1 to 2^40, factors 1 to {}", what, kMaxElements));
  }
  auto made = std::make_unique<Factorization>(std::move(name), extent, parts, max_innermost);
  if (made->Size() < 1) throw InputError(what + ": the innermost bound leaves no split");
  if (made->Size() > static_cast<double>(kMaxCardinality)) {
    throw InputError(what + ": there are more than 2^53 splits");
  }
  return made;
}

}  // namespace bayloom::space
