// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/report/search_export.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/scenario_overrides.h"
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
std::vector<search::StudyTrial> SomeTrials(const search::Scenario& scenario) {
  base::RandomStream random(1);
  std::vector<search::StudyTrial> trials;
  for (int i = 0; i < 30; ++i) {
    search::StudyTrial trial;
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
  const search::Scenario scenario = search::ParseScenario(kScenario, "blur.yaml");
  const std::vector<search::StudyTrial> trials = SomeTrials(scenario);
  const auto space =
      search::RecordedSpace::Load(Written(folder, KernelTunerCache(scenario, trials, 0)));
  EXPECT_EQ(space.measurement(), "time");
  EXPECT_EQ(space.size(), 30);
  EXPECT_EQ(space.CountFeasible(), 20);
  for (const search::StudyTrial& trial : trials) {
    const trial::Outcome outcome =
        space.OutcomeOf(space::ToJson(*scenario.space, trial.configuration));
    EXPECT_EQ(outcome.verdict, trial.outcome.verdict);
    EXPECT_EQ(outcome.Get("build_seconds", 0), 0.25);
    if (outcome.ok()) {
      EXPECT_EQ(outcome.value, trial.outcome.value);
    }
  }
}

TEST(KernelTunerCache, OfAConditionalSearchIsLookedUpByItsScenario) {
  const TemporaryFolder folder;
  search::Scenario scenario = search::ParseScenario(R"(
parameters:
  tiling: {type: categorical, values: [none, square]}
  tile: {type: ordinal, values: [8, 16], active_if: tiling == 'square'}
  order: {type: permutation, size: 3, active_if: tile == 16}
minimize: time
)",
                                                    "blur.yaml");
  std::vector<search::StudyTrial> trials;
  scenario.space->ForEach([&](const space::Configuration& configuration) {
    search::StudyTrial trial;
    trial.configuration = configuration;
    trial.outcome = trial::Outcome::Feasible(1.5 + static_cast<double>(trials.size()));
    trials.push_back(trial);
    return true;
  });
  ASSERT_EQ(trials.size(), 1u + 1 + 6);
  const std::string path = Written(folder, KernelTunerCache(scenario, trials, 0));
  search::OverrideRecorded(path, scenario);
  const auto evaluator = search::MakeEvaluator(scenario.space, scenario.evaluator, 1);
  for (const search::StudyTrial& trial : trials) {
    evaluator->Submit(0, trial.configuration);
    const auto finished = evaluator->Collect(1, [] { return false; });
    ASSERT_EQ(finished.size(), 1u);
    EXPECT_EQ(finished[0].outcome->value, trial.outcome.value)
        << scenario.space->ToString(trial.configuration) << ": " << finished[0].outcome->reason;
  }
}

TEST(KernelTunerCache, HasTheKeysByWhichKernelTunerLooksUp) {
  const search::Scenario scenario = search::ParseScenario(kScenario, "blur.yaml");
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
  const search::Scenario scenario = search::ParseScenario(kScenario, "blur.yaml");
  const std::vector<search::StudyTrial> trials = SomeTrials(scenario);
  std::string text = KernelTunerCache(scenario, trials, 0);
  text.replace(text.size() - 3, 3, ",");  // as an interrupted run leaves it
  const search::Scenario read = search::LoadScenario(Written(folder, text));
  EXPECT_EQ(read.name, "blur");
  EXPECT_EQ(read.objectives[0].name, "time");
  EXPECT_FALSE(read.objectives[0].maximize);
  ASSERT_EQ(read.space->size(), 4);
  for (const search::StudyTrial& trial : trials) {
    const auto configuration =
        space::FromJson(*read.space, space::ToJson(*scenario.space, trial.configuration));
    ASSERT_TRUE(configuration) << configuration.error().message;
  }
  // What the database keeps of it is the space, which is read again without the file.
  EXPECT_LT(read.text.size(), text.size() / 2);
  EXPECT_EQ(search::ParseScenario(read.text, "gone.json").space->CountFeasible(),
            read.space->CountFeasible());
}

TEST(KernelTunerCache, MayEndAnywhereBehindItsHeader) {
  const TemporaryFolder folder;
  const search::Scenario scenario = search::ParseScenario(kScenario, "blur } \" {.yaml");
  const std::vector<search::StudyTrial> trials = SomeTrials(scenario);
  const std::string text = KernelTunerCache(scenario, trials, 0);
  const size_t begin = text.find("\"cache\": {") + 10;
  ASSERT_LT(begin, text.size());
  const auto complete = [&](size_t end) {  // an entry is one line
    return std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  };
  for (size_t end = begin + 1; end < text.size(); end += 37) {
    const std::string path = Written(folder, text.substr(0, end));
    const search::Scenario read = search::LoadScenario(path);
    EXPECT_EQ(read.space->size(), 4);
    const int64_t begun = complete(end);
    try {
      const int64_t entries = search::RecordedSpace::Load(path).size();
      EXPECT_GE(entries, begun - 1) << end;
      EXPECT_LE(entries, begun) << end;
    } catch (const InputError& error) {
      EXPECT_LE(begun, 1) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("the cache is empty"));
    }
  }
  EXPECT_THROW((void)search::LoadScenario(Written(folder, text.substr(0, begin - 20))), InputError);
}

TEST(KernelTunerCache, MayBeLargerThanScenariosAre) {
  const TemporaryFolder folder;
  const std::string blanks(base::kMaxTextBytes, ' ');
  const std::string cache = R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
    "cache": {"1": {"a": 1, "time": 3.5})";
  EXPECT_EQ(search::LoadScenario(Written(folder, cache + blanks + "}}")).space->size(), 1);
  EXPECT_THAT([&] { (void)search::LoadScenario(Written(folder, "parameters: {}" + blanks)); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("larger than 64 MiB")));
}

TEST(KernelTunerCache, RatesAreMaximized) {
  const std::string text = R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
    "objective": ["GFLOP/s"], "cache": {"1": {"a": 1, "GFLOP/s": 3.5}}})";
  const TemporaryFolder folder;
  const std::string path = Written(folder, text);
  EXPECT_TRUE(search::LoadScenario(path).objectives[0].maximize);
  EXPECT_EQ(search::RecordedSpace::Load(path).OutcomeOf({{"a", true}}).value, 3.5);
}

TEST(KernelTunerCache, KeepsTheDirectionOfTheObjective) {
  const TemporaryFolder folder;
  const auto maximizes = [&](const std::string& objective) {
    const search::Scenario scenario = search::ParseScenario(
        "parameters: {tile: {type: integer, range: [1, 4]}}\n" + objective + "\n", "blur.yaml");
    search::StudyTrial trial;
    trial.configuration = {{2.0}};
    trial.outcome = trial::Outcome::Feasible(3);
    trial.outcome.Set("bytes", 7);
    const search::Scenario read =
        search::LoadScenario(Written(folder, KernelTunerCache(scenario, std::span(&trial, 1), 0)));
    EXPECT_EQ(read.objectives[0].name, scenario.objectives[0].name);
    return read.objectives[0].maximize;
  };
  EXPECT_TRUE(maximizes("maximize: score"));
  EXPECT_FALSE(maximizes("minimize: score"));
  EXPECT_FALSE(maximizes("minimize: GFLOP/s"));
  EXPECT_TRUE(maximizes("maximize: [score, bytes]"));
  EXPECT_FALSE(maximizes("maximize: bytes\nminimize: score"));
}

TEST(KernelTunerCache, NamesOfItsOwnFieldsAreForObjectivesAndParametersFirst) {
  const TemporaryFolder folder;
  const search::Scenario scenario = search::ParseScenario(R"(
parameters:
  timestamp: {type: integer, range: [1, 9]}
  benchmark_time: {type: integer, range: [1, 9]}
minimize: compile_time
)",
                                                          "blur.yaml");
  search::StudyTrial trial;
  trial.configuration =
      *scenario.space->Parse({{"timestamp", int64_t{7}}, {"benchmark_time", int64_t{3}}});
  trial.outcome = trial::Outcome::Feasible(0.125);
  trial.outcome.Set("build_seconds", 4);
  trial.outcome.Set("timestamp", 4);
  const std::string text = KernelTunerCache(scenario, std::span(&trial, 1), 0);
  const auto space = search::RecordedSpace::Load(Written(folder, text));
  EXPECT_EQ(space.OutcomeOf({{"timestamp", 7}, {"benchmark_time", 3}}).value, 0.125);

  const search::Scenario twice = search::ParseScenario(
      "parameters: {time: {type: integer, range: [1, 2]}}\nminimize: time\n", "blur.yaml");
  EXPECT_THROW((void)KernelTunerCache(twice, {}, 0), InputError);
}

TEST(KernelTunerCache, WhatIsNoneIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    EXPECT_THROW((void)search::RecordedSpace::Load(Written(folder, text)), InputError) << text;
  };
  refused(R"({"tune_params_keys": ["a"], "cache": {}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": {"b": 1, "time": 2}}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1}}})");
  refused(R"({"tune_params_keys": [3], "cache": {"1": {"a": 1, "time": 2}}})");
  refused(R"({"tune_params_keys": ["a"], "cache": {"1": 7}})");
  EXPECT_THROW(
      (void)search::LoadScenario(Written(
          folder, R"({"tune_params_keys": ["a"], "tune_params": {"b": [1]}, "cache": {}})")),
      InputError);
}

}  // namespace
}  // namespace bayloom::report
