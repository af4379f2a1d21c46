// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "bayloom/base/result.h"
#include "bayloom/target/target_json.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Ordinals(const std::vector<StoredTrial>& trials) {
  std::vector<int64_t> ordinals;
  for (const StoredTrial& trial : trials) ordinals.push_back(trial.ordinal);
  return ordinals;
}

TEST(Store, KeepsEverythingAcrossReopening) {
  TemporaryFolder folder;
  StoredTrial wrong;
  std::string uuid;
  {
    Store store(folder / "a.db");
    const Context context(store);
    EXPECT_TRUE(store.AddTrial(MakeTrial(context, 0, 0.002)));
    wrong = MakeTrial(context, 1, NAN);
    wrong.outcome = trial::Outcome::Infeasible(trial::Verdict::kWrongOutput, "'c' differs");
    wrong.outcome.Set("drift", 1.5);
    EXPECT_TRUE(store.AddTrial(wrong));
    store.SaveState(context.run, "state 1",
                    std::vector<Metric>{{context.task, 0, "rmse", 0.5}, {0, 0, "trials", 2}});
    uuid = store.RunOf(context.run).uuid;
    EXPECT_EQ(uuid.size(), 32u);
    store.BeginRun(SampleSearch("flags"));
  }
  Store store(folder / "a.db");
  const std::vector<RunRecord> runs = store.Runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].uuid, uuid);
  EXPECT_EQ(runs[0].kind, RunKind::kTune);
  EXPECT_EQ(runs[0].name, "m.onnx");
  EXPECT_EQ(runs[0].definition, R"({"trials":64})");
  EXPECT_EQ(runs[0].objective, "seconds");
  EXPECT_EQ(runs[0].seed, 0xfedcba9876543210);
  EXPECT_EQ(runs[0].state, "state 1");
  EXPECT_GT(runs[0].started, 0);
  EXPECT_FALSE(runs[0].finished);
  store.SetFinished(runs[0].id, true);
  EXPECT_TRUE(store.RunOf(runs[0].id).finished);
  ASSERT_TRUE(runs[0].target);
  EXPECT_EQ(target::HashOf(store.TargetOf(*runs[0].target)), target::HashOf(SampleTarget()));
  EXPECT_EQ(runs[1].kind, RunKind::kSearch);
  EXPECT_FALSE(runs[1].target);
  EXPECT_TRUE(runs[1].maximize);
  EXPECT_EQ(runs[1].proposer, "bayesian");
  EXPECT_EQ(runs[1].seed, ~uint64_t{0});

  const std::optional<TaskId> task = store.FindTask(Matmul(4, 8, 16).StructuralHash());
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(store.WorkloadOf(*task).StructuralHash(), Matmul(4, 8, 16).StructuralHash());
  EXPECT_FALSE(store.FindTask(Matmul(4, 8, 17).StructuralHash()).has_value());
  EXPECT_EQ(store.Tasks()[0].name, "matmul 4x8 over 16");

  const std::vector<StoredTrial> trials = store.TrialsOf(*task, *runs[0].target);
  ASSERT_THAT(Ordinals(trials), ElementsAre(0, 1));
  EXPECT_EQ(trials[0].run, runs[0].id);
  EXPECT_EQ(trials[0].candidate, R"({"space":1,"trace":{"steps":[1,2,0]}})");
  EXPECT_EQ(trials[0].key, 0x9000000000000000);
  EXPECT_EQ(trials[0].proposer, "random");
  EXPECT_EQ(trials[0].outcome.value, 0.002);
  EXPECT_EQ(trials[0].outcome.values,
            (std::vector<trial::NamedValue>{
                {"build_seconds", 0.5}, {"measure_seconds", 0.125}, {"spread", 0.25}}));
  EXPECT_EQ(trials[0].timestamp, 1700000000000000);
  EXPECT_EQ(trials[1].outcome.verdict, trial::Verdict::kWrongOutput);
  EXPECT_TRUE(std::isnan(trials[1].outcome.value));
  EXPECT_EQ(trials[1].outcome.reason, "'c' differs");
  EXPECT_EQ(trials[1].outcome.values, (std::vector<trial::NamedValue>{{"drift", 1.5}}));
  EXPECT_EQ(trials[1].elapsed, 0.5);

  const std::vector<Metric> metrics = store.MetricsOf(runs[0].id);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "trials");
  EXPECT_EQ(metrics[1].name, "rmse");
  EXPECT_EQ(metrics[1].value, 0.5);
}

TEST(Store, RunsAreFoundByNumberKindAndName) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const RunId first = store.BeginRun(SampleSearch("a")).id;
  const RunId second = store.BeginRun(SampleSearch("a")).id;
  store.BeginRun(SampleSearch("b"));
  RunRecord map = SampleSearch("a");
  map.kind = RunKind::kMap;
  const RunId third = store.BeginRun(map).id;
  EXPECT_EQ(store.LastRun(RunKind::kSearch, "a")->id, second);
  EXPECT_EQ(store.LastRun(RunKind::kMap, "a")->id, third);
  EXPECT_FALSE(store.LastRun(RunKind::kTune, "a"));
  EXPECT_EQ(store.Runs().size(), 4u);
  EXPECT_EQ(store.Runs(RunKind::kSearch).size(), 3u);
  EXPECT_NE(store.RunOf(first).uuid, store.RunOf(second).uuid);
  EXPECT_THROW(store.RunOf(99), InputError);
}

TEST(Store, EqualTargetsAndTasksAreOneRow) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  target::Target renamed = SampleTarget();
  renamed.name = "other";
  EXPECT_EQ(store.AddTarget(SampleTarget()), store.AddTarget(renamed));
  EXPECT_NE(store.AddTarget(SampleTarget(2)), store.AddTarget(SampleTarget(1)));
  EXPECT_EQ(store.AddTask(Matmul(4, 8, 16)), store.AddTask(Matmul(4, 8, 16)));
  EXPECT_NE(store.AddTask(Matmul(4, 8, 16)), store.AddTask(Matmul(4, 8, 32)));
}

TEST(Store, ATargetIsGivenTheMachineThatItDoesNotHaveYet) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  target::Target target = SampleTarget();
  target.machine.reset();
  const TargetId id = store.AddTarget(target);
  EXPECT_FALSE(store.TargetOf(id).machine);
  target.machine = target::NominalMachine(target);
  EXPECT_EQ(store.AddTarget(target), id);
  EXPECT_EQ(store.TargetOf(id).machine, target.machine);
  target.machine->fork_join *= 2;
  EXPECT_EQ(store.AddTarget(target), id);
  EXPECT_EQ(2 * store.TargetOf(id).machine->fork_join, target.machine->fork_join)
      << "the first is kept";
}

TEST(Store, WhatWasMeasuredOfATargetDoesNotIdentifyIt) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const TargetId target = store.AddTarget(SampleTarget());
  EXPECT_FALSE(store.MachineOf(target));
  store.SetMachine(target, R"({"lanes":8})");
  EXPECT_EQ(store.MachineOf(target), R"({"lanes":8})");
  EXPECT_EQ(store.AddTarget(SampleTarget()), target);
  EXPECT_EQ(store.MachineOf(target), R"({"lanes":8})");
}

TEST(Store, ATrialOfAProgramIsKeptOncePerRunAndTask) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context first(store);
  const Context second(store);
  EXPECT_TRUE(store.AddTrial(MakeTrial(first, 0, 1)));
  EXPECT_FALSE(store.AddTrial(MakeTrial(first, 0, 2)));
  EXPECT_TRUE(store.AddTrial(MakeTrial(second, 0, 3)));
  EXPECT_EQ(store.CountTrials(first.run), 1);
  EXPECT_EQ(store.TrialsOf(first.task, first.target).size(), 2u);
  StoredTrial elsewhere = MakeTrial(first, 0, 1);
  elsewhere.ordinal = 1;
  elsewhere.task = store.AddTask(Matmul(4, 8, 32));
  EXPECT_TRUE(store.AddTrial(elsewhere));

  StoredTrial other = MakeTrial(first, 0, 1);
  other.key = 7;
  try {
    store.AddTrial(other);
    ADD_FAILURE() << "two trials of one ordinal";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("has another trial 0: is it running twice?"));
  }
}

TEST(Store, WithoutAKeyTheTextIdentifiesACandidate) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const RunId run = store.BeginRun(SampleSearch("flags")).id;
  const RunId other = store.BeginRun(SampleSearch("flags")).id;
  EXPECT_TRUE(store.AddTrial(MakeConfiguration(run, 0, 1)));
  StoredTrial again = MakeConfiguration(run, 0, 2);
  again.ordinal = 1;
  EXPECT_FALSE(store.AddTrial(again));
  EXPECT_TRUE(store.AddTrial(MakeConfiguration(other, 0, 1)));
  StoredTrial new_text = MakeConfiguration(run, 5, 2);
  new_text.ordinal = 0;
  EXPECT_THROW(store.AddTrial(new_text), InputError);
  ASSERT_EQ(store.TrialsOfRun(run).size(), 1u);
  EXPECT_EQ(store.TrialsOfRun(run)[0].outcome.value, 1);
}

TEST(Store, TrialsAddedTogetherAreAllKeptOrNone) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const RunId run = store.BeginRun(SampleSearch("flags")).id;
  std::vector<StoredTrial> trials;
  for (const int64_t x : {4, 2, 4, 7, 2}) trials.push_back(MakeConfiguration(run, x, 1));
  EXPECT_EQ(store.AddTrials(trials, 0), 3);
  EXPECT_THAT(Ordinals(store.TrialsOfRun(run)), ElementsAre(0, 1, 2));
  EXPECT_EQ(store.AddTrials(trials, 3), 0);
  trials = {MakeConfiguration(run, 8, 1), MakeConfiguration(run, 9, 1)};
  EXPECT_THROW(store.AddTrials(trials, 2), InputError);
  EXPECT_EQ(store.CountTrials(run), 3);
  trials.back().run = run + 1;  // there is none
  EXPECT_THROW(store.AddTrials(trials, 3), InputError);
  EXPECT_EQ(store.CountTrials(run), 3);
}

TEST(Store, BestIsFastestFirstWithoutRepeatsAndWithoutGuesses) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  const Context again(store);
  const double seconds[] = {5, 3, 8, 1, 9, 2};
  for (int i = 0; i < 6; ++i) store.AddTrial(MakeTrial(context, i, seconds[i]));
  StoredTrial cut = MakeTrial(context, 6, 0.1);
  cut.outcome.Set("cut_short", 1);
  store.AddTrial(cut);
  StoredTrial crash = MakeTrial(context, 7, NAN);
  crash.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "signal 11 (SIGSEGV)");
  store.AddTrial(crash);
  store.AddTrial(MakeTrial(again, 3, 1.5));  // the best program once more, a little slower
  EXPECT_THAT(Ordinals(store.BestOf(context.task, context.target, 3)), ElementsAre(3, 5, 1));
  EXPECT_EQ(store.BestOf(context.task, context.target, 100).size(), 6u);
  EXPECT_TRUE(store.BestOf(context.task + 1, context.target, 3).empty());
}

TEST(Store, TimesBelowAClocksResolutionAreNone) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  store.AddTrial(MakeTrial(context, 0, 5e-324));
  store.AddTrial(MakeTrial(context, 1, 2e-9));
  store.AddRepeats(std::vector<Repeat>{MakeRepeat(context, 0, 0, 1e-9)});
  const trial::Outcome outcome = store.TrialsOfRun(context.run)[0].outcome;
  EXPECT_EQ(outcome.verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(outcome.reason, "a program cannot take 5e-324 seconds");
  EXPECT_TRUE(std::isnan(outcome.value));
  EXPECT_THAT(Ordinals(store.BestOf(context.task, context.target, 3)), ElementsAre(1));
  // Values of searches are no times.
  const RunId search = store.BeginRun(SampleSearch("flags")).id;
  store.AddTrial(MakeConfiguration(search, 0, 5e-324));
  EXPECT_EQ(store.TrialsOfRun(search)[0].outcome.value, 5e-324);
}

class Repeats : public testing::Test {
 protected:
  Repeats() {
    const double seconds[] = {5, 3, 8, 1, 9, 2};
    for (int i = 0; i < 6; ++i) store_.AddTrial(MakeTrial(context_, i, seconds[i]));
  }
  /// The candidate of a trial, measured again three times.
  void Repeat(int64_t trial, double first, double second, double third) {
    const record::Repeat repeats[] = {MakeRepeat(context_, trial, 0, first),
                                      MakeRepeat(context_, trial, 1, second),
                                      MakeRepeat(context_, trial, 2, third)};
    store_.AddRepeats(repeats);
  }
  std::vector<StoredTrial> Best(int count) {
    return store_.BestOf(context_.task, context_.target, count);
  }

  TemporaryFolder folder_;
  Store store_{folder_ / "a.db"};
  const Context context_{store_};
};

TEST_F(Repeats, TheirMedianDecidesBetweenCandidates) {
  Repeat(3, 4, 4.5, 1);    // its first measurement was lucky, as one of these is
  Repeat(5, 9, 2.1, 2.2);  // a hiccup does not count
  EXPECT_THAT(Ordinals(Best(2)), ElementsAre(5, 3));
  EXPECT_DOUBLE_EQ(Best(1)[0].outcome.value, 2) << "the machine is a tenth slower now";
  EXPECT_DOUBLE_EQ(Best(2)[1].outcome.value, 4 / 1.1);
  EXPECT_EQ(Best(1)[0].outcome.Get("repeats", 0), 3);
  // What was not thought worth it comes behind, though it was faster once than one of them is now.
  EXPECT_THAT(Ordinals(Best(100)), ElementsAre(5, 3, 1, 0, 2, 4));
  EXPECT_EQ(store_.TrialsOfRun(context_.run)[3].outcome.value, 1) << "trials stay as they were";
}

TEST_F(Repeats, WhatWasChosenComesFirstThoughAnotherSeemedFaster) {
  std::vector<record::Repeat> repeats = {MakeRepeat(context_, 3, 0, 4),
                                         MakeRepeat(context_, 5, 0, 3.9)};
  repeats[0].outcome.Set("chosen", 1);
  store_.AddRepeats(repeats);
  EXPECT_THAT(Ordinals(Best(2)), ElementsAre(3, 5));
  StoredTrial later = MakeTrial(context_, 6, 0.5);
  later.timestamp = 1700000000002000;
  store_.AddTrial(later);
  EXPECT_THAT(Ordinals(Best(3)), ElementsAre(6, 3, 5)) << "it was not among them";
}

TEST_F(Repeats, TrialsMadeSinceCompeteWithTheirOwnValue) {
  Repeat(3, 4, 4.5, 1);
  Repeat(5, 9, 2.1, 2.2);
  for (const int64_t ordinal : {6, 7}) {
    StoredTrial later = MakeTrial(context_, ordinal, ordinal == 6 ? 1.95 : 2.1);
    later.timestamp = 1700000000002000;
    store_.AddTrial(later);
  }
  EXPECT_THAT(Ordinals(Best(5)), ElementsAre(6, 5, 7, 3, 1));
}

TEST_F(Repeats, ASingleCandidateKeepsItsTime) {
  Repeat(3, 40, 50, 60);  // there is nothing that it could be compared with
  EXPECT_EQ(Best(1)[0].outcome.value, 1);
  EXPECT_THAT(Ordinals(Best(2)), ElementsAre(3, 5));
}

TEST_F(Repeats, TheLastComparisonCounts) {
  Repeat(3, 1, 1, 1);
  Repeat(5, 2, 2, 2);
  std::vector<record::Repeat> later = {MakeRepeat(context_, 3, 0, 3), MakeRepeat(context_, 5, 0, 2),
                                       MakeRepeat(context_, 0, 0, 9)};
  for (record::Repeat& repeat : later) {
    repeat.after = 9;
    repeat.timestamp += 1000;
  }
  later[2].trial_run = 0;  // the default program
  store_.AddRepeats(later);
  const std::vector<record::Repeat> last = store_.LastComparison(context_.task, context_.target);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last[0].after, 9);
  EXPECT_EQ(last[0].outcome.Get("spread", 0), 0.125);
  EXPECT_THAT(Ordinals(Best(2)), ElementsAre(5, 3));
  EXPECT_EQ(store_.RepeatsOf(context_.run).size(), 9u);
  store_.AddRepeats(later);
  EXPECT_EQ(store_.RepeatsOf(context_.run).size(), 9u) << "known already";
}

TEST_F(Repeats, ACandidateThatFailedIsNotChosen) {
  Repeat(3, 1, 1, 1);
  Repeat(5, 2, 2, 2);
  record::Repeat failed = MakeRepeat(context_, 3, 3, NAN);
  failed.outcome = trial::Outcome::Infeasible(trial::Verdict::kWrongOutput, "y[3] is 7, not 8");
  store_.AddRepeats({&failed, 1});
  EXPECT_THAT(Ordinals(Best(2)), ElementsAre(5, 1));
}

/// The only step of the plan for a query that selects from trials.
std::string PlanOf(const std::string& path, const std::string& rest) {
  Database database(path, Database::Mode::kReadOnly);
  Rows rows =
      database.Prepared("EXPLAIN QUERY PLAN SELECT candidate FROM trials WHERE " + rest).Start();
  std::string plan;
  while (rows.Step()) plan += rows.Text(3) + ";";
  return plan;
}

TEST(Store, NoQueryForTrialsScansOrSorts) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  { Store store(path); }
  EXPECT_EQ(PlanOf(path,
                   "task = ? AND target = ? AND verdict = 'ok' AND cut_short = 0 AND value > 0"
                   " ORDER BY value"),
            "SEARCH trials USING INDEX trials_by_value (task=? AND target=? AND value>?);");
  EXPECT_EQ(PlanOf(path,
                   "task = ? AND target = ? AND verdict = 'ok' AND cut_short = 0 AND value > 0"
                   " AND timestamp > ? ORDER BY value"),
            "SEARCH trials USING INDEX trials_by_value (task=? AND target=? AND value>?);");
  EXPECT_EQ(PlanOf(path, "task = ? AND target = ? AND key = ?"),
            "SEARCH trials USING INDEX trials_by_program (task=? AND target=? AND key=?);");
  EXPECT_EQ(PlanOf(path, "run = ? AND ordinal >= ? ORDER BY ordinal"),
            "SEARCH trials USING INDEX sqlite_autoindex_trials_1 (run=? AND ordinal>?);");
  EXPECT_EQ(PlanOf(path, "run = ? AND IFNULL(task, 0) = ? AND key = ? AND key <> 0"),
            "SEARCH trials USING INDEX trials_of_programs (run=? AND <expr>=? AND key=?);");
  EXPECT_EQ(PlanOf(path, "run = ? AND candidate = ? AND key = 0"),
            "SEARCH trials USING INDEX trials_of_texts (run=? AND candidate=?);");
}

TEST(Store, ManyThreadsMayWrite) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        store.AddTrial(MakeTrial(context, t * 10 + i, 1));
        store.BestOf(context.task, context.target, 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.CountTrials(context.run), 40);
}

TEST(Store, SeveralMayCreateTheSameFileAtOnce) {
  TemporaryFolder folder;
  for (int round = 0; round < 25; ++round) {
    const std::string path = folder / fmt::format("{}.db", round);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&path] {
        Store store(path);
        Context context(store);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Store(path).Runs().size(), 4U) << round;
  }
}

}  // namespace
}  // namespace bayloom::record
