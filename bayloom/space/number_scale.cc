// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/number_scale.h"

#include <fmt/format.h>

namespace bayloom::space {
namespace {

constexpr int kNearby = 6;
constexpr double kStandardDeviation = 0.03;

}  // namespace

void CheckScale(const std::string& name, double lowest, Scale scale) {
  if (scale == Scale::kLog && !(lowest > 0)) {
    throw InputError(fmt::format(
        "parameter '{}': a logarithmic scale needs values above 0, and its lowest is {}", name,
        lowest));
  }
}

std::vector<double> NearbyPositions(double position, base::RandomStream& random) {
  std::vector<double> positions;
  while (positions.size() < kNearby) {
    const double drawn = position + kStandardDeviation * random.Normal();
    if (drawn >= 0 && drawn <= 1) positions.push_back(drawn);
  }
  return positions;
}

}  // namespace bayloom::space
