// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <optional>
#include <unordered_set>

#include "bayloom/space/parameter.h"
#include "bayloom/space/text_domain.h"

namespace bayloom::space {
namespace {

/// The numbers that all texts spell; empty if one does not.
std::vector<double> NumbersOf(const std::vector<std::string>& texts) {
  std::vector<double> numbers(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!ParseNumber(texts[i], numbers[i])) return {};
  }
  return numbers;
}

/// Up to so many categories have a column each.
constexpr int64_t kMaxColumns = 256;
constexpr int kCodeColumns = 128;
/// Of more categories than have columns, so many random ones are neighbours.
constexpr size_t kManyNeighbours = 64;

/// A pseudo-random point of length sqrt(1/2) for each rank. Two of them differ in half of their
/// signs, so that their squared distance is 1, with a standard deviation of 1 / sqrt(kCodeColumns).
void WriteCode(uint64_t rank, std::span<double> point) {
  static const double kEntry = 1 / std::sqrt(2.0 * kCodeColumns);
  base::RandomStream signs(rank);
  uint64_t bits = 0;
  for (size_t i = 0; i < point.size(); ++i) {
    if (i % 64 == 0) bits = signs.Next();
    point[i] = (bits >> (i % 64) & 1) != 0 ? kEntry : -kEntry;
  }
}

class Categorical final : public Parameter {
 public:
  Categorical(std::string name, std::vector<std::string> texts)
      : Parameter(std::move(name)),
        numbers_(NumbersOf(texts)),
        domain_(this->name(), std::move(texts)) {}

  ParameterKind kind() const override { return ParameterKind::kCategorical; }
  std::string Describe() const override { return "categorical " + domain_.Describe(); }
  int64_t Cardinality() const override { return domain_.size(); }
  Value ValueAt(double coordinate) const override { return domain_[coordinate]; }
  Result<double> CoordinateOf(const Value& value) const override { return domain_.RankOf(value); }
  double NumberAt(double coordinate) const override {
    return numbers_.empty() ? coordinate : numbers_[static_cast<size_t>(coordinate)];
  }

  /// One column per category, so that all are equally far apart; of many categories the signs of a
  /// code, so that they are nearly so.
  int EmbeddingSize() const override {
    return HasCodes() ? kCodeColumns : static_cast<int>(domain_.size());
  }
  void Embed(double coordinate, std::span<double> point) const override {
    if (HasCodes()) return WriteCode(static_cast<uint64_t>(coordinate), point);
    for (double& p : point) p = 0;
    point[static_cast<size_t>(coordinate)] = M_SQRT1_2;
  }

  double Sample(base::RandomStream& random) const override {
    return static_cast<double>(random.UniformInt(domain_.size()));
  }
  std::vector<double> Neighbours(double coordinate, base::RandomStream& random) const override {
    if (HasCodes()) return RandomOthers(coordinate, random);
    std::vector<double> others;
    for (double rank = 0; rank < static_cast<double>(domain_.size()); ++rank) {
      if (rank != coordinate) others.push_back(rank);
    }
    return others;
  }

 private:
  bool HasCodes() const { return domain_.size() > kMaxColumns; }

  std::vector<double> RandomOthers(double coordinate, base::RandomStream& random) const {
    std::unordered_set<int64_t> taken = {static_cast<int64_t>(coordinate)};
    std::vector<double> others;
    while (others.size() < kManyNeighbours) {
      const int64_t rank = random.UniformInt(domain_.size());
      if (taken.insert(rank).second) others.push_back(static_cast<double>(rank));
    }
    return others;
  }

  std::vector<double> numbers_;
  TextDomain domain_;
};

}  // namespace

std::unique_ptr<Parameter> MakeCategorical(std::string name, std::vector<std::string> values) {
  return std::make_unique<Categorical>(std::move(name), std::move(values));
}

}  // namespace bayloom::space
