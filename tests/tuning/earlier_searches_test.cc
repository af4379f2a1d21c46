// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/earlier_searches.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/tuning/durable_study.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// The best tile is a quarter of the size, for all sizes.
external::Scenario Tiling(int size, const std::string& goal = "minimize: seconds") {
  return external::ParseScenario(
      "name: size" + std::to_string(size) + "\nparameters:\n  tile: {type: integer, range: [1, " +
          std::to_string(size) + "]}\n  unroll: {type: ordinal, values: [1, 2, 4, 8]}\n" + goal +
          "\ntask: {size: " + std::to_string(size) + "}\n",
      "tiling.yaml");
}

trial::Outcome Measured(const external::Scenario& scenario, const space::Configuration& c) {
  const double size = static_cast<double>(scenario.space->parameter(0).Cardinality());
  trial::Outcome outcome;
  outcome.value = size * (1 + 20 * std::pow(c.coordinates[0] / size - 0.25, 2) +
                          0.1 * std::abs(c.coordinates[1] - 2));
  return outcome;
}

class EarlierSearches : public testing::Test {
 protected:
  void Search(const external::Scenario& scenario, int trials) {
    record::Store store(path_);
    DurableStudy durable(scenario, store, /*resume=*/false);
    for (int i = 0; i < trials; ++i) {
      const space::Configuration c = durable.study().Ask(1).at(0);
      durable.study().Tell(c, Measured(scenario, c), i);
    }
  }

  optimizer::TransferOptions LearnFor(const external::Scenario& scenario) {
    return LearnFromSearches(std::span(&path_, 1), "weighted", scenario);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "searches.db";
};

TEST_F(EarlierSearches, TellWhereToBegin) {
  for (const int size : {256, 512, 1024}) Search(Tiling(size), 20);
  external::Scenario scenario = Tiling(2048);
  scenario.optimizer_options.transfer = LearnFor(scenario);
  ASSERT_EQ(scenario.optimizer_options.transfer.tasks.size(), 3u);
  EXPECT_EQ(scenario.optimizer_options.transfer.tasks[0].description, std::vector{8.0});
  EXPECT_EQ(scenario.optimizer_options.transfer.description, std::vector{11.0});
  const auto optimizer =
      optimizer::MakeOptimizer("bayesian", scenario.space, scenario.optimizer_options);
  EXPECT_LT(Measured(scenario, optimizer->Ask(1).at(0)).value, 2048 * 1.15);
}

TEST_F(EarlierSearches, OnlyThoseOfOtherScenariosForTheSame) {
  Search(Tiling(256), 5);
  EXPECT_TRUE(LearnFor(Tiling(256)).tasks.empty());
  EXPECT_EQ(LearnFor(Tiling(512)).tasks.size(), 1u);
  EXPECT_TRUE(LearnFor(Tiling(512, "minimize: joules")).tasks.empty());
  EXPECT_TRUE(LearnFor(Tiling(512, "maximize: seconds")).tasks.empty());
  EXPECT_TRUE(
      LearnFor(external::ParseScenario("parameters:\n  other: {type: integer, range: [1, 8]}\n"
                                       "minimize: seconds\n",
                                       "other.yaml"))
          .tasks.empty());
  const std::string missing = path_ + ".missing";
  EXPECT_THROW(LearnFromSearches(std::span(&missing, 1), "weighted", Tiling(512)), InputError);
}

}  // namespace
}  // namespace bayloom::tuning
