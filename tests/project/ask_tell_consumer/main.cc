// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the lowest point of a parabola over a real and an integer by asking and telling.
#include <cmath>
#include <cstdio>

#include "bayloom/base.h"
#include "bayloom/optimizer.h"

int main() {
  bayloom::Space::Builder builder;
  builder.Add(bayloom::MakeReal("x", -2, 2)).Add(bayloom::MakeInteger("k", 0, 8));
  const std::shared_ptr<const bayloom::Space> space = *builder.Build();
  const auto optimizer = bayloom::MakeOptimizer("bayesian", space, {.seed = 1});
  double best = INFINITY;
  for (int trial = 0; trial < 25; ++trial) {
    for (const bayloom::Configuration& c : optimizer->Ask(1)) {
      const double x = std::get<double>(space->ValueOf(c, 0));
      const auto k = static_cast<double>(std::get<int64_t>(space->ValueOf(c, 1)));
      bayloom::Outcome outcome;
      outcome.value = std::pow(x - 0.7, 2) + std::pow(k - 5, 2) / 10;
      best = std::fmin(best, outcome.value);
      optimizer->Tell(c, outcome);
    }
  }
  std::printf("bayloom %s: best of 25 trials is %g\n", bayloom::Version().data(), best);
  return best < 0.1 ? 0 : 1;
}
