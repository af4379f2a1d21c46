// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/single_line.h"
#include "bayloom/space/number_scale.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {
namespace {

class Real final : public Parameter {
 public:
  Real(std::string name, double lowest, double highest, Scale scale)
      : Parameter(std::move(name)),
        lowest_(lowest),
        highest_(highest),
        scale_(lowest, highest, scale) {}

  ParameterKind kind() const override { return ParameterKind::kReal; }
  std::string Describe() const override { return fmt::format("real {}..{}", lowest_, highest_); }
  int64_t Cardinality() const override { return kUncountable; }
  Value ValueAt(double coordinate) const override { return coordinate; }

  Result<double> CoordinateOf(const Value& value) const override {
    double number = std::nan("");
    if (const auto* real = std::get_if<double>(&value)) number = *real;
    if (const auto* whole = std::get_if<int64_t>(&value)) number = static_cast<double>(*whole);
    if (number >= lowest_ && number <= highest_) return number;
    return Error{fmt::format("{} is not a number from {} to {}", base::SingleLine(ToString(value)),
                             lowest_, highest_)};
  }

  double NumberAt(double coordinate) const override { return coordinate; }
  int EmbeddingSize() const override { return 1; }
  void Embed(double coordinate, std::span<double> point) const override {
    point[0] = Position(coordinate);
  }
  double Sample(base::RandomStream& random) const override { return AtPosition(random.Uniform()); }

  std::vector<double> Neighbours(double coordinate, base::RandomStream& random) const override {
    std::vector<double> neighbours = NearbyPositions(Position(coordinate), random);
    for (double& n : neighbours) n = AtPosition(n);
    std::erase(neighbours, coordinate);
    return neighbours;
  }
  double Position(double coordinate) const override {
    return std::clamp(scale_.ToUnit(coordinate), 0.0, 1.0);
  }
  double AtPosition(double position) const override {
    return std::clamp(scale_.FromUnit(position), lowest_, highest_);
  }

 private:
  double lowest_;
  double highest_;
  NumberScale scale_;
};

}  // namespace

std::unique_ptr<Parameter> MakeReal(std::string name, double lowest, double highest, Scale scale) {
  if (lowest == highest) return MakeOrdinal(std::move(name), std::vector<double>{lowest}, scale);
  if (!(lowest < highest && std::isfinite(highest - lowest))) {
    throw InputError(fmt::format("parameter '{}': real numbers from {} to {} are no range", name,
                                 lowest, highest));
  }
  CheckScale(name, lowest, scale);
  return std::make_unique<Real>(std::move(name), lowest, highest, scale);
}

}  // namespace bayloom::space
