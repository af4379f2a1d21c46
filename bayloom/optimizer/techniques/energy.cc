// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/energy.h"

#include <algorithm>
#include <cmath>

namespace bayloom::optimizer {
namespace {

/// Differences of energies stay finite.
constexpr double kMaxEnergy = 1e300;

}  // namespace

Energy::Energy(const History& history) {
  const double best = history.best()->outcome.value;
  if (best > 0) return;
  const double distance = history.MeanValue() - best;
  scale_ = distance > 0 ? std::min(distance, kMaxEnergy) : 1;
}

double Energy::operator()(double value) const {
  return scale_ == 0 ? std::log(value) : std::clamp(value / scale_, -kMaxEnergy, kMaxEnergy);
}

}  // namespace bayloom::optimizer
