// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/cost/xgboost_model.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// Best simulated time that a session of one matrix product finds.
double TunedSeconds(const std::string& strategy, uint64_t seed) {
  const TemporaryFolder folder;
  record::Store store(folder / "tuning.db");
  SimulatedEvaluator evaluator;
  cost::XgboostModel model;
  SessionOptions options = QuickOptions();
  options.strategy = strategy;
  options.run.seed = seed;
  options.run.trials_per_slot = 32;
  options.run.budget.trials = 160;
  options.evolutionary.population = 256;
  Session session(strategy::SimulatedTarget(),
                  {{"matmul", tensor::MatmulWorkload(512, 512, 512), 1}}, store, &model, evaluator,
                  options);
  session.Run();
  return session.tasks()[0]->best()->outcome.value;
}

TEST(SearchComparisonTest, EvolutionaryFindsBetterProgramsThanRandomInAsManyTrials) {
  double log_ratio = 0;
  int wins = 0;
  constexpr int kSearches = 10;
  for (uint64_t seed = 0; seed < kSearches; ++seed) {
    const double random = TunedSeconds("random", seed);
    const double evolved = TunedSeconds("evolutionary", seed);
    log_ratio += std::log(random / evolved) / kSearches;
    wins += evolved < random;
  }
  EXPECT_GE(wins, 8) << std::exp(log_ratio);
  EXPECT_GT(std::exp(log_ratio), 1.1) << wins;
}

}  // namespace
}  // namespace bayloom::tuning
