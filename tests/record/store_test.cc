#include "bayloom/record/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "bayloom/base/result.h"
#include "bayloom/record/target_json.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Ordinals(const std::vector<Trial>& trials) {
  std::vector<int64_t> ordinals;
  for (const Trial& trial : trials) ordinals.push_back(trial.ordinal);
  return ordinals;
}

TEST(Store, KeepsEverythingAcrossReopening) {
  TemporaryFolder folder;
  Trial wrong;
  std::string uuid;
  {
    Store store(folder / "a.db");
    const Context context(store);
    EXPECT_TRUE(store.AddTrial(MakeTrial(context, 0, 0.002)));
    wrong = MakeTrial(context, 1, NAN);
    wrong.outcome = Outcome::Infeasible(Verdict::kWrongOutput, "'c' differs");
    wrong.outcome.drift = 1.5;
    EXPECT_TRUE(store.AddTrial(wrong));
    store.SaveBatch(context.session, "state 1",
                    std::vector<Metric>{{context.task, 0, "rmse", 0.5}, {0, 0, "trials", 2}});
    uuid = store.SessionOf(context.session).uuid;
    EXPECT_EQ(uuid.size(), 32u);
  }
  Store store(folder / "a.db");
  const std::vector<SessionRecord> sessions = store.Sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].uuid, uuid);
  EXPECT_EQ(sessions[0].model, "m.onnx");
  EXPECT_EQ(sessions[0].options, R"({"trials":64})");
  EXPECT_EQ(sessions[0].seed, 0xfedcba9876543210);
  EXPECT_EQ(sessions[0].state, "state 1");
  EXPECT_FALSE(sessions[0].finished);
  store.FinishSession(sessions[0].id);
  EXPECT_TRUE(store.SessionOf(sessions[0].id).finished);
  EXPECT_EQ(HashOf(store.TargetOf(sessions[0].target)), HashOf(SampleTarget()));

  const std::optional<TaskId> task = store.FindTask(Matmul(4, 8, 16).StructuralHash());
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(store.WorkloadOf(*task).StructuralHash(), Matmul(4, 8, 16).StructuralHash());
  EXPECT_FALSE(store.FindTask(Matmul(4, 8, 17).StructuralHash()).has_value());
  EXPECT_EQ(store.Tasks()[0].name, "matmul");

  const std::vector<Trial> trials = store.TrialsOf(*task, sessions[0].target);
  ASSERT_THAT(Ordinals(trials), ElementsAre(0, 1));
  EXPECT_EQ(trials[0].trace, R"({"steps":[1,2,0]})");
  EXPECT_EQ(trials[0].program_hash, 0x9000000000000000);
  EXPECT_EQ(trials[0].outcome.value, 0.002);
  EXPECT_EQ(trials[0].outcome.spread, 0.25);
  EXPECT_EQ(trials[0].timestamp, 1700000000000000);
  EXPECT_EQ(trials[1].outcome.verdict, Verdict::kWrongOutput);
  EXPECT_TRUE(std::isnan(trials[1].outcome.value));
  EXPECT_EQ(trials[1].outcome.reason, "'c' differs");
  EXPECT_EQ(trials[1].outcome.drift, 1.5);

  const std::vector<Metric> metrics = store.MetricsOf(sessions[0].id);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "trials");
  EXPECT_EQ(metrics[1].name, "rmse");
  EXPECT_EQ(metrics[1].value, 0.5);
}

TEST(Store, EqualTargetsAndTasksAreOneRow) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  Target renamed = SampleTarget();
  renamed.name = "other";
  EXPECT_EQ(store.AddTarget(SampleTarget()), store.AddTarget(renamed));
  EXPECT_NE(store.AddTarget(SampleTarget(2)), store.AddTarget(SampleTarget(1)));
  EXPECT_EQ(store.AddTask(Matmul(4, 8, 16)), store.AddTask(Matmul(4, 8, 16)));
  EXPECT_NE(store.AddTask(Matmul(4, 8, 16)), store.AddTask(Matmul(4, 8, 32)));
}

TEST(Store, ATrialIsKeptOncePerSession) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context first(store);
  const Context second(store);
  EXPECT_TRUE(store.AddTrial(MakeTrial(first, 0, 1)));
  EXPECT_FALSE(store.AddTrial(MakeTrial(first, 0, 2)));
  EXPECT_TRUE(store.AddTrial(MakeTrial(second, 0, 3)));
  EXPECT_EQ(store.CountTrials(first.session), 1);
  EXPECT_EQ(store.TrialsOf(first.task, first.target).size(), 2u);
  EXPECT_EQ(store.SeenHashes(first.task, first.target).size(), 1u);

  Trial other = MakeTrial(first, 0, 1);
  other.program_hash = 7;
  try {
    store.AddTrial(other);
    ADD_FAILURE() << "two trials of one ordinal";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("has another trial 0: is it running twice?"));
  }
}

TEST(Store, BestIsFastestFirstWithoutRepeatsAndWithoutGuesses) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  const Context again(store);
  const double seconds[] = {5, 3, 8, 1, 9, 2};
  for (int i = 0; i < 6; ++i) store.AddTrial(MakeTrial(context, i, seconds[i]));
  Trial cut = MakeTrial(context, 6, 0.1);
  cut.outcome.cut_short = true;
  store.AddTrial(cut);
  Trial crash = MakeTrial(context, 7, NAN);
  crash.outcome = Outcome::Infeasible(Verdict::kCrash, "signal 11 (SIGSEGV)");
  store.AddTrial(crash);
  store.AddTrial(MakeTrial(again, 3, 1.5));  // the best program once more, a little slower
  EXPECT_THAT(Ordinals(store.BestOf(context.task, context.target, 3)), ElementsAre(3, 5, 1));
  EXPECT_EQ(store.BestOf(context.task, context.target, 100).size(), 6u);
  EXPECT_TRUE(store.BestOf(context.task + 1, context.target, 3).empty());
}

TEST(Store, BestDoesNotScan) {
  TemporaryFolder folder;
  { Store store(folder / "a.db"); }
  Database database(folder / "a.db", Database::Mode::kReadOnly);
  Rows rows = database
                  .Prepared(
                      "EXPLAIN QUERY PLAN SELECT * FROM trials WHERE task = ? AND target = ?"
                      " AND verdict = 'ok' AND cut_short = 0 ORDER BY seconds")
                  .Start(1, 1);
  ASSERT_TRUE(rows.Step());
  EXPECT_EQ(rows.Text(3), "SEARCH trials USING INDEX trials_by_time (task=? AND target=?)");
  EXPECT_FALSE(rows.Step()) << "sorts: " << rows.Text(3);
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
  EXPECT_EQ(store.CountTrials(context.session), 40);
}

}  // namespace
}  // namespace bayloom
