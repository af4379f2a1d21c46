// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/report/progress_columns.h"

namespace bayloom::report {
namespace {

std::vector<scheduling::TaskProgress> TwoTasks() {
  const scheduling::TaskProgress convolution{.name = "conv1",
                                             .weight = 2,
                                             .work = 1e9,
                                             .best_after_trial = {INFINITY, 5e-3, 2e-3},
                                             .slot_ends = {3}};
  const scheduling::TaskProgress pool{.name = "pool", .best_after_trial = {1e-3}, .slot_ends = {1}};
  return {convolution, pool};
}

run::RunStatus StatusOf(const std::vector<scheduling::TaskProgress>& tasks) {
  run::RunStatus status;
  status.task = 0;
  status.tasks = tasks;
  status.trials = 4;
  status.feasible_trials = 3;
  status.max_trials = 10;
  status.seconds = 20;
  return status;
}

TEST(RunProgress, EstimatesTheEndByTheFirstBudgetToRunOut) {
  const std::vector<scheduling::TaskProgress> tasks = TwoTasks();
  run::RunStatus status = StatusOf(tasks);
  EXPECT_DOUBLE_EQ(SecondsLeft(status, {}), 30);
  status.max_seconds = 25;
  EXPECT_DOUBLE_EQ(SecondsLeft(status, {}), 5);
  status.seconds = 26;
  EXPECT_DOUBLE_EQ(SecondsLeft(status, {}), 0);
  status.trials = 0;
  status.max_seconds = INFINITY;
  EXPECT_EQ(SecondsLeft(status, {}), INFINITY);
}

TEST(RunProgress, TheTimeLeftOfAResumedRunIsThatOfItsOwnPace) {
  run::RunStatus begin, status;
  begin.trials = 100;
  begin.seconds = 1000;
  status.trials = 110;
  status.seconds = 1010;
  status.max_trials = 150;
  EXPECT_DOUBLE_EQ(SecondsLeft(status, begin), 40);
}

TEST(RunProgress, LinesStandUnderTheirHeaderAndFitTheWidth) {
  const std::vector<scheduling::TaskProgress> tasks = TwoTasks();
  const RunProgress progress(stderr, {}, TuningProgress());
  for (const int width : {80, 100, 200}) {
    const std::string header = progress.Header(width);
    const std::string line = progress.Line(StatusOf(tasks), nullptr, width);
    EXPECT_EQ(line.size(), header.size());
    EXPECT_LE(static_cast<int>(line.size()), width);
    EXPECT_EQ(line.find("1/2 conv1"), header.find("task"));
    for (const char* part : {"4/10", "20.0 s", "30.0 s", "2.00 ms", "5.00 ms"}) {
      EXPECT_THAT(line, testing::HasSubstr(part));
    }
  }
}

TEST(RunProgress, ShortensLongNames) {
  std::vector<scheduling::TaskProgress> tasks = TwoTasks();
  tasks[0].name = std::string(120, 'x');
  const RunProgress progress(stderr, {}, TuningProgress());
  EXPECT_LE(progress.Line(StatusOf(tasks), nullptr, 80).size(), 80u);
}

TEST(RunProgress, ALogHasNoControlCodes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::tmpfile(), &std::fclose);
  const std::vector<scheduling::TaskProgress> tasks = TwoTasks();
  {
    RunProgress progress(log.get(), {}, TuningProgress());
    progress.Trial(StatusOf(tasks), trial::Outcome::Feasible(1));
    progress.Slot(StatusOf(tasks));
    progress.End();
  }
  std::rewind(log.get());
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), log.get()));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << "a header and a line";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(TaskTable, TasksShareTheTimeOfTheWhole) {
  std::vector<scheduling::TaskProgress> tasks = TwoTasks();
  const nlohmann::json rows = TaskTable(tasks).Json();
  EXPECT_DOUBLE_EQ(rows[0]["share"], 0.8);
  EXPECT_DOUBLE_EQ(rows[1]["share"], 0.2);
  EXPECT_DOUBLE_EQ(rows[0]["rate"], 5e11);
  EXPECT_EQ(rows[0]["trials"], 3);
  tasks[1].best_after_trial = {INFINITY};
  EXPECT_TRUE(TaskTable(tasks).Json()[0]["share"].is_null());
  tasks[0].best_after_trial = {INFINITY};
  EXPECT_TRUE(TaskTable(tasks).Json()[0]["rate"].is_null());
}

}  // namespace
}  // namespace bayloom::report
