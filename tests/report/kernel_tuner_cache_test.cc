// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario.h"
#include "bayloom/report/search_export.h"
#include "bayloom/space/configuration_json.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

constexpr char kScenario[] = R"(
parameters:
  rate: {type: real, range: [0.00001, 1]}
  tile: {type: ordinal, values: [8, 16, 0.5]}
  unroll: {type: integer, range: [1, 8]}
  layout: {type: categorical, values: [rows, columns]}
minimize: time
)";

/// Every third configuration fails.
std::vector<external::StudyTrial> SomeTrials(const external::Scenario& scenario) {
  base::RandomStream random(1);
  std::vector<external::StudyTrial> trials;
  for (int i = 0; i < 30; ++i) {
    external::StudyTrial trial;
    trial.ordinal = i;
    trial.configuration = scenario.space->Sample(random).value();
    trial.outcome = i % 3 == 2 ? trial::Outcome::Infeasible(i % 2 == 0 ? trial::Verdict::kBuildError
                                                                       : trial::Verdict::kCrash,
                                                            "does not fit")
                               : trial::Outcome::Feasible(1.0 / (i + 3));
    trial.outcome.Set("build_seconds", 0.25);
    trial.elapsed = 0.1 * i;
    trials.push_back(trial);
  }
  return trials;
}

std::string Written(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder / "cache.json";
  std::ofstream(path) << text;
  return path;
}

TEST(KernelTunerCache, IsReadBackAsARecordedSpace) {
  const TemporaryFolder folder;
  const external::Scenario scenario = external::ParseScenario(kScenario, "blur.yaml");
  const std::vector<external::StudyTrial> trials = SomeTrials(scenario);
  const auto space =
      external::RecordedSpace::Load(Written(folder, KernelTunerCache(scenario, trials, 0)), "");
  EXPECT_EQ(space.measurement(), "time");
  EXPECT_EQ(space.size(), 30);
  EXPECT_EQ(space.CountFeasible(), 20);
  for (const external::StudyTrial& trial : trials) {
    const trial::Outcome outcome =
        space.OutcomeOf(space::ToJson(*scenario.space, trial.configuration));
    EXPECT_EQ(outcome.verdict, trial.outcome.verdict);
    EXPECT_EQ(outcome.Get("build_seconds", 0), 0.25);
    if (outcome.ok()) {
      EXPECT_EQ(outcome.value, trial.outcome.value);
    }
  }
}

TEST(KernelTunerCache, HasTheKeysByWhichKernelTunerLooksUp) {
  const external::Scenario scenario = external::ParseScenario(kScenario, "blur.yaml");
  const std::string text = KernelTunerCache(scenario, SomeTrials(scenario), 0);
  EXPECT_TRUE(text.ends_with("}\n}"));  // what it takes for a file that was closed
  const nlohmann::json cache = nlohmann::json::parse(text);
  EXPECT_EQ(cache["kernel_name"], "blur");
  EXPECT_EQ(cache["tune_params_keys"], nlohmann::json({"rate", "tile", "unroll", "layout"}));
  EXPECT_EQ(cache["tune_params"]["unroll"].size(), 8u);
  EXPECT_EQ(cache["tune_params"]["layout"], nlohmann::json({"rows", "columns"}));
  EXPECT_GT(cache["tune_params"]["rate"].size(), 20u);
  for (const auto& [key, entry] : cache["cache"].items()) {
    const std::string end = "," + entry["unroll"].dump() + "," + entry["layout"].get<std::string>();
    EXPECT_TRUE(key.ends_with(end)) << key;
  }
}

TEST(KernelTunerCache, IsAScenarioOfItsOwn) {
  const TemporaryFolder folder;
  const external::Scenario scenario = external::ParseScenario(kScenario, "blur.yaml");
  const std::vector<external::StudyTrial> trials = SomeTrials(scenario);
  std::string text = KernelTunerCache(scenario, trials, 0);
  text.replace(text.size() - 3, 3, ",");  // as an interrupted run leaves it
  const external::Scenario read = external::LoadScenario(Written(folder, text));
  EXPECT_EQ(read.name, "blur");
  EXPECT_EQ(read.objective, "time");
  EXPECT_FALSE(read.maximize);
  ASSERT_EQ(read.space->size(), 4);
  for (const external::StudyTrial& trial : trials) {
    const auto configuration =
        space::FromJson(*read.space, space::ToJson(*scenario.space, trial.configuration));
    ASSERT_TRUE(configuration) << configuration.error().message;
  }
  // What the database keeps of it is the space, which is read again without the file.
  EXPECT_LT(read.text.size(), text.size() / 2);
  EXPECT_EQ(external::ParseScenario(read.text, "gone.json").space->CountFeasible(),
            read.space->CountFeasible());
}

TEST(KernelTunerCache, RatesAreMaximized) {
  const std::string text = R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
    "objective": ["GFLOP/s"], "cache": {"1": {"a": 1, "GFLOP/s": 3.5}}})";
  const TemporaryFolder folder;
  const std::string path = Written(folder, text);
  EXPECT_TRUE(external::LoadScenario(path).maximize);
  EXPECT_EQ(external::RecordedSpace::Load(path, "").OutcomeOf({{"a", true}}).value, 3.5);
}

TEST(KernelTunerCache, WhatIsNoneIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    EXPECT_THROW((void)external::RecordedSpace::Load(Written(folder, text), ""), InputError)
        << text;
  };
  refused(R"({"tune_params_keys": ["a"], "cache": {}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": {"b": 1, "time": 2}}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1}}})");
  refused(R"({"tune_params_keys": [3], "cache": {"1": {"a": 1, "time": 2}}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": 7}})");
  EXPECT_THROW(
      (void)external::LoadScenario(Written(
          folder, R"({"tune_params_keys": ["a"], "tune_params": {"b": [1]}, "cache": {}})")),
      InputError);
}

}  // namespace
}  // namespace bayloom::report
