// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/cost/xgboost_model.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

/// Hashes appended to a file: what was written survives the process that wrote it.
class HashLog {
 public:
  explicit HashLog(std::string path) : path_(std::move(path)) {}

  void Append(uint64_t hash) const {
    const int file = open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (write(file, &hash, sizeof(hash)) != sizeof(hash)) abort();
    close(file);
  }
  std::vector<uint64_t> Read() const {
    std::vector<uint64_t> hashes;
    uint64_t hash;
    const int file = open(path_.c_str(), O_RDONLY);
    while (read(file, &hash, sizeof(hash)) == sizeof(hash)) hashes.push_back(hash);
    close(file);
    return hashes;
  }

 private:
  std::string path_;
};

/// Kills this process, without warning, at the given number of calls.
class Killer {
 public:
  explicit Killer(int64_t calls) : left_(calls) {}
  void operator()() {
    if (--left_ == 0) kill(getpid(), SIGKILL);
  }

 private:
  int64_t left_;
};

class ResumeTest : public ::testing::Test {
 protected:
  SessionOptions Options() {
    SessionOptions options = QuickOptions();
    options.run.budget.trials = kTrials;
    return options;
  }

  /// Runs the session in a process of its own that is killed at one of the moments before and
  /// after an outcome is recorded, and after a slot. True if it lived to the end.
  bool RunInChild(std::optional<record::RunId> resume, int64_t moments) {
    const pid_t child = fork();
    if (child == 0) {
      Killer killer(moments);
      SimulatedEvaluator evaluator;
      uint64_t last = 0;
      evaluator.before_report = [&](const sketch::Candidate& candidate, const trial::Outcome&) {
        last = candidate.hash;
        tried_.Append(last);
        killer();
      };
      record::Store store(folder_ / "tuning.db");
      SessionOptions options = Options();
      options.resume = resume;
      Session session(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options);
      // When a run tells of a trial, that has been recorded.
      session.Run({.on_trial =
                       [&](const SessionStatus&, const trial::Outcome&) {
                         recorded_.Append(last);
                         killer();
                       },
                   .on_slot = [&](const SessionStatus&) { killer(); }});
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return true;
    }
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    return false;
  }

  static constexpr int kTrials = 90;
  TemporaryFolder folder_;
  HashLog tried_{folder_ / "tried"}, recorded_{folder_ / "recorded"};
};

TEST_F(ResumeTest, KilledAnywhereItLosesNoTrialAndRepeatsNone) {
  base::RandomStream random(17);
  std::optional<record::RunId> session;
  int kills = 0;
  while (!RunInChild(session, 1 + random.UniformInt(40))) {
    ++kills;
    ASSERT_LT(kills, 100);
    record::Store store(folder_ / "tuning.db");
    session = store.Runs().back().id;
    std::set<uint64_t> kept;
    for (const record::StoredTrial& trial : store.TrialsOfRun(*session)) kept.insert(trial.key);
    for (uint64_t hash : recorded_.Read()) ASSERT_TRUE(kept.contains(hash));
  }
  EXPECT_GE(kills, 5);
  record::Store store(folder_ / "tuning.db");
  EXPECT_EQ(store.Runs().size(), 1u);
  const std::vector<record::StoredTrial> trials = store.TrialsOfRun(*session);
  ASSERT_EQ(trials.size(), static_cast<size_t>(kTrials));
  std::set<uint64_t> distinct;
  for (int i = 0; i < kTrials; ++i) {
    EXPECT_EQ(trials[i].ordinal, i);
    EXPECT_TRUE(distinct.insert(trials[i].key).second);
  }
  // A program is tried again only if its first outcome never got as far as the store.
  const std::vector<uint64_t> tried = tried_.Read();
  EXPECT_LE(tried.size(), static_cast<size_t>(kTrials + kills));
}

TEST_F(ResumeTest, AtTheEndOfASlotItGoesOnAsIfNothingHadHappened) {
  SimulatedEvaluator evaluator;
  const auto hashes = [](record::Store& store, record::RunId session) {
    std::vector<uint64_t> all;
    for (const record::StoredTrial& trial : store.TrialsOfRun(session)) all.push_back(trial.key);
    return all;
  };
  record::Store whole_store(folder_ / "whole.db");
  cost::XgboostModel whole_model;
  Session whole(strategy::SimulatedTarget(), TwoTasks(), whole_store, &whole_model, evaluator,
                Options());
  whole.Run();

  record::Store store(folder_ / "parts.db");
  SessionOptions options = Options();
  options.run.seed = 0;
  std::optional<record::RunId> id;
  for (int64_t trials : {24, 40, 48, kTrials}) {
    options.run.budget.trials = trials;
    options.resume = id;
    cost::XgboostModel model;
    Session part(strategy::SimulatedTarget(), TwoTasks(), store, &model, evaluator, options);
    part.Run();
    id = part.id();
    options.run.seed = 99;  // of no consequence: the session keeps its own
  }
  EXPECT_EQ(hashes(store, *id), hashes(whole_store, whole.id()));
}

TEST_F(ResumeTest, TheSchedulerSeesTheSameProgress) {
  SimulatedEvaluator evaluator;
  record::Store store(folder_ / "tuning.db");
  SessionOptions options = Options();
  Session session(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options);
  session.Run();
  options.resume = session.id();
  const Session resumed(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator,
                        options);
  const SessionStatus before = session.Status(), after = resumed.Status();
  EXPECT_EQ(after.trials, before.trials);
  EXPECT_EQ(after.feasible_trials, before.feasible_trials);
  EXPECT_EQ(after.total_seconds, before.total_seconds);
  for (size_t i = 0; i < before.tasks.size(); ++i) {
    EXPECT_EQ(after.tasks[i].best_after_trial, before.tasks[i].best_after_trial);
    EXPECT_EQ(after.tasks[i].slot_ends, before.tasks[i].slot_ends);
  }
}

TEST_F(ResumeTest, RefusesAnotherTargetOtherTasksAndMissingTrials) {
  SimulatedEvaluator evaluator;
  record::Store store(folder_ / "tuning.db");
  SessionOptions options = Options();
  Session session(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options);
  session.Run();
  options.resume = session.id();
  target::Target other = strategy::SimulatedTarget();
  other.cores = 64;
  EXPECT_THROW(Session(other, TwoTasks(), store, nullptr, evaluator, options), InputError);
  EXPECT_THROW(
      Session(strategy::SimulatedTarget(), {TwoTasks()[0]}, store, nullptr, evaluator, options),
      InputError);
  store.SaveState(session.id(), R"({"seconds": 1, "slots": [[1, 10000]]})", {});
  EXPECT_THROW(Session(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options),
               InputError);
}

TEST_F(ResumeTest, ProgramsThatAreMadeDifferentlyNowAreNotTriedAgain) {
  SimulatedEvaluator evaluator;
  record::Store store(folder_ / "tuning.db");
  SessionOptions options = Options();
  options.run.budget.trials = 16;
  Session session(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options);
  session.Run();
  // Trials of a later version of the program, whose traces this one cannot replay.
  const record::TaskId task = session.tasks()[0]->id();
  const std::vector<record::StoredTrial> trials = store.TrialsOfRun(session.id());
  record::RunRecord stranger;
  stranger.target = trials[0].target;
  record::StoredTrial unknown = trials[0];
  unknown.run = store.BeginRun(stranger).id;
  unknown.key = 4711;
  unknown.candidate = "a later format";
  unknown.outcome.value = 1e-12;
  unknown.ordinal = 0;
  ASSERT_TRUE(store.AddTrial(unknown));
  options.run.budget.trials = 24;
  options.resume = session.id();
  Session resumed(strategy::SimulatedTarget(), TwoTasks(), store, nullptr, evaluator, options);
  EXPECT_EQ(resumed.tasks()[0]->id(), task);
  EXPECT_GT(resumed.tasks()[0]->best()->outcome.value, 1e-12);
  EXPECT_EQ(resumed.Run(), trial::StopReason::kTrials);
}

}  // namespace
}  // namespace bayloom::tuning
