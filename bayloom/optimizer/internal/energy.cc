// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/energy.h"

#include <cmath>

namespace bayloom::optimizer {

Energy::Energy(const Memory& memory) {
  const double best = memory.best()->outcome.value;
  if (best > 0) return;
  double sum = 0;
  int count = 0;
  for (const Observation& trial : memory.trials()) {
    if (!trial.outcome.ok()) continue;
    sum += trial.outcome.value - best;
    ++count;
  }
  scale_ = sum > 0 ? sum / count : 1;
}

double Energy::operator()(double value) const {
  return scale_ == 0 ? std::log(value) : value / scale_;
}

}  // namespace bayloom::optimizer
