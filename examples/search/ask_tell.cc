// Finds the lowest point of a valley with as few looks at it as possible: ask for a configuration,
// find out its value, tell it.
#include <cmath>
#include <cstdio>

#include "bayloom/optimizer/optimizer.h"

int main() {
  bayloom::Space::Builder builder;
  builder.Add(bayloom::MakeReal("x", -2, 2)).Add(bayloom::MakeInteger("k", 0, 8));
  if (!builder.AddConstraint("k >= 2 or x < 1")) return 1;
  const std::shared_ptr<const bayloom::Space> space = *builder.Build();
  const auto optimizer = bayloom::MakeOptimizer("bayesian", space, {.seed = 1});
  double best = INFINITY;
  for (int trial = 0; trial < 40; ++trial) {
    for (const bayloom::Configuration& c : optimizer->Ask(1)) {
      const double x = std::get<double>(space->ValueOf(c, 0));
      const auto k = static_cast<double>(std::get<int64_t>(space->ValueOf(c, 1)));
      bayloom::Outcome outcome;
      outcome.value = 1 + std::pow(x - 0.7, 2) + std::pow(k - 5, 2) / 10;
      if (outcome.value < best) {
        std::printf("trial %2d: %.6f at %s\n", trial, outcome.value, space->ToString(c).c_str());
      }
      best = std::fmin(best, outcome.value);
      optimizer->Tell(c, outcome);
    }
  }
  return best < 1.01 ? 0 : 1;
}
