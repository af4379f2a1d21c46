// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/recorded_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/search/study_task.h"
#include "tests/temporary_folder.h"

namespace bayloom::search {
namespace {

const std::string kFolder = BAYLOOM_TEST_EXAMPLES "/recorded/";
const std::string kRecord = kFolder + "convolution_A4000_T4.json.gz";

TEST(RecordedSpace, KnowsWhatWasRun) {
  const RecordedSpace space = RecordedSpace::Load(kRecord);
  EXPECT_EQ(space.measurement(), "time");
  EXPECT_EQ(space.size(), 4362);
  EXPECT_EQ(space.CountFeasible(), 4362 - 161);
  EXPECT_NEAR(space.Min(), 1.021172, 1e-6);
  nlohmann::json configuration = {{"block_size_x", 256}, {"block_size_y", 1}, {"tile_size_x", 2},
                                  {"tile_size_y", 4},    {"read_only", 0},    {"use_padding", 0},
                                  {"use_shmem", 0},      {"use_cmem", 1},     {"filter_height", 15},
                                  {"filter_width", 15}};
  EXPECT_EQ(space.OutcomeOf(configuration).value, space.Min());
  configuration["block_size_x"] = 256.0;  // the same number
  configuration["use_cmem"] = true;
  EXPECT_EQ(space.OutcomeOf(configuration).value, space.Min());
  configuration["block_size_x"] = 255;
  const trial::Outcome missing = space.OutcomeOf(configuration);
  EXPECT_FALSE(missing.ok());
  EXPECT_THAT(missing.reason, testing::HasSubstr("no record"));
}

TEST(RecordedSpace, IsWhatTheScenariosAllow) {
  // The known constraints allow exactly what was run.
  for (const char* file : {"convolution.yaml", "convolution_T1.json"}) {
    const Scenario scenario = LoadScenario(kFolder + file);
    EXPECT_EQ(scenario.space->CountFeasible(), 4362) << file;
  }
}

TEST(RecordedSpace, IsSearchedAtNoCost) {
  Scenario scenario = LoadScenario(kFolder + "convolution_T1.json");
  OverrideRecorded(kRecord, scenario);
  scenario.optimizer = "random";
  Study study(scenario, optimizer::MakeOptimizer("random", scenario.space, {}));
  const auto evaluator = MakeEvaluator(scenario.space, scenario.evaluator, 2);
  StudyTask task(study, *evaluator);
  run::ScheduledRun<space::Configuration> run({});
  run.AddTask(task, {});
  EXPECT_EQ(run.Run(), trial::StopReason::kExhausted);
  EXPECT_EQ(study.trials(), 4362);
  EXPECT_EQ(study.feasible_trials(), 4362 - 161);
  EXPECT_NEAR(study.best()->outcome.value, 1.021172, 1e-6);
}

TEST(RecordedSpace, WhatPythonWritesForNoNumberIsAFailure) {
  const TemporaryFolder folder;
  std::ofstream(folder / "cache.json") << R"({"tune_params_keys": ["x"], "cache": {
        "1": {"x": 1, "time": NaN}, "2": {"x": 2, "time": -Infinity}, "3": {"x": 3, "time": Infinity},
        "4": {"x": 4, "time": 1.5, "GFLOP/s": NaN, "note": "NaN \" Infinity"}}})";
  const RecordedSpace space = RecordedSpace::Load(folder / "cache.json");
  for (int x = 1; x <= 3; ++x) EXPECT_FALSE(space.OutcomeOf({{"x", x}}).ok()) << x;
  EXPECT_EQ(space.OutcomeOf({{"x", 4}}).value, 1.5);
}

TEST(RecordedSpace, RefusesWhatIsNone) {
  EXPECT_THROW((void)RecordedSpace::Load("/nonexistent"), InputError);
  EXPECT_THROW((void)RecordedSpace::Load(kFolder + "convolution_T1.json"), InputError);
  EXPECT_THROW((void)RecordedSpace::Load(kRecord, {"energy"}), InputError);
}

}  // namespace
}  // namespace bayloom::search
