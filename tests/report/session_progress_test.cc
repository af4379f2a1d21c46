#include "bayloom/report/session_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<TaskProgress> TwoTasks() {
  TaskProgress convolution{"conv1", 2, 1e9, {kInfinity, 5e-3, 2e-3}, {3}};
  TaskProgress pool{"pool", 1, 0, {1e-3}, {1}};
  return {convolution, pool};
}

SessionStatus StatusOf(const std::vector<TaskProgress>& tasks) {
  SessionStatus status;
  status.task = 0;
  status.tasks = tasks;
  status.trials = 4;
  status.feasible_trials = 3;
  status.max_trials = 10;
  status.seconds = 20;
  status.max_seconds = kInfinity;
  status.total_seconds = 5e-3;
  return status;
}

TEST(SessionProgress, ForetellsTheEndByTheFirstBudgetToRunOut) {
  const std::vector<TaskProgress> tasks = TwoTasks();
  SessionStatus status = StatusOf(tasks);
  EXPECT_DOUBLE_EQ(SecondsLeft(status), 30);
  status.max_seconds = 25;
  EXPECT_DOUBLE_EQ(SecondsLeft(status), 5);
  status.seconds = 26;
  EXPECT_DOUBLE_EQ(SecondsLeft(status), 0);
  status.trials = 0;
  status.max_seconds = kInfinity;
  EXPECT_EQ(SecondsLeft(status), kInfinity);
}

TEST(SessionProgress, LinesStandUnderTheirHeader) {
  const std::vector<TaskProgress> tasks = TwoTasks();
  const std::string line = ProgressLine(StatusOf(tasks));
  EXPECT_EQ(line.size(), ProgressHeader().size());
  EXPECT_EQ(line.find("1/2 conv1"), ProgressHeader().find("task"));
  for (const char* part : {"4/10", "20.0 s", "30.0 s", "2.00 ms", "500 GFLOP/s", "5.00 ms"}) {
    EXPECT_THAT(line, testing::HasSubstr(part));
  }
}

TEST(SessionProgress, ShortensLongNames) {
  std::vector<TaskProgress> tasks = TwoTasks();
  tasks[0].name = std::string(80, 'x');
  EXPECT_EQ(ProgressLine(StatusOf(tasks)).size(), ProgressHeader().size());
}

TEST(SessionProgress, TasksShareTheTimeOfTheWhole) {
  std::vector<TaskProgress> tasks = TwoTasks();
  const nlohmann::json rows = TaskTable(tasks).Json();
  EXPECT_DOUBLE_EQ(rows[0]["share"], 0.8);
  EXPECT_DOUBLE_EQ(rows[1]["share"], 0.2);
  EXPECT_DOUBLE_EQ(rows[0]["rate"], 5e11);
  EXPECT_EQ(rows[0]["trials"], 3);
  tasks[1].best_after_trial = {kInfinity};
  EXPECT_TRUE(TaskTable(tasks).Json()[0]["share"].is_null());
  tasks[0].best_after_trial = {kInfinity};
  EXPECT_TRUE(TaskTable(tasks).Json()[0]["rate"].is_null());
}

}  // namespace
}  // namespace bayloom
