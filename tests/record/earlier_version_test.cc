// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Databases that the version before runs had one table wrote (tests/record/data, with what that
// version exported of them): they open, are brought up to date, and export as they did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bayloom/record/json_lines.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "tests/record/json_lines.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;

std::string Unpacked(const std::string& name) {
  const std::string path = std::string(BAYLOOM_TEST_RECORDS) + "/" + name + ".gz";
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string bytes;
  char buffer[4096];
  for (int count; (count = gzread(file, buffer, sizeof(buffer))) > 0;) bytes.append(buffer, count);
  gzclose(file);
  return bytes;
}

std::vector<Json> Lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::string WithoutPools(const std::string& text) {
  std::string rest;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"type\":\"pool_") == std::string::npos) rest += line + "\n";
  }
  return rest;
}

class EarlierVersion : public testing::TestWithParam<const char*> {
 protected:
  EarlierVersion() : path_(folder_ / "records.db") {
    std::ofstream(path_, std::ios::binary) << Unpacked(GetParam() + std::string(".db"));
  }
  std::string exported() const { return Unpacked(GetParam() + std::string(".jsonl")); }

  TemporaryFolder folder_;
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, EarlierVersion, testing::Values("tune", "pool", "search", "map"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(EarlierVersion, ExportsWhatItExported) {
  Store store(path_);
  const std::vector<Json> before = Lines(exported()), now = Lines(WithoutPools(Export(store)));
  ASSERT_EQ(now.size(), before.size());
  ASSERT_GT(now.size(), 5u);
  for (size_t i = 0; i < now.size(); ++i) {
    for (const auto& [name, value] : before[i].items()) EXPECT_EQ(now[i].at(name), value) << name;
  }
}

TEST_P(EarlierVersion, ReadingOnlyReadsTheSameAndChangesNothing) {
  std::string text;
  {
    Store store(path_, Store::Mode::kReadOnly);
    text = Export(store);
  }
  std::ifstream file(path_, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            Unpacked(GetParam() + std::string(".db")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  Store store(path_);
  EXPECT_EQ(Export(store), text);
}

TEST_P(EarlierVersion, ItsExportIsImported) {
  Store store(path_), copy(folder_ / "copy.db");
  std::istringstream in(exported());
  ImportJsonLines(copy, in, "r.jsonl");
  EXPECT_EQ(Export(copy), WithoutPools(Export(store)));
  std::istringstream same(exported());
  EXPECT_EQ(ImportJsonLines(store, same, "r.jsonl").added, 0);
}

/// A file of that version in a folder of its own.
class EarlierFile {
 public:
  explicit EarlierFile(const std::string& name) : path_(folder_ / name) {
    std::ofstream(path_, std::ios::binary) << Unpacked(name);
  }
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

TEST(EarlierVersions, ATuningIsARunOfItsSlots) {
  const EarlierFile file("tune.db");
  Store store(file.path());
  const std::vector<RunRecord> runs = store.Runs(RunKind::kTune);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, 1);
  EXPECT_TRUE(runs[0].finished);
  EXPECT_FALSE(runs[1].finished);
  EXPECT_EQ(runs[1].name, "matmul:16,16,24,bias,relu");
  EXPECT_EQ(runs[1].seed, 4u);
  EXPECT_EQ(Json::parse(runs[1].definition).at("strategy"), "bayes");
  EXPECT_EQ(runs[1].objective, "seconds");
  ASSERT_TRUE(runs[1].target);
  // The process was killed two trials after its first slot of twelve.
  const std::vector<StoredTrial> trials = store.TrialsOfRun(runs[1].id);
  EXPECT_EQ(trials.size(), 14u);
  EXPECT_EQ(Json::parse(runs[1].state).at("slots").size(), 1u);
  EXPECT_EQ(store.MetricsOf(runs[1].id).size(), 7u);
  int cut_short = 0, infeasible = 0;
  for (const StoredTrial& trial : trials) {
    cut_short += trial.outcome.Get("cut_short", 0) != 0;
    infeasible += !trial.outcome.ok();
    EXPECT_NE(trial.key, 0u);
    EXPECT_EQ(trial.proposer, "bayes");
    EXPECT_GT(trial.outcome.Get("build_seconds", 0), 0);
    EXPECT_EQ(trial.outcome.Get("drift", 1), 1);
    const Json candidate = Json::parse(trial.candidate);
    EXPECT_TRUE(candidate.at("space").is_number_integer() && candidate.at("trace").is_object());
  }
  EXPECT_EQ(cut_short, 3);
  EXPECT_EQ(infeasible, 1);
  for (const StoredTrial& best : store.BestOf(trials[0].task, trials[0].target, 100)) {
    EXPECT_TRUE(best.outcome.ok() && best.outcome.Get("cut_short", 0) == 0);
  }
  EXPECT_EQ(store.BestOf(trials[0].task, trials[0].target, 100).size(), 10u);
}

TEST(EarlierVersions, MeasurementsOfAPoolAreADataset) {
  const EarlierFile file("pool.db");
  Store store(file.path());
  ASSERT_EQ(store.Runs().size(), 1u);
  EXPECT_EQ(store.Runs()[0].kind, RunKind::kDataset);
  EXPECT_EQ(store.CountTrials(1), 6);
  ProgramPool pool(file.path());
  ASSERT_EQ(pool.Groups().size(), 1u);
  EXPECT_EQ(pool.Groups()[0].name, "dense");
  EXPECT_EQ(pool.Count(1) + pool.Count(2), 12);
}

TEST(EarlierVersions, ASearchKeepsItsScenario) {
  const EarlierFile file("search.db");
  Store store(file.path());
  ASSERT_EQ(store.Runs(RunKind::kSearch).size(), 2u);
  const std::optional<RunRecord> run = store.LastRun(RunKind::kSearch, "toy");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->id, 2);
  EXPECT_EQ(run->seed, uint64_t{9223372036854775807});
  EXPECT_EQ(run->proposer, "random");
  EXPECT_THAT(run->definition, testing::HasSubstr("constraints:\n"));
  EXPECT_FALSE(run->target);
  const std::vector<StoredTrial> trials = store.TrialsOfRun(1);
  ASSERT_EQ(trials.size(), 14u);
  EXPECT_EQ(trials[2].outcome.verdict, trial::Verdict::kCrash);
  EXPECT_EQ(trials[2].outcome.reason, "exit code 1");
  EXPECT_EQ(trials[1].candidate, R"({"mode":"it's \"quoted\"","order":[1,0,2],"tile":4})");
  EXPECT_EQ(trials[1].proposer, "bayesian");
  EXPECT_EQ(trials[1].key, 0u);
  EXPECT_EQ(trials[1].outcome.value, 0.41);
  EXPECT_GT(trials[1].elapsed, trials[0].elapsed);
}

TEST(EarlierVersions, MappingsAreARunOfTheirOwnKind) {
  const EarlierFile file("map.db");
  Store store(file.path());
  ASSERT_EQ(store.Runs(RunKind::kMap).size(), 1u);
  const RunRecord run = store.Runs()[0];
  EXPECT_EQ(run.objective, "energy");
  EXPECT_EQ(run.proposer, "genetic");
  EXPECT_EQ(store.CountTrials(run.id), 40);
}

TEST(EarlierVersions, SearchesFollowTheSessionsOfTheSameFile) {
  const EarlierFile file("tune.db");
  {
    Database database(file.path(), Database::Mode::kReadWrite);
    database.Execute(
        "INSERT INTO searches VALUES (3, 'abc', 'n', '{\"problem\":', 'seconds', 0, 'random', 7, 1,"
        " 1);"
        "INSERT INTO search_trials VALUES (3, 0, '{}', 'ok', 0.1, '', NULL, 0.30000000000000004, 2,"
        " 5);");
  }
  Store store(file.path());
  ASSERT_EQ(store.Runs().size(), 3u);
  EXPECT_EQ(store.Runs()[2].id, 5);
  EXPECT_EQ(store.Runs()[2].kind, RunKind::kSearch);
  ASSERT_EQ(store.CountTrials(5), 1);
  const trial::Outcome outcome = store.TrialsOfRun(5)[0].outcome;
  EXPECT_EQ(outcome.values,
            (std::vector<trial::NamedValue>{{"measure_seconds", 0.30000000000000004}}));
}

}  // namespace
}  // namespace bayloom::record
