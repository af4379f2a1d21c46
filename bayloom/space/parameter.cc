// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace bayloom::space {
namespace {

constexpr std::array<std::string_view, 6> kKindNames = {
    "real", "integer", "ordinal", "categorical", "permutation", "factorization"};

/// A point of [0, 1] under the density that is linear between evenly spaced knots: first the
/// piece, by its area, then within it by inverting the integral of the line.
double SamplePiecewiseLinear(std::span<const double> knots, base::RandomStream& random) {
  std::vector<double> areas(knots.size() - 1);
  for (size_t i = 0; i < areas.size(); ++i) areas[i] = knots[i] + knots[i + 1];
  const int piece = random.Weighted(areas);
  const double left = knots[piece];
  const double slope = knots[piece + 1] - left;
  const double u = random.Uniform();
  const double root = std::sqrt(left * left + u * slope * (2 * left + slope));
  const double within = left + root > 0 ? u * (2 * left + slope) / (left + root) : 0;
  return (piece + std::clamp(within, 0.0, 1.0)) / static_cast<double>(areas.size());
}

double InterpolateKnots(std::span<const double> knots, double position) {
  const double scaled = position * static_cast<double>(knots.size() - 1);
  const auto piece = std::min(static_cast<size_t>(scaled), knots.size() - 2);
  const double within = scaled - static_cast<double>(piece);
  return std::lerp(knots[piece], knots[piece + 1], within);
}

}  // namespace

std::string_view ToString(ParameterKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

void Parameter::ElementsAt(double, std::span<int64_t>) const {}

Status Parameter::SetDefault(const Value& value) {
  const Result<double> coordinate = CoordinateOf(value);
  if (!coordinate)
    return Error{fmt::format("default of '{}': {}", name_, coordinate.error().message)};
  default_coordinate_ = *coordinate;
  return Ok();
}

Status Parameter::SetPrior(std::vector<double> weights) {
  const bool real = Cardinality() == kUncountable;
  if (real ? weights.size() < 2 : static_cast<int64_t>(weights.size()) != Cardinality()) {
    return Error{fmt::format("prior of '{}': {} weights where {} are needed", name_, weights.size(),
                             real ? "at least 2" : fmt::format("{}", Cardinality()))};
  }
  for (double w : weights) {
    if (!(w >= 0 && std::isfinite(w))) {
      return Error{fmt::format(
          "prior of '{}': {} is no weight; weights are finite and not negative", name_, w)};
    }
  }
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (real) total -= (weights.front() + weights.back()) / 2;
  if (!(total > 0 && std::isfinite(total))) {
    return Error{fmt::format("prior of '{}': the weights need a positive, finite sum", name_)};
  }
  const double mean = total / static_cast<double>(real ? weights.size() - 1 : weights.size());
  for (double& w : weights) w /= mean;
  prior_ = std::move(weights);
  return Ok();
}

double Parameter::PriorDensity(double coordinate) const {
  if (prior_.empty()) return 1;
  if (kind() == ParameterKind::kReal) return InterpolateKnots(prior_, Position(coordinate));
  return prior_[static_cast<size_t>(coordinate)];
}

double Parameter::SamplePrior(base::RandomStream& random) const {
  if (prior_.empty()) return Sample(random);
  if (kind() == ParameterKind::kReal) return AtPosition(SamplePiecewiseLinear(prior_, random));
  return random.Weighted(prior_);
}

}  // namespace bayloom::space
