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

/// Above so many values the ranks beside are no step worth taking alone.
constexpr int64_t kDense = 100;

class Integer final : public Parameter {
 public:
  Integer(std::string name, int64_t lowest, int64_t highest, Scale scale)
      : Parameter(std::move(name)),
        lowest_(lowest),
        count_(highest - lowest + 1),
        scale_(static_cast<double>(lowest), static_cast<double>(highest), scale) {}

  ParameterKind kind() const override { return ParameterKind::kInteger; }
  std::string Describe() const override {
    return fmt::format("integer {}..{}", lowest_, lowest_ + count_ - 1);
  }
  int64_t Cardinality() const override { return count_; }
  Value ValueAt(double coordinate) const override {
    return lowest_ + static_cast<int64_t>(coordinate);
  }

  Result<double> CoordinateOf(const Value& value) const override {
    double rank = -1;
    if (const auto* whole = std::get_if<int64_t>(&value)) {
      rank = static_cast<double>(*whole) - static_cast<double>(lowest_);
    }
    if (const auto* real = std::get_if<double>(&value)) rank = *real - static_cast<double>(lowest_);
    if (rank >= 0 && rank < static_cast<double>(count_) && rank == std::floor(rank)) return rank;
    return Error{fmt::format("{} is not a whole number from {} to {}",
                             base::SingleLine(ToString(value)), lowest_, lowest_ + count_ - 1)};
  }

  double NumberAt(double coordinate) const override {
    return static_cast<double>(lowest_) + coordinate;
  }
  int EmbeddingSize() const override { return 1; }
  void Embed(double coordinate, std::span<double> point) const override {
    point[0] = scale_.ToUnit(NumberAt(coordinate));
  }
  double Sample(base::RandomStream& random) const override {
    return static_cast<double>(random.UniformInt(count_));
  }

  std::vector<double> Neighbours(double coordinate, base::RandomStream& random) const override {
    const double last = static_cast<double>(count_ - 1);
    std::vector<double> neighbours;
    if (coordinate > 0) neighbours.push_back(coordinate - 1);
    if (coordinate < last) neighbours.push_back(coordinate + 1);
    if (count_ <= kDense) return neighbours;
    for (double position : NearbyPositions(scale_.ToUnit(NumberAt(coordinate)), random)) {
      const double rank = std::round(scale_.FromUnit(position)) - static_cast<double>(lowest_);
      neighbours.push_back(std::clamp(rank, 0.0, last));
    }
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    std::erase(neighbours, coordinate);
    return neighbours;
  }

 private:
  int64_t lowest_;
  int64_t count_;
  NumberScale scale_;
};

}  // namespace

std::unique_ptr<Parameter> MakeInteger(std::string name, int64_t lowest, int64_t highest,
                                       Scale scale) {
  const bool exact =
      std::max(std::abs(static_cast<double>(lowest)), std::abs(static_cast<double>(highest))) <=
      static_cast<double>(kMaxCardinality / 2);
  if (lowest > highest || !exact) {
    throw InputError(fmt::format("parameter '{}': whole numbers from {} to {} are no range{}", name,
                                 lowest, highest, exact ? "" : " within 2^52 of zero"));
  }
  CheckScale(name, static_cast<double>(lowest), scale);
  return std::make_unique<Integer>(std::move(name), lowest, highest, scale);
}

}  // namespace bayloom::space
