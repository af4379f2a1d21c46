// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/earlier_searches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/file.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/search/durable_study.h"
#include "tests/temporary_folder.h"

namespace bayloom::search {
namespace {

/// The best tile is a quarter of the size, for all sizes.
Scenario Tiling(int size, const std::string& goal = "minimize: seconds") {
  return ParseScenario(
      "name: size" + std::to_string(size) + "\nparameters:\n  tile: {type: integer, range: [1, " +
          std::to_string(size) + "]}\n  unroll: {type: ordinal, values: [1, 2, 4, 8]}\n" + goal +
          "\ntask: {size: " + std::to_string(size) + "}\n",
      "tiling.yaml");
}

trial::Outcome Measured(const Scenario& scenario, const space::Configuration& c) {
  const double size = static_cast<double>(scenario.space->parameter(0).Cardinality());
  trial::Outcome outcome;
  outcome.value = size * (1 + 20 * std::pow(c.coordinates[0] / size - 0.25, 2) +
                          0.1 * std::abs(c.coordinates[1] - 2));
  return outcome;
}

class LearningFromSearches : public ::testing::Test {
 protected:
  void Search(const Scenario& scenario, int trials) {
    record::Store store(path_);
    DurableStudy durable(scenario, store, /*resume=*/false);
    for (int i = 0; i < trials; ++i) {
      const space::Configuration c = durable.study().Ask(1).at(0);
      durable.study().Tell(c, Measured(scenario, c), i);
    }
  }

  optimizer::TransferOptions LearnFor(const Scenario& scenario) {
    return LearnFromSearches(std::span(&path_, 1), "prior", scenario, path_).transfer;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "searches.db";
};

TEST_F(LearningFromSearches, TellWhereToBegin) {
  for (const int size : {256, 512, 1024}) Search(Tiling(size), 20);
  Scenario scenario = Tiling(2048);
  scenario.optimizer_options.transfer = LearnFor(scenario);
  ASSERT_EQ(scenario.optimizer_options.transfer.tasks.size(), 3u);
  EXPECT_EQ(scenario.optimizer_options.transfer.tasks[0].description, std::vector{8.0});
  EXPECT_EQ(scenario.optimizer_options.transfer.description, std::vector{11.0});
  const auto optimizer =
      optimizer::MakeOptimizer("bayesian", scenario.space, scenario.optimizer_options);
  EXPECT_LT(Measured(scenario, optimizer->Ask(1).at(0)).value, 2048 * 1.15);
}

TEST_F(LearningFromSearches, OnlyThoseOfOtherScenariosForTheSame) {
  Search(Tiling(256), 5);
  EXPECT_TRUE(LearnFor(Tiling(256)).tasks.empty());
  EXPECT_EQ(LearnFor(Tiling(512)).tasks.size(), 1u);
  EXPECT_TRUE(LearnFor(Tiling(512, "minimize: joules")).tasks.empty());
  EXPECT_TRUE(LearnFor(Tiling(512, "maximize: seconds")).tasks.empty());
  EXPECT_TRUE(LearnFor(ParseScenario("parameters:\n  other: {type: integer, range: [1, 8]}\n"
                                     "minimize: seconds\n",
                                     "other.yaml"))
                  .tasks.empty());
  const std::string missing = path_ + ".missing";
  EXPECT_THROW(LearnFromSearches(std::span(&missing, 1), "weighted", Tiling(512)), InputError);
}

TEST_F(LearningFromSearches, TheSameScenarioElsewhereCounts) {
  Search(Tiling(256), 5);
  const std::string other = folder_ / "this_machine.db";
  const EarlierSearches earlier =
      LearnFromSearches(std::span(&path_, 1), "prior", Tiling(256), other);
  ASSERT_EQ(earlier.transfer.tasks.size(), 1u);
  EXPECT_EQ(earlier.notes, std::vector<std::string>{"Learns from size256 (5 values)"});
}

TEST_F(LearningFromSearches, NewParametersHaveTheirDefaults) {
  Search(Tiling(256), 6);
  const Scenario scenario = ParseScenario(
      "name: newer\nparameters:\n  tile: {type: integer, range: [1, 256]}\n"
      "  vector: {type: ordinal, values: [1, 2, 4], default: 2}\n"
      "  unroll: {type: ordinal, values: [1, 2, 4, 8]}\nminimize: seconds\n",
      "newer.yaml");
  const EarlierSearches earlier = LearnFromSearches(std::span(&path_, 1), "prior", scenario);
  ASSERT_EQ(earlier.transfer.tasks.size(), 1u);
  const optimizer::EarlierTask& task = earlier.transfer.tasks[0];
  EXPECT_EQ(task.space, scenario.space);
  ASSERT_EQ(task.configurations.size(), 6u);
  for (const space::Configuration& c : task.configurations) {
    EXPECT_EQ(scenario.space->ValueOf(c, 1), space::Value(int64_t{2}));
  }
  EXPECT_EQ(earlier.notes[1], "size256: 'vector' is 2 in what was tried earlier");
}

TEST_F(LearningFromSearches, RecordedSpacesCountAsSearches) {
  const std::string file = folder_ / "other_T4.json";
  nlohmann::json results = nlohmann::json::array();
  const auto add = [&](int tile, const std::string& invalidity, double value) {
    results.push_back({{"configuration", {{"tile", tile}, {"gone", 1}}},
                       {"invalidity", invalidity},
                       {"objectives", {"time"}},
                       {"measurements", {{{"name", "time"}, {"value", value}, {"unit", "ms"}}}}});
  };
  for (const int tile : {16, 32, 64, 128}) add(tile, "correct", 1.0 + std::abs(tile - 64));
  add(200, "compile", 1);
  add(512, "correct", 1);  // out of the range
  base::WriteFile(file, nlohmann::json({{"results", results}}).dump());
  const EarlierSearches earlier = LearnFromSearches(std::span(&file, 1), "prior", Tiling(256));
  ASSERT_EQ(earlier.transfer.tasks.size(), 1u);
  const optimizer::EarlierTask& task = earlier.transfer.tasks[0];
  EXPECT_EQ(task.values.size(), 4u);
  EXPECT_EQ(task.failures.size(), 1u);
  EXPECT_EQ(earlier.notes,
            (std::vector<std::string>{
                "Learns from other_T4.json (4 values, 1 failures)",
                "other_T4.json: 'unroll' is 1 in what was tried earlier",
                "other_T4.json: 1 of 6 configurations are not in the space and are left out"}));
  Scenario scenario = Tiling(256);
  scenario.task.clear();
  EXPECT_EQ(TeachOptimizer({.files = {file}}, "prior", "", scenario), earlier.notes);
  const auto optimizer =
      optimizer::MakeOptimizer("bayesian", scenario.space, scenario.optimizer_options);
  EXPECT_EQ(optimizer->Ask(1).at(0).coordinates, (std::vector<double>{63, 0}));

  base::WriteFile(file, "no recording");
  EXPECT_THROW(LearnFromSearches(std::span(&file, 1), "prior", Tiling(256)), InputError);
  scenario.optimizer = "random";
  EXPECT_THROW(TeachOptimizer({.files = {file}}, "prior", "", scenario), InputError);
}

TEST_F(LearningFromSearches, NoiseIsNamedAndLeftOut) {
  const std::string file = folder_ / "noise_T4.json";
  std::vector<double> values;
  for (int tile = 1; tile <= 200; ++tile) values.push_back(tile);
  base::RandomStream random(1);
  random.Shuffle(values);
  nlohmann::json results = nlohmann::json::array();
  for (int tile = 1; tile <= 200; ++tile) {
    const double value = values[static_cast<size_t>(tile - 1)];
    results.push_back({{"configuration", {{"tile", tile}, {"unroll", 1}}},
                       {"invalidity", "correct"},
                       {"objectives", {"time"}},
                       {"measurements", {{{"name", "time"}, {"value", value}, {"unit", "ms"}}}}});
  }
  base::WriteFile(file, nlohmann::json({{"results", results}}).dump());
  Scenario scenario = Tiling(256);
  scenario.task.clear();
  TeachOptimizer({.files = {file}}, "prior", "", scenario);
  const auto optimizer =
      optimizer::MakeOptimizer("bayesian", scenario.space, scenario.optimizer_options);
  EXPECT_EQ(optimizer->TakeNotices(),
            std::vector<std::string>{
                "noise_T4.json: left out, as its values do not depend on its parameters"});
  EXPECT_TRUE(optimizer->TakeNotices().empty());
}

TEST_F(LearningFromSearches, AResumedSearchTriesTheRestOfTheBeginnings) {
  Search(Tiling(256), 20);
  Scenario scenario = Tiling(256);
  scenario.name = "again";
  scenario.task.clear();
  TeachOptimizer({.files = {path_}}, "prior", "", scenario);
  const std::vector<space::Configuration> beginnings =
      optimizer::BestOfEarlier(*scenario.space, scenario.optimizer_options.transfer.tasks, 5);
  ASSERT_EQ(beginnings.size(), 5u);
  record::Store store(folder_ / "again.db");
  std::vector<space::Configuration> asked;
  for (int run = 0; run < 2; ++run) {
    DurableStudy durable(scenario, store, /*resume=*/run > 0);
    for (int i = 0; i < 3; ++i) {
      asked.push_back(durable.study().Ask(1).at(0));
      durable.study().Tell(asked.back(), Measured(scenario, asked.back()), i);
    }
  }
  EXPECT_EQ(asked[0], beginnings[0]);
  EXPECT_EQ(std::ranges::count(beginnings, asked[1]), 0);  // to compare with
  EXPECT_TRUE(std::ranges::equal(std::span(beginnings).last(4), std::span(asked).last(4)));
}

}  // namespace
}  // namespace bayloom::search
