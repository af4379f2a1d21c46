// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the lowest point of a valley with few evaluations: ask for a configuration, evaluate it,
// tell the outcome.
#include <cmath>
#include <cstdio>

#include "bayloom/optimizer.h"

namespace {

/// What is minimized: 1 at (0.7, 5). Stands for compiling and timing a program.
double Valley(double x, int64_t k) {
  return 1 + std::pow(x - 0.7, 2) + std::pow(static_cast<double>(k) - 5, 2) / 10;
}

}  // namespace

int main() {
  bayloom::Space::Builder builder;
  builder.Add(bayloom::MakeReal("x", -2, 2)).Add(bayloom::MakeInteger("k", 0, 8));
  if (!builder.AddConstraint("k >= 2 or x < 1")) return 1;
  const std::shared_ptr<const bayloom::Space> space = *builder.Build();
  const auto optimizer = bayloom::MakeOptimizer("bayesian", space, {.seed = 1});

  double best = INFINITY;
  for (int trial = 0; trial < 40; ++trial) {
    for (const bayloom::Configuration& c : optimizer->Ask(1)) {
      const double value =
          Valley(std::get<double>(space->ValueOf(c, 0)), std::get<int64_t>(space->ValueOf(c, 1)));
      optimizer->Tell(c, bayloom::Outcome::Feasible(value));
      if (value < best) std::printf("%.6f at %s\n", value, space->ToString(c).c_str());
      best = std::fmin(best, value);
    }
  }
  return best < 1.01 ? 0 : 1;
}
