// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/single_line.h"
#include "bayloom/space/number_scale.h"
#include "bayloom/space/parameter.h"
#include "bayloom/space/text_domain.h"

namespace bayloom::space {
namespace {

/// What is ordinal about numbers and texts alike: ranks, and steps to the ranks beside.
class Ordinal : public Parameter {
 public:
  using Parameter::Parameter;

  ParameterKind kind() const final { return ParameterKind::kOrdinal; }
  int EmbeddingSize() const final { return 1; }
  double Sample(base::RandomStream& random) const final {
    return static_cast<double>(random.UniformInt(Cardinality()));
  }
  std::vector<double> Neighbours(double coordinate, base::RandomStream&) const final {
    std::vector<double> neighbours;
    if (coordinate > 0) neighbours.push_back(coordinate - 1);
    if (coordinate + 1 < static_cast<double>(Cardinality())) neighbours.push_back(coordinate + 1);
    return neighbours;
  }
};

class OrdinalNumbers final : public Ordinal {
 public:
  OrdinalNumbers(std::string name, std::vector<double> sorted, Scale scale)
      : Ordinal(std::move(name)),
        values_(std::move(sorted)),
        whole_(std::all_of(values_.begin(), values_.end(),
                           [](double v) { return v == std::floor(v) && std::abs(v) < 0x1p53; })),
        scale_(values_.front(), values_.back(), scale) {}

  std::string Describe() const override {
    return fmt::format("ordinal {{{}}}", fmt::join(values_, ", "));
  }
  int64_t Cardinality() const override { return static_cast<int64_t>(values_.size()); }
  Value ValueAt(double coordinate) const override {
    if (whole_) return static_cast<int64_t>(NumberAt(coordinate));
    return NumberAt(coordinate);
  }

  Result<double> CoordinateOf(const Value& value) const override {
    double number = std::nan("");
    if (const auto* real = std::get_if<double>(&value)) number = *real;
    if (const auto* whole = std::get_if<int64_t>(&value)) number = static_cast<double>(*whole);
    const auto found = std::lower_bound(values_.begin(), values_.end(), number);
    if (found != values_.end() && *found == number)
      return static_cast<double>(found - values_.begin());
    return Error{fmt::format("{} is not one of {}", base::SingleLine(ToString(value)),
                             fmt::join(values_, ", "))};
  }

  double NumberAt(double coordinate) const override {
    return values_[static_cast<size_t>(coordinate)];
  }
  void Embed(double coordinate, std::span<double> point) const override {
    point[0] = scale_.ToUnit(NumberAt(coordinate));
  }

 private:
  std::vector<double> values_;
  bool whole_;
  NumberScale scale_;
};

class OrdinalTexts final : public Ordinal {
 public:
  OrdinalTexts(std::string name, std::vector<std::string> texts)
      : Ordinal(std::move(name)), domain_(this->name(), std::move(texts)) {}

  std::string Describe() const override { return "ordinal " + domain_.Describe(); }
  int64_t Cardinality() const override { return domain_.size(); }
  Value ValueAt(double coordinate) const override { return domain_[coordinate]; }
  Result<double> CoordinateOf(const Value& value) const override { return domain_.RankOf(value); }
  double NumberAt(double coordinate) const override { return coordinate; }
  void Embed(double coordinate, std::span<double> point) const override {
    point[0] = domain_.size() > 1 ? coordinate / static_cast<double>(domain_.size() - 1) : 0;
  }

 private:
  TextDomain domain_;
};

}  // namespace

std::unique_ptr<Parameter> MakeOrdinal(std::string name, std::vector<double> values, Scale scale) {
  if (values.empty()) throw InputError(fmt::format("parameter '{}' has no values", name));
  for (double v : values) {
    if (!std::isfinite(v))
      throw InputError(fmt::format("parameter '{}' has the value {}", name, v));
  }
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) {
    throw InputError(fmt::format("parameter '{}' has the value {} twice", name, *twice));
  }
  CheckScale(name, values.front(), scale);
  return std::make_unique<OrdinalNumbers>(std::move(name), std::move(values), scale);
}

std::unique_ptr<Parameter> MakeOrdinal(std::string name, std::vector<std::string> values) {
  return std::make_unique<OrdinalTexts>(std::move(name), std::move(values));
}

}  // namespace bayloom::space
