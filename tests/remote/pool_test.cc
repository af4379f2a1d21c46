// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/base/system_error.h"
#include "bayloom/remote/remote_evaluator.h"
#include "bayloom/run/scheduled_run.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"
#include "tests/trial/list_store.h"

namespace bayloom::remote {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Proposes 1, 2, 3, ...
class CountingTask final : public run::RunTask<int> {
 public:
  explicit CountingTask(trial::Evaluator<int>& evaluator) : evaluator_(evaluator) {}

  std::vector<int> Propose(int n, const std::function<bool()>&) override {
    std::vector<int> numbers(n);
    for (int& each : numbers) each = ++proposed;
    return numbers;
  }
  trial::Evaluator<int>& evaluator() override { return evaluator_; }
  run::TrialValue Tell(int&& number, const trial::Outcome& outcome, double) override {
    ahead_.insert(number);
    while (ahead_.erase(told_up_to + 1) > 0) ++told_up_to;
    return {.cost = outcome.value, .seconds = 0, .feasible = outcome.ok()};
  }
  trial::TrialStore* store() override { return &kept; }
  trial::TrialRecord RecordOf(const int& candidate) override {
    trial::TrialRecord record;
    record.candidate = std::to_string(candidate);
    return record;
  }

  trial::ListStore kept;
  std::atomic<int> proposed = 0, told_up_to = 0;  ///< numbers

 private:
  trial::Evaluator<int>& evaluator_;
  std::set<int> ahead_;  ///< told, of which one before is not
};

class WorkerPoolTest : public testing::Test {
 protected:
  std::string Command(int milliseconds, const std::string& rest = "") const {
    return "exec " BAYLOOM_TEST_WORKER " " + folder_.path() + " " + std::to_string(milliseconds) +
           " " + rest;
  }
  PoolOptions Options(std::vector<std::string> commands) {
    PoolOptions options;
    options.commands = std::move(commands);
    options.restart_seconds = 0.01;
    options.on_notice = [this](const std::string& line) { notices_.push_back(line); };
    return options;
  }
  std::set<pid_t> Started() const {
    std::set<pid_t> pids;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      pids.insert(std::stoi(file.path().filename().string()));
    }
    return pids;
  }
  /// Until none of them is alive; false if that takes too long.
  static bool AllEnd(const std::set<pid_t>& pids) {
    const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
    for (const pid_t pid : pids) {
      while (kill(pid, 0) == 0) {
        if (base::MonotonicSeconds() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return true;
  }
  static std::string Greeting() {
    return "printf '{\"hello\": \"bayloom-worker\", \"protocol\": 1, \"version\": \"" +
           std::string(BAYLOOM_TEST_VERSION) + "\", \"identity\": \"test\"}\\n'; ";
  }
  /// A worker that greets, takes the first subject and a trial, and then does what `then` does.
  static std::string GreetsAnd(const std::string& then) {
    return Greeting() +
           "read a; printf '{\"subject\": 1, \"slots\": 1}\\n'; "
           "read b; " +
           then;
  }
  static RemoteEvaluator<int> Numbers(WorkerPool& pool) {
    return {pool, "numbers", std::numeric_limits<double>::infinity(),
            [](const int& candidate) { return nlohmann::json(candidate); }};
  }
  /// Every number up to `trials` once, with its value.
  static void ExpectComplete(const trial::ListStore& store, int trials) {
    std::map<std::string, int> times;
    for (const trial::TrialRecord& trial : store.trials) {
      ++times[trial.candidate];
      EXPECT_EQ(trial.outcome.value, std::stod(trial.candidate));
    }
    EXPECT_EQ(std::ssize(store.trials), trials);
    EXPECT_EQ(std::ssize(times), trials);
  }
  static run::RunOptions Trials(int64_t trials) {
    run::RunOptions options;
    options.budget.trials = trials;
    options.scheduler = "round-robin";
    options.retry_seconds = 0.01;
    return options;
  }
  TemporaryFolder folder_;
  std::vector<std::string> notices_;
};

TEST_F(WorkerPoolTest, WorkersMayEndByThemselves) {
  {
    WorkerPool pool(Options({Command(10'000), Command(10'000), Command(1, "1 test mute")}));
    RemoteEvaluator<int> numbers = Numbers(pool);
    for (int i = 1; i <= 3; ++i) numbers.Submit(i, i);
    numbers.Collect(0.2, [] { return false; });  // some are under way
  }
  int ended = 0;
  for (const pid_t pid : Started()) {
    std::ifstream file(folder_.path() + "/" + std::to_string(pid));
    std::string line;
    std::getline(file, line);
    ended += line == "ended";
  }
  EXPECT_EQ(ended, 2);
  EXPECT_TRUE(AllEnd(Started()));
}

TEST_F(WorkerPoolTest, TriesEveryTrialOnceAndEndsWithItsWorkers) {
  {
    WorkerPool pool(Options({Command(1), Command(1), Command(1)}));
    EXPECT_EQ(pool.workers(), 3);
    EXPECT_EQ(pool.hello().identity, "test");
    EXPECT_EQ(*pool.MeasureMachine(), "measured");
    RemoteEvaluator<int> evaluator = Numbers(pool);
    CountingTask task(evaluator);
    run::ScheduledRun<int> run(Trials(100));
    run.AddTask(task, {.name = "count"});
    EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
    ExpectComplete(task.kept, 100);
    EXPECT_EQ(evaluator.Capacity(), 6);  // two slots each
  }
  EXPECT_EQ(std::ssize(Started()), 3);
  EXPECT_TRUE(AllEnd(Started()));
  EXPECT_THAT(notices_, IsEmpty());
}

/// A worker of another protocol, one whose target is none, and one that measures nonsense.
TEST_F(WorkerPoolTest, ChecksWhatWorkersSayOfThemselves) {
  const auto greets = [](const std::string& protocol, const std::string& target,
                         const std::string& then) {
    return "printf '{\"hello\": \"bayloom-worker\", \"protocol\": " + protocol +
           ", \"version\": \"" + BAYLOOM_TEST_VERSION +
           "\", \"identity\": \"test\", \"target\": " + target + "}\\n'; " + then;
  };
  PoolOptions options =
      Options({greets("2", "1", ""), greets("1", "0", ""),
               greets("1", "1", "read a; printf '{\"machine\": 0}\\n'; sleep 60")});
  options.check_machine = [](const nlohmann::json& json) -> Status {
    return json == 1 ? Ok() : Error{"a target cannot be " + json.dump()};
  };
  WorkerPool pool(options);
  EXPECT_EQ(pool.workers(), 1);
  EXPECT_THAT(notices_, testing::UnorderedElementsAre(
                            HasSubstr("it speaks version 2 of the protocol, this version 1"),
                            HasSubstr("its 'target' is none: a target cannot be 0")));
  const Result<nlohmann::json> machine = pool.MeasureMachine();
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().message,
              AllOf(HasSubstr("worker 'printf"), HasSubstr("no machine: a target cannot be 0")));
}

TEST_F(WorkerPoolTest, ShowsFewNotesOfAWorker) {
  WorkerPool pool(Options({GreetsAnd(
      "i=0; while [ $i -lt 100 ]; do i=$((i + 1)); "
      "printf '{\"lease\": 9, \"lost\": \"\", \"note\": \"busy\"}\\n'; done; "
      "printf '{\"lease\": 1, \"outcome\": {\"verdict\": \"ok\", \"value\": 1}}\\n'; sleep 60")}));
  RemoteEvaluator<int> numbers = Numbers(pool);
  const int candidate = 1;
  numbers.Submit(1, candidate);
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  while (numbers.Collect(0.1, [] { return false; }).empty() &&
         base::MonotonicSeconds() < deadline) {
  }
  ASSERT_EQ(std::ssize(notices_), 20);
  EXPECT_THAT(notices_.back(), HasSubstr("last note"));
}

TEST_F(WorkerPoolTest, AProgramsFiguresAreNotNegative) {
  WorkerPool pool(
      Options({GreetsAnd("printf '{\"lease\": 1, \"outcome\": {\"verdict\": \"ok\", "
                         "\"value\": 1, \"values\": {\"spread\": -5}}}\\n'; sleep 60")}));
  pool.Submit(
      pool.AddSubject("programs", /*is_timed=*/true, std::numeric_limits<double>::infinity()), 1, 1,
      false);
  std::vector<trial::FinishedTrial> finished;
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  while (finished.empty() && base::MonotonicSeconds() < deadline) {
    finished = pool.Collect(1, [] { return false; });
  }
  ASSERT_EQ(finished.size(), 1);
  EXPECT_FALSE(finished[0].outcome);
  EXPECT_THAT(finished[0].lost, HasSubstr("it says that 'spread' of a program is -5"));
}

TEST_F(WorkerPoolTest, TellsWhatWorkersNote) {
  WorkerPool pool(Options({Command(1, "1 test noting")}));
  ASSERT_TRUE(pool.MeasureMachine());
  EXPECT_THAT(notices_,
              ElementsAre(AllOf(HasSubstr("worker 'exec "), HasSubstr("': the machine was busy"))));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(10));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
  ExpectComplete(task.kept, 10);
  ASSERT_EQ(std::ssize(notices_), 2);
  EXPECT_THAT(notices_[1], HasSubstr("': the machine\\nis busy"));
}

/// At twenty random moments a worker is killed: each trial is recorded once all the same.
TEST_F(WorkerPoolTest, LosesAndRepeatsNoTrialWhenWorkersAreKilled) {
  constexpr int kKills = 20;
  constexpr int kTrials = 600;
  PoolOptions options = Options({Command(2), Command(2), Command(2)});
  options.max_failures = 1000;
  WorkerPool pool(options);
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  std::atomic<int> killed = 0;
  const std::jthread killer([&](const std::stop_token& stop) {
    std::mt19937 random(7);
    std::set<pid_t> gone;
    int next = 1;
    while (killed < kKills && !stop.stop_requested()) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(std::uniform_int_distribution(1, 20)(random)));
      if (task.told_up_to < next) continue;
      std::vector<pid_t> alive;
      for (const pid_t pid : Started()) {
        if (!gone.contains(pid)) alive.push_back(pid);
      }
      if (alive.empty()) continue;
      const size_t chosen = std::uniform_int_distribution<size_t>(0, alive.size() - 1)(random);
      gone.insert(alive[chosen]);
      if (kill(alive[chosen], SIGKILL) == 0) ++killed;
      next = task.proposed;  // so that no trial is hit twice
    }
  });
  run::ScheduledRun<int> run(Trials(kTrials));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials) << run.lost();
  EXPECT_EQ(killed, kKills);
  ExpectComplete(task.kept, kTrials);
  EXPECT_EQ(pool.workers(), 3);
  EXPECT_THAT(notices_, Contains(HasSubstr("signal 9")));
}

TEST_F(WorkerPoolTest, GivesUpATrialThatIsLostThreeTimes) {
  WorkerPool pool(Options({GreetsAnd("echo 'out of order' >&2; exit 3")}));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(1));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kLost);
  EXPECT_THAT(run.lost(), AllOf(HasSubstr("exit code 3"), HasSubstr("out of order")));
  EXPECT_THAT(task.kept.trials, IsEmpty());
}

TEST_F(WorkerPoolTest, LeavesOutWhatIsNotAlikeOrNoWorker) {
  PoolOptions options = Options({Command(1), Command(1, "1 other"), Command(1, "1 test chatty"),
                                 "/no/such/program", "echo '{\"alive\": true}'; sleep 60"});
  options.max_failures = 2;
  WorkerPool pool(options);
  EXPECT_EQ(pool.workers(), 1);
  EXPECT_THAT(notices_, Contains(HasSubstr("its target is")));
  EXPECT_THAT(notices_, Contains(HasSubstr("it wrote 'Welcome to this machine'")));
  EXPECT_THAT(notices_, Contains(AllOf(HasSubstr("/no/such/program"), HasSubstr("not found"))));
  EXPECT_THAT(notices_, Contains(HasSubstr("did not begin with a greeting")));
}

TEST_F(WorkerPoolTest, SaysWhyThereIsNone) {
  // With the ends of lines that ssh writes.
  PoolOptions options = Options({"printf 'Permission denied\\r\\n' >&2; exit 255"});
  options.max_failures = 2;
  try {
    const WorkerPool pool(options);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::EndsWith("exit code 255: Permission denied"));
  }
}

TEST_F(WorkerPoolTest, RefusedSubjectsLeaveNoWorker) {
  WorkerPool pool(Options({Command(1)}));
  RemoteEvaluator<int> evaluator(pool, "letters", std::numeric_limits<double>::infinity(),
                                 [](const int& candidate) { return nlohmann::json(candidate); });
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(1));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kLost);
  EXPECT_THAT(run.lost(), AllOf(HasSubstr("no worker is left"), HasSubstr("only numbers")));
  EXPECT_THAT(notices_, Contains(HasSubstr("only numbers are known here")));
}

/// The command that a configuration needs is not there, say: other workers' trials do not help.
TEST_F(WorkerPoolTest, EndsWithTheReasonWhenAWorkerCannotTryASubject) {
  WorkerPool pool(Options({Command(1, "1 test unable")}));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(5));
  run.AddTask(task, {.name = "count"});
  try {
    run.Run();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no arithmetic here"));
  }
  EXPECT_THAT(task.kept.trials, IsEmpty());
  EXPECT_EQ(std::ssize(Started()), 1);  // it did not end by that
}

TEST_F(WorkerPoolTest, EndsAWorkerThatRefusesARequest) {
  WorkerPool pool(Options({GreetsAnd("printf '{\"error\": \"not today\"}\\n'; exec cat")}));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(1));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kLost);
  EXPECT_THAT(run.lost(), HasSubstr("it refused a request: not today"));
}

TEST_F(WorkerPoolTest, IsNotHeldUpByCommandsThatWriteWithoutEnd) {
  PoolOptions options = Options({"exec yes", "exec head -c 70000000 /dev/zero"});
  options.max_failures = 1;
  EXPECT_THROW(WorkerPool{std::move(options)}, InputError);
  EXPECT_THAT(notices_, Contains(HasSubstr("it wrote 'y'")));
  EXPECT_THAT(notices_, Contains(HasSubstr("a line of more than 64 MiB")));

  PoolOptions stopped = Options({"exec yes >&2"});
  stopped.stop = [] { return true; };
  EXPECT_THROW(WorkerPool{std::move(stopped)}, InputError);

  WorkerPool pool(Options({GreetsAnd("exec yes '{\"alive\": true}'")}));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  const int candidate = 1;
  evaluator.Submit(1, candidate);
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(evaluator.Collect(0.1, [] { return false; }), IsEmpty());
  }
  EXPECT_LT(base::MonotonicSeconds(), deadline);
}

TEST_F(WorkerPoolTest, GivesUpAWorkerThatIsSilent) {
  PoolOptions options = Options({Command(1, "1 test mute"), Command(1)});
  options.silence_seconds = 1;
  options.max_failures = 1;
  WorkerPool pool(options);
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::RunOptions run_options = Trials(trial::Budget::kUnlimited);
  run_options.budget.stop = [&] { return pool.workers() == 1; };
  run_options.budget.seconds = kPatienceSeconds;
  run::ScheduledRun<int> run(std::move(run_options));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kStopped);
  EXPECT_THAT(notices_, Contains(HasSubstr("no sign of life")));
}

/// One tries its first number for an hour, the other is never ready for the subject: all numbers
/// are tried by the third.
TEST_F(WorkerPoolTest, GivesTheTrialsOfAWorkerThatDoesNotAnswerToAnother) {
  const std::string never_ready =
      Greeting() + "while printf '{\"alive\": true}\\n'; do sleep 0.05; done";
  PoolOptions options = Options({Command(3'600'000), never_ready, Command(1)});
  options.preparation_seconds = 0.5;
  options.notice_seconds = 0.2;
  options.max_failures = 1;
  WorkerPool pool(options);
  RemoteEvaluator<int> evaluator(pool, "numbers", /*answer_seconds=*/0.5,
                                 [](const int& candidate) { return nlohmann::json(candidate); });
  CountingTask task(evaluator);
  run::RunOptions run_options = Trials(20);
  run_options.budget.seconds = kPatienceSeconds;
  run::ScheduledRun<int> run(std::move(run_options));
  run.AddTask(task, {.name = "count"});
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
  ExpectComplete(task.kept, 20);
  for (const char* worker : {"worker 'exec", "worker 'printf"}) {
    EXPECT_THAT(notices_, Contains(AllOf(HasSubstr(worker), HasSubstr("nothing for 0.2 s"))));
    EXPECT_THAT(notices_, Contains(AllOf(HasSubstr(worker), HasSubstr("left out"))));
  }
}

/// Trials without a limit may take any time, and are told of once.
TEST_F(WorkerPoolTest, WaitsForTrialsWithoutALimit) {
  PoolOptions options = Options({Command(3'600'000)});
  options.notice_seconds = 0;
  WorkerPool pool(options);
  RemoteEvaluator<int> numbers = Numbers(pool);
  const int candidate = 1;
  numbers.Submit(1, candidate);
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  while (notices_.empty() && base::MonotonicSeconds() < deadline) {
    EXPECT_THAT(numbers.Collect(0.01, [] { return false; }), IsEmpty());
  }
  EXPECT_THAT(numbers.Collect(0.2, [] { return false; }), IsEmpty());
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("has answered nothing for 0 s")));
}

TEST_F(WorkerPoolTest, IsNotStartedAgainIfItNeverGreeted) {
  PoolOptions options = Options({"exec sleep 3600"});
  options.start_seconds = 0.2;
  EXPECT_THAT([&] { WorkerPool{options}; },
              testing::ThrowsMessage<InputError>(HasSubstr("did not greet within 0.2 s")));
  EXPECT_EQ(std::ssize(notices_), 1);
}

class SlowMachineTest : public WorkerPoolTest, public testing::WithParamInterface<int> {};

/// However many trials there are at a time: fewer than the workers have slots, or more.
TEST_P(SlowMachineTest, IsLeftOut) {
  PoolOptions options = Options({Command(1), Command(1, "1.02"), Command(1, "1.2")});
  options.drift_interval = 4;
  WorkerPool pool(options);
  const SubjectId subject =
      pool.AddSubject("numbers", /*is_timed=*/true, std::numeric_limits<double>::infinity());
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  int submitted = 0;
  int finished = 0;
  while (pool.workers() == 3 && base::MonotonicSeconds() < deadline) {
    while (submitted < finished + GetParam()) {
      ++submitted;
      pool.Submit(subject, submitted, 1 + submitted % 3, false);
    }
    finished += static_cast<int>(pool.Collect(0.1, [] { return false; }).size());
  }
  EXPECT_EQ(pool.workers(), 2);
  EXPECT_THAT(notices_, testing::ElementsAre(
                            AllOf(HasSubstr("1.2"), HasSubstr("1.20 times as long as worker"))));
}

INSTANTIATE_TEST_SUITE_P(Trials, SlowMachineTest, testing::Values(1, 4, 12));

TEST_F(WorkerPoolTest, ATimeIsNotBelowAClocksResolution) {
  WorkerPool pool(Options({Command(1)}));
  const SubjectId timed =
      pool.AddSubject("numbers", /*is_timed=*/true, std::numeric_limits<double>::infinity());
  for (const double value : {0.0, -1.0, 5e-324}) {
    pool.Submit(timed, 1, value, false);
    std::vector<trial::FinishedTrial> finished;
    const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
    while (finished.empty() && base::MonotonicSeconds() < deadline) {
      finished = pool.Collect(1, [] { return false; });
    }
    ASSERT_EQ(finished.size(), 1);
    EXPECT_FALSE(finished[0].outcome);
    EXPECT_THAT(finished[0].lost, HasSubstr("it says that a program takes "));
  }
}

TEST_F(WorkerPoolTest, DropsWhatIsAnsweredAfterACancellation) {
  WorkerPool pool(Options({Command(30)}));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  const int old = 1, next = 2;
  const auto never = [] { return false; };
  evaluator.Submit(1, old);
  EXPECT_THAT(evaluator.Collect(0.01, never), IsEmpty());
  evaluator.Cancel();
  evaluator.Submit(2, next);
  std::vector<trial::FinishedTrial> all;
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  while (all.empty() && base::MonotonicSeconds() < deadline) all = evaluator.Collect(1, never);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].id, 2);
  EXPECT_THAT(evaluator.Collect(0.1, never), IsEmpty());
}

/// A trial has a value only if trials run on all three workers at the same time.
TEST_F(WorkerPoolTest, AllWorkersWorkAtTheSameTime) {
  WorkerPool pool(Options(std::vector<std::string>(3, Command(0, "1 test gathering"))));
  RemoteEvaluator<int> evaluator = Numbers(pool);
  CountingTask task(evaluator);
  run::ScheduledRun<int> run(Trials(30));
  run.AddTask(task, {.name = "count"});
  run.Run();
  ExpectComplete(task.kept, 30);
}

}  // namespace
}  // namespace bayloom::remote
