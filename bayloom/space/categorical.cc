// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <optional>

#include "bayloom/space/internal/text_domain.h"
#include "bayloom/space/parameter.h"

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

  /// One column per category, so that all are equally far apart.
  int EmbeddingSize() const override { return static_cast<int>(domain_.size()); }
  void Embed(double coordinate, std::span<double> point) const override {
    for (double& p : point) p = 0;
    point[static_cast<size_t>(coordinate)] = M_SQRT1_2;
  }

  double Sample(base::RandomStream& random) const override {
    return static_cast<double>(random.UniformInt(domain_.size()));
  }
  std::vector<double> Neighbours(double coordinate, base::RandomStream&) const override {
    std::vector<double> others;
    for (double rank = 0; rank < static_cast<double>(domain_.size()); ++rank) {
      if (rank != coordinate) others.push_back(rank);
    }
    return others;
  }

 private:
  std::vector<double> numbers_;
  TextDomain domain_;
};

}  // namespace

std::unique_ptr<Parameter> MakeCategorical(std::string name, std::vector<std::string> values) {
  return std::make_unique<Categorical>(std::move(name), std::move(values));
}

}  // namespace bayloom::space
