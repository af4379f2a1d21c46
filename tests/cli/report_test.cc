// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// `show`, `report` and `records` on databases of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/record/machine_failures.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/report/session_report.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "examples/models/models.h"
#include "tests/cli/run_bayloom.h"
#include "tests/cli/sample_databases.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

int CountFiles(const std::string& folder, const std::string& end) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    count += entry.path().filename().string().ends_with(end);
  }
  return count;
}

class AnyDatabase : public testing::TestWithParam<const char*> {
 protected:
  AnyDatabase() { UnpackSample(GetParam(), path_); }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / (GetParam() + std::string(".db"));
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyDatabase, testing::ValuesIn(kSampleDatabases),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(AnyDatabase, IsReportedWithEveryRun) {
  const record::Store store(path_);  // brings it up to date, for a second look at the same
  const Answer all = RunBayloom({"report", path_});
  EXPECT_EQ(all.exit_code, 0) << all.error;
  EXPECT_EQ(all.error, "");
  const Answer json = RunBayloom({"report", path_, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.error;
  int runs = 0, pools = 0;
  for (const nlohmann::json& figures : nlohmann::json::parse(json.out)) {
    if (figures["kind"] == "pool") {
      ++pools;
      continue;
    }
    ++runs;
    const std::string number = std::to_string(figures["run"].get<int>());
    const Answer one = RunBayloom({"report", path_, "--run", number});
    EXPECT_EQ(one.exit_code, 0) << one.error;
    EXPECT_NE(one.out, "");
    EXPECT_EQ(RunBayloom({"show", path_, "--run", number}).exit_code, 0);
    EXPECT_EQ(RunBayloom({"show", path_, "--run", number, "--json"}).exit_code, 0);
  }
  EXPECT_GT(runs, 0);
  EXPECT_EQ(pools, GetParam() == std::string("pool") ? 1 : 0);
}

TEST_P(AnyDatabase, IsReadWithoutWritingOfAnOlderSchema) {
  EXPECT_EQ(RunBayloom({"report", path_}).exit_code, 0);
  EXPECT_EQ(RunBayloom({"show", path_}).exit_code, 0);
  EXPECT_EQ(RunBayloom({"records", "export", path_, "--out", "/dev/null"}).exit_code, 0);
  EXPECT_EQ(CountFiles(folder_.path(), ""), 1);
}

TEST(Report, WorksOnEmptyAndMixedDatabases) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  { const record::Store store(path); }
  const Answer empty = RunBayloom({"report", path});
  EXPECT_EQ(empty.exit_code, 0) << empty.error;
  EXPECT_THAT(empty.out, HasSubstr("has no run yet"));
  EXPECT_EQ(RunBayloom({"report", path, "--json"}).out, "[]\n");
  EXPECT_EQ(RunBayloom({"report", path, "--run", "1"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"show", path}).exit_code, 0);

  // A run without trials, and one of each other kind.
  record::Store store(path);
  const record::Context context(store);
  for (const auto kind : {record::RunKind::kTune, record::RunKind::kDataset,
                          record::RunKind::kSearch, record::RunKind::kMap}) {
    record::RunRecord run = record::SampleSearch("../a\x1b[31m\xff/b");
    run.kind = kind;
    const record::RunId id = store.BeginRun(run).id;
    for (int i = 0; i < 3; ++i) store.AddTrial(record::MakeConfiguration(id, i, 5 - i));
  }
  record::ProgramPool(path).PutIntoGroup("g\n", context.task, 1);
  const Answer mixed = RunBayloom({"report", path, path});
  EXPECT_EQ(mixed.exit_code, 0) << mixed.error;
  EXPECT_EQ(mixed.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(mixed.out, HasSubstr("\\x1b[31m\\xff"));
  EXPECT_THAT(mixed.out, HasSubstr("g\\n"));
  const Answer json = RunBayloom({"report", path, "--json"});
  ASSERT_EQ(json.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out).size(), 6u);
}

TEST(Records, CleanCountsFirstAndRemovesWhenAsked) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  record::Store store(path);
  const record::RunId run = store.BeginRun(record::SampleSearch("flags")).id;
  for (int i = 0; i < 4; ++i) {
    record::StoredTrial trial = record::MakeConfiguration(run, i, i);
    if (i < 3) {
      trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "Too many open files");
    }
    store.AddTrial(trial);
  }
  const Answer count = RunBayloom({"records", "clean", path});
  EXPECT_EQ(count.exit_code, 0) << count.error;
  EXPECT_THAT(count.out, HasSubstr("failed by the machine's trouble: 3"));
  EXPECT_EQ(store.CountTrials(run), 4);
  EXPECT_THAT(RunBayloom({"records", "clean", path, "--remove"}).out,
              HasSubstr("Trials removed: 3"));
  EXPECT_EQ(store.CountTrials(run), 1);
  EXPECT_THAT(RunBayloom({"records", "clean", path}).out, HasSubstr("No trial was recorded"));
}

/// The names that the tasks of this JSON have, without those that may take the place of others.
std::multiset<std::string> NamesIn(const nlohmann::json& tasks) {
  std::multiset<std::string> names;
  for (const nlohmann::json& task : tasks) {
    if (task.value("instead of", "").empty()) names.insert(task.at("name"));
  }
  return names;
}

TEST(TaskNames, AreTheSameInEveryPlaceAndTellTasksApart) {
  const TemporaryFolder folder;
  for (const char* name : {"resnet50", "inception_v3", "bert_tiny"}) {
    const std::string onnx = folder / (name + std::string(".onnx"));
    models::FindModel(name).build(1).Save(onnx);
    const std::string path = folder / (name + std::string(".db"));
    ASSERT_EQ(
        RunBayloom({"pretrain", onnx, "--db", path, "--pool-only", "--programs-per-task", "1"})
            .exit_code,
        0);
    const Answer shown = RunBayloom({"show", onnx, "--json"});
    const std::multiset<std::string> names = NamesIn(nlohmann::json::parse(shown.out));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << name;
    record::Store store(path, record::Store::Mode::kReadOnly);
    std::multiset<std::string> recorded;
    for (const record::TaskRecord& task : store.Tasks()) recorded.insert(task.name);
    EXPECT_EQ(recorded, names) << name;
  }
}

TEST(TaskNames, TasksOfADatabaseAreToldApart) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  record::Store store(path);
  const record::Context context(store);
  std::vector<record::TaskId> tasks;
  for (const char* op : {"matmul:8,8,8", "matmul:8,8,16", "matmul:8,8,16,relu"}) {
    tasks.push_back(store.AddTask(tensor::ParseOperator(op)));
    record::StoredTrial trial = record::MakeTrial(context, std::ssize(tasks), 0.5);
    trial.task = tasks.back();
    store.AddTrial(trial);
  }
  const Answer shown = RunBayloom({"show", path, "--json"});
  const nlohmann::json listed = nlohmann::json::parse(shown.out)["targets"][0]["tasks"];
  EXPECT_EQ(NamesIn(listed), (std::multiset<std::string>{"matmul 8x8 over 8", "matmul 8x8 over 16",
                                                         "matmul+relu 8x8 over 16"}));
  const Answer run = RunBayloom({"show", path, "--run", "1", "--json"});
  EXPECT_EQ(NamesIn(nlohmann::json::parse(run.out)["tasks"]), NamesIn(listed));
  const Answer reported = RunBayloom({"report", path, "--json"});
  EXPECT_EQ(NamesIn(nlohmann::json::parse(reported.out)[0]["tasks"]), NamesIn(listed));
  EXPECT_THAT(RunBayloom({"show", path, "--task", std::to_string(tasks[2])}).out,
              HasSubstr("matmul+relu 8x8 over 16"));
}

}  // namespace
}  // namespace bayloom::cli
