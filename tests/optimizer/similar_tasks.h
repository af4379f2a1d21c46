// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

inline std::shared_ptr<const space::Space> Sizes(int64_t most) {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("size", 1, most));
  builder.Add(space::MakeInteger("count", 1, most));
  builder.Add(space::MakeInteger("idle", 1, most));
  return *builder.Build();
}

/// Least at (place, place), wherever `idle` is.
inline double Bowl(const space::Configuration& c, double place) {
  return 1 + std::pow(c.coordinates[0] + 1 - place, 2) +
         0.1 * std::pow(c.coordinates[1] + 1 - place, 2);
}

inline EarlierTask Observed(const std::shared_ptr<const space::Space>& space, double place,
                            int trials) {
  EarlierTask task{"bowl", space, {}, {}, {place}};
  base::RandomStream random(static_cast<uint64_t>(place));
  for (int i = 0; i < trials; ++i) {
    task.configurations.push_back(*space->Sample(random));
    task.values.push_back(Bowl(task.configurations.back(), place));
  }
  space::Configuration best{{place - 1, place - 1, 0}};
  task.values.push_back(Bowl(best, place));
  task.configurations.push_back(std::move(best));
  return task;
}

/// Between two tasks like it, a task needs few trials.
inline void ExpectFewTrialsNeeded(const std::string& method) {
  const auto space = Sizes(100);
  OptimizerOptions options;
  options.transfer.method = method;
  options.transfer.tasks = {Observed(space, 40, 40), Observed(space, 50, 40)};
  const auto optimizer = MakeOptimizer("bayesian", space, options);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 6; ++i) {
    for (const space::Configuration& c : optimizer->Ask(1)) {
      trial::Outcome outcome;
      outcome.value = Bowl(c, 45);
      least = std::min(least, outcome.value);
      optimizer->Tell(c, outcome);
    }
  }
  EXPECT_LT(least, 1 + 30) << method;  // of random ones a hundredth is
}

}  // namespace bayloom::optimizer
