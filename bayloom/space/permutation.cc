// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "bayloom/base/single_line.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {
namespace {

constexpr int kMaxNaiveItems = 6;

using Items = std::array<int64_t, kMaxPermutationItems>;

/// Ranks are lexicographic: digit k in the factorial number system is the place of the k-th item
/// among those not yet used.
class Permutation final : public Parameter {
 public:
  Permutation(std::string name, int count, PermutationMetric metric)
      : Parameter(std::move(name)), count_(count), metric_(metric) {
    factorials_[0] = 1;
    for (int i = 1; i <= count; ++i) factorials_[i] = factorials_[i - 1] * i;
  }

  ParameterKind kind() const override { return ParameterKind::kPermutation; }
  std::string Describe() const override { return fmt::format("permutation of {}", count_); }
  int64_t Cardinality() const override { return factorials_[count_]; }
  Value ValueAt(double coordinate) const override {
    std::vector<int64_t> items(count_);
    ElementsAt(coordinate, items);
    return items;
  }

  Result<double> CoordinateOf(const Value& value) const override {
    const auto* items = std::get_if<std::vector<int64_t>>(&value);
    if (items != nullptr && IsOrder(*items)) return RankOf(*items);
    return Error{fmt::format("{} is not an order of the numbers 0 to {}",
                             base::SingleLine(ToString(value)), count_ - 1)};
  }

  double NumberAt(double coordinate) const override { return coordinate; }
  int ElementCount() const override { return count_; }
  void ElementsAt(double coordinate, std::span<int64_t> elements) const override {
    auto rank = static_cast<int64_t>(coordinate);
    Items unused;
    std::iota(unused.begin(), unused.begin() + count_, 0);
    for (int i = 0; i < count_; ++i) {
      const int64_t digit = rank / factorials_[count_ - 1 - i];
      rank %= factorials_[count_ - 1 - i];
      elements[i] = unused[digit];
      std::copy(unused.begin() + digit + 1, unused.begin() + count_ - i, unused.begin() + digit);
    }
  }

  int EmbeddingSize() const override {
    switch (metric_) {
      case PermutationMetric::kSpearman:
        return count_;
      case PermutationMetric::kKendall:
        return count_ * (count_ - 1) / 2;
      case PermutationMetric::kHamming:
        return count_ * count_;
      case PermutationMetric::kNaive:
        break;
    }
    return static_cast<int>(Cardinality());
  }

  void Embed(double coordinate, std::span<double> point) const override {
    for (double& p : point) p = 0;
    if (metric_ == PermutationMetric::kNaive) {
      point[static_cast<size_t>(coordinate)] = M_SQRT1_2;
      return;
    }
    const Items places = PlacesAt(coordinate);
    const double n = count_;
    if (metric_ == PermutationMetric::kSpearman) {
      const double farthest = std::sqrt(std::max(1.0, n * (n * n - 1) / 3));  // the reversed order
      for (int i = 0; i < count_; ++i) point[i] = static_cast<double>(places[i]) / farthest;
    } else if (metric_ == PermutationMetric::kKendall) {
      const double bit = 1 / std::sqrt(std::max(1.0, n * (n - 1) / 2));
      size_t pair = 0;
      for (int i = 0; i < count_; ++i) {
        for (int j = i + 1; j < count_; ++j) point[pair++] = places[i] < places[j] ? bit : 0;
      }
    } else {
      for (int i = 0; i < count_; ++i) point[i * count_ + places[i]] = 1 / std::sqrt(2 * n);
    }
  }

  double Sample(base::RandomStream& random) const override {
    return static_cast<double>(random.UniformInt(Cardinality()));
  }

  std::vector<double> Neighbours(double coordinate, base::RandomStream&) const override {
    Items items;
    ElementsAt(coordinate, items);
    std::vector<double> neighbours;
    for (int i = 0; i < count_; ++i) {
      for (int j = i + 1; j < count_; ++j) {
        std::swap(items[i], items[j]);
        neighbours.push_back(RankOf(items));
        std::swap(items[i], items[j]);
      }
    }
    return neighbours;
  }

 private:
  bool IsOrder(std::span<const int64_t> items) const {
    uint32_t seen = 0;
    for (int64_t item : items) {
      if (item >= 0 && item < count_) seen |= uint32_t{1} << item;
    }
    return std::ssize(items) == count_ && seen == (uint32_t{1} << count_) - 1;
  }

  double RankOf(std::span<const int64_t> items) const {
    int64_t rank = 0;
    for (int i = 0; i < count_; ++i) {
      int64_t smaller = 0;
      for (int j = i + 1; j < count_; ++j) smaller += items[j] < items[i];
      rank += smaller * factorials_[count_ - 1 - i];
    }
    return static_cast<double>(rank);
  }

  /// Where each item is.
  Items PlacesAt(double coordinate) const {
    Items items;
    ElementsAt(coordinate, items);
    Items places;
    for (int i = 0; i < count_; ++i) places[items[i]] = i;
    return places;
  }

  int count_;
  PermutationMetric metric_;
  std::array<int64_t, kMaxPermutationItems + 1> factorials_;
};

}  // namespace

std::unique_ptr<Parameter> MakePermutation(std::string name, int count, PermutationMetric metric) {
  const int most = metric == PermutationMetric::kNaive ? kMaxNaiveItems : kMaxPermutationItems;
  if (count < 1 || count > most) {
    throw InputError(fmt::format("parameter '{}': permutations{} are of 1 to {} items, not {}",
                                 name, most < kMaxPermutationItems ? " under the naive metric" : "",
                                 most, count));
  }
  return std::make_unique<Permutation>(std::move(name), count, metric);
}

}  // namespace bayloom::space
