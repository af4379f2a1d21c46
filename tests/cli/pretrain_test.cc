// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/codegen/host.h"
#include "bayloom/feature/feature_columns.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

class PretrainCommand : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_ / name; }

  std::string MakePool() const {
    const Answer answer = RunBayloom({"dataset", File("pool.db"), "--families", "dense", "softmax",
                                      "--tasks-per-family", "3", "--programs-per-task", "60"});
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return File("pool.db");
  }

  /// Trials of all programs, which take the longer the more memory they touch.
  static void PretendToMeasure(const std::string& database) {
    record::Store store(database);
    record::ProgramPool pool(database);
    const record::TargetId target = store.AddTarget(codegen::HostTarget());
    const record::RunRecord run = store.BeginRun({.kind = record::RunKind::kDataset,
                                                  .name = "pretended",
                                                  .definition = "{}",
                                                  .target = target,
                                                  .objective = "seconds"});
    int64_t ordinal = 0;
    for (const record::TaskId task : pool.Tasks()) {
      pool.Visit(task, record::ProgramPool::Part::kAll,
                 [&](int64_t, std::span<const record::PoolProgram> programs) {
                   for (const record::PoolProgram& program : programs) {
                     record::StoredTrial trial;
                     trial.run = run.id;
                     trial.task = task;
                     trial.target = target;
                     trial.ordinal = ordinal++;
                     trial.proposer = "pool";
                     trial.candidate = R"({"space":0,"trace":)" + program.trace + "}";
                     trial.key = program.hash;
                     trial.outcome.value = 1e-3;
                     for (int row = 0; row < program.features.rows; ++row) {
                       trial.outcome.value +=
                           1e-3 *
                           program.features.Row(
                               row)[feature::BufferColumnOf(0, feature::BufferFeature::kLines)];
                     }
                     store.AddTrial(trial);
                   }
                 });
    }
  }

  TemporaryFolder folder_;
};

TEST_F(PretrainCommand, DatasetFillsAPoolOnceAndSaysWhatIsThere) {
  const std::string database = MakePool();
  const Answer again = RunBayloom({"dataset", database, "--programs-per-task", "60", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  const nlohmann::json groups = nlohmann::json::parse(again.out);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0]["group"], "dense");
  EXPECT_EQ(groups[0]["tasks"], 3);
  EXPECT_EQ(groups[0]["programs"], 180);
  EXPECT_EQ(groups[0]["measured"], 0);
}

TEST_F(PretrainCommand, SimulationComparesSelections) {
  const std::string database = MakePool();
  PretendToMeasure(database);
  const Answer answer =
      RunBayloom({"pretrain", "--simulate", "--selection", "random,biased-diversity", "--share",
                  "0.2", "--rounds", "3", "--seeds", "2", "--json", "--chart", File("chart.svg"),
                  "--out", File("m.model"), "--hold-out", "softmax", database});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json rows = nlohmann::json::parse(answer.out);
  ASSERT_EQ(rows.size(), 2u);
  for (const nlohmann::json& row : rows) {
    EXPECT_EQ(row["measured"], 36);
    EXPECT_GT(row["top-1 %"], 0);
    EXPECT_LE(row["top-1 %"], row["top-5 %"]);
    EXPECT_LE(row["top-5 %"], 100);
  }
  EXPECT_TRUE(std::filesystem::exists(File("chart.svg")));
  EXPECT_TRUE(std::filesystem::exists(File("m.model")));
}

TEST_F(PretrainCommand, SaysWhatIsWrong) {
  const Answer empty = RunBayloom({"dataset", File("empty.db")});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.error, HasSubstr("has no tasks yet"));
  const Answer no_pool = RunBayloom({"pretrain", File("empty.db"), "--out", File("m.model")});
  EXPECT_EQ(no_pool.exit_code, 2);
  EXPECT_THAT(no_pool.error, HasSubstr("has no pool of programs"));
  const std::string database = MakePool();
  const Answer no_folder = RunBayloom({"pretrain", database, "--out", File("none/m.model")});
  EXPECT_EQ(no_folder.exit_code, 2);
  EXPECT_THAT(no_folder.error, HasSubstr("m.model': No such file or directory"));
  const Answer unmeasured = RunBayloom({"pretrain", database, "--simulate"});
  EXPECT_EQ(unmeasured.exit_code, 2);
  EXPECT_THAT(unmeasured.error, HasSubstr("no program was measured"));
  const Answer group = RunBayloom({"pretrain", database, "--simulate", "--hold-out", "vgg"});
  EXPECT_EQ(group.exit_code, 2);
  EXPECT_THAT(group.error, HasSubstr("no network or family 'vgg'"));
  const Answer no_model =
      RunBayloom({"tune", "--op", "matmul:8,8,8", "--db", File("a.db"), "--cost-model", database});
  EXPECT_EQ(no_model.exit_code, 2);
  EXPECT_THAT(no_model.error, HasSubstr("holds no model"));
}

}  // namespace
}  // namespace bayloom::cli
