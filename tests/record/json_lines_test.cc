// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/json_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/record/json_lines.h"
#include "tests/record/random_records.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

TEST(JsonLines, CarriesSearches) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  FillSearch(source);
  FillSearch(copy);
  const std::string text = Export(source);
  EXPECT_EQ(Import(copy, text).added, 8);
  EXPECT_EQ(Import(copy, text).present, 8);
  ASSERT_EQ(copy.Runs(RunKind::kSearch).size(), 2u);
  const RunRecord theirs = source.Runs(RunKind::kSearch)[0], ours = copy.Runs(RunKind::kSearch)[1];
  EXPECT_EQ(ours.uuid, theirs.uuid);
  EXPECT_EQ(ours.definition, theirs.definition);
  EXPECT_EQ(ours.seed, theirs.seed);
  EXPECT_EQ(ours.started, theirs.started);
  EXPECT_TRUE(ours.maximize);
  const std::vector<StoredTrial> trials = copy.TrialsOfRun(ours.id);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].candidate, R"({"order":[1,0],"x":0})");
  EXPECT_EQ(trials[0].outcome.value, 0.1);
  EXPECT_EQ(trials[0].timestamp, source.TrialsOfRun(theirs.id)[0].timestamp);
  EXPECT_EQ(trials[1].outcome.verdict, trial::Verdict::kTimeout);
  EXPECT_EQ(trials[1].outcome.reason, "took \"too\" long");
  EXPECT_TRUE(std::isnan(trials[1].outcome.value));
}

TEST(JsonLines, RoundTripIsExact) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  const std::string text = Export(source);
  const ImportSummary summary = Import(copy, text);
  EXPECT_EQ(summary.added, 6);
  EXPECT_EQ(summary.present, 0);
  EXPECT_EQ(Export(copy), text);
  EXPECT_EQ(copy.TrialsOfRun(1)[2].outcome.value, 0.1 / 5);
  EXPECT_EQ(copy.TrialsOfRun(1)[2].candidate, source.TrialsOfRun(1)[2].candidate);
  ASSERT_EQ(copy.RepeatsOf(1).size(), 2u);
  EXPECT_EQ(copy.RepeatsOf(1)[0].trial_run, 0);
  EXPECT_EQ(copy.RepeatsOf(1)[1].trial_run, 1);
  EXPECT_EQ(copy.RepeatsOf(1)[1].outcome.value, 0.125);
  EXPECT_EQ(copy.Runs()[0].state, R"({"rng":[1,2]})");
}

/// Everything a store can hold, drawn at random.
void FillAtRandom(Store& store, base::RandomStream& random) {
  std::vector<TargetId> targets;
  std::vector<TaskId> tasks;
  for (int i = 1; i <= 3; ++i) {
    targets.push_back(store.AddTarget(SampleTarget(i)));
    tasks.push_back(store.AddTask(Matmul(i, 8, 16)));
    if (random.UniformInt(2) == 0) store.SetMachine(targets.back(), R"({"lanes":8,"l1":[1,0.5]})");
  }
  ProgramPool pool(store.path());
  for (int i = 0; i < 6; ++i) {
    pool.PutIntoGroup(RandomText(random), tasks[random.UniformInt(3)], 0.1 * i);
    pool.Add(tasks[random.UniformInt(3)], RandomPrograms(random));
  }
  SampleStore samples(store.path());
  for (const TaskId task : tasks) {
    samples.Update(task, targets[random.UniformInt(3)], [&](TaskSamples& kept) {
      kept.samples = RandomSamples(random);
      kept.given = std::ssize(kept.samples) + static_cast<int64_t>(random.UniformInt(9));
    });
    samples.AddModel(targets[random.UniformInt(3)], RandomModel(random));
  }
  for (int i = 0; i < 8; ++i) {
    RunRecord run = SampleSearch(RandomText(random));
    run.objective = RandomText(random);
    run.proposer = RandomText(random);
    run.kind = static_cast<RunKind>(i % 4);
    run.maximize = random.UniformInt(2) == 0;
    run.seed = random.Next();
    run.state = random.UniformInt(2) == 0 ? R"({"slots":[[1,2]]})" : RandomText(random);
    if (random.UniformInt(2) == 0) run.definition = RandomText(random);
    if (i % 4 < 2 || random.UniformInt(4) == 0) run.target = targets[random.UniformInt(3)];
    run = store.BeginRun(run);
    store.SetFinished(run.id, random.UniformInt(2) == 0);
    const bool is_schedule = i % 4 < 2;
    for (int64_t j = random.UniformInt(6); j > 0; --j) {
      StoredTrial trial = MakeConfiguration(run.id, store.CountTrials(run.id), 1);
      if (is_schedule || random.UniformInt(4) == 0) trial.task = tasks[random.UniformInt(3)];
      if (random.UniformInt(2) == 0) trial.target = targets[random.UniformInt(3)];
      if (is_schedule) trial.candidate = R"({"space":2,"trace":[[0,1],{"x":"y"}]})";
      if (random.UniformInt(3) == 0) trial.candidate = RandomText(random);
      if (is_schedule || random.UniformInt(4) == 0) trial.key = random.Next() | 1;
      trial.proposer = RandomText(random);
      trial.outcome = RandomOutcome(random);
      const bool is_program = is_schedule || run.target || trial.target != 0;
      if (!is_program && trial.outcome.ok()) trial.outcome.value = RandomValue(random);
      trial.elapsed = random.Uniform();
      if (trial.key == 0) trial.candidate += std::string(static_cast<size_t>(j), ' ');
      ASSERT_TRUE(store.AddTrial(trial));
    }
    const Repeat repeat = {.run = run.id,
                           .after = store.CountTrials(run.id),
                           .trial_run = run.id,
                           .trial = 0,
                           .round = 1,
                           .outcome = RandomOutcome(random)};
    if (store.CountTrials(run.id) > 0) store.AddRepeats(std::span(&repeat, 1));
    store.SaveState(run.id, run.state,
                    std::vector<Metric>{{tasks[0], i, "rmse", RandomReal(random)},
                                        {0, 1, RandomText(random), RandomReal(random)}});
  }
}

/// An SQL expression of all columns of a row, exact for numbers and bytes, by table.
std::map<std::string, std::string> ColumnsOf(Database& database) {
  std::map<std::string, std::string> tables;
  Rows rows =
      database
          .Prepared(
              "SELECT t.name, group_concat(format('quote(\"%w\")||hex(\"%w\")', c.name, c.name),"
              " '||char(9)||')"
              " FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
              " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' GROUP BY t.name")
          .Start();
  while (rows.Step()) tables[rows.Text(0)] = rows.Text(1);
  return tables;
}

/// Every value of every table, by table, so that nothing depends on what an export knows of.
std::map<std::string, std::multiset<std::string>> ValuesByTable(const std::string& path) {
  Database database(path, Database::Mode::kReadOnly);
  std::map<std::string, std::multiset<std::string>> contents;
  for (const auto& [table, columns] : ColumnsOf(database)) {
    Rows rows = database.Prepared("SELECT " + columns + " FROM \"" + table + "\"").Start();
    while (rows.Step()) contents[table].insert(rows.Text(0));
  }
  return contents;
}

TEST(JsonLines, EverythingAStoreHoldsMakesTheRoundTrip) {
  base::RandomStream random(5);
  for (int round = 0; round < 20; ++round) {
    TemporaryFolder folder;
    Store source(folder / "a.db"), copy(folder / "b.db");
    FillAtRandom(source, random);
    const std::string text = Export(source);
    Import(copy, text);
    EXPECT_EQ(Export(copy), text);
    const auto contents = ValuesByTable(source.path());
    EXPECT_GE(contents.size(), 9u);  // repeats need a trial
    EXPECT_EQ(ValuesByTable(copy.path()), contents);
    const ImportSummary again = Import(copy, text);
    EXPECT_EQ(again.added + again.pool_programs + again.samples, 0);
    EXPECT_EQ(Export(copy), text);
  }
}

}  // namespace
}  // namespace bayloom::record
