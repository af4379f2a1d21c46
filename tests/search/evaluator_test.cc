// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/evaluator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/search/scenario.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"
#include "tests/trial/evaluate_one.h"

namespace bayloom::search {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kParameters =
    "parameters:\n"
    "  n: {type: integer, range: [0, 9], default: 7}\n"
    "  word: {type: categorical, values: [plain, \"it's; rm -rf $HOME\"], default: \"it's; rm -rf "
    "$HOME\"}\n"
    "  order: {type: permutation, size: 3, default: [2, 0, 1]}\n"
    "  rate: {type: real, range: [0, 1], default: 0.125}\n"
    "minimize: seconds\n";

std::unique_ptr<trial::Evaluator<space::Configuration>> Make(const Scenario& scenario) {
  return MakeEvaluator(scenario.space, scenario.evaluator, 1);
}

/// What an evaluator, given by the lines under `evaluator:`, says about all defaults.
trial::Outcome OutcomeOf(const std::string& evaluator) {
  const Scenario scenario =
      ParseScenario(kParameters + ("evaluator:\n" + evaluator), "/tmp/file.yaml");
  return trial::EvaluateOne(*Make(scenario), *scenario.default_configuration);
}

TEST(CommandEvaluator, FillsHolesWithoutAShell) {
  EXPECT_EQ(OutcomeOf("  command: printf %s {n}{order[0]}.{order[2]}\n").value, 72.1);
  // One argument stays one argument.
  const trial::Outcome outcome = OutcomeOf(
      "  command: [sh, -c, 'test \"$1\" = \"$2\" && echo $#', x, '{word}', \"it's; rm -rf "
      "$HOME\", '{order}', '{rate}']\n");
  EXPECT_EQ(outcome.value, 4) << outcome.reason;
}

TEST(CommandEvaluator, QuotesForTheShell) {
  const trial::Outcome outcome =
      OutcomeOf("  shell: test {word} = \"it's; rm -rf \\$HOME\" && echo {order} | tr -d ,\n");
  EXPECT_EQ(outcome.value, 201) << outcome.reason;
}

TEST(CommandEvaluator, GivesJsonFoldersAndEnvironment) {
  const trial::Outcome json = OutcomeOf("  command: cat\n  input: json\n  answer: {field: n}\n");
  EXPECT_EQ(json.value, 7) << json.reason;
  const trial::Outcome folders = OutcomeOf(
      "  shell: test {here} = /tmp && test -d {work} && touch {work}/x && test $N = 7 && pwd | wc "
      "-c\n"
      "  environment: {N: '{n}'}\n  directory: /\n");
  EXPECT_EQ(folders.value, 2) << folders.reason;
}

TEST(CommandEvaluator, KeepsWhyThereIsNoValue) {
  const std::tuple<const char*, trial::Verdict, const char*> evaluators[] = {
      {"  shell: echo 1; echo broken >&2; exit 3\n", trial::Verdict::kCrash, "exit code 3: broken"},
      {"  shell: kill -SEGV $$\n", trial::Verdict::kCrash, "SIGSEGV"},
      {"  shell: sleep 60\n  timeout: 0.2\n", trial::Verdict::kTimeout,
       "still running after 0.2 s"},
      {"  shell: echo nan\n", trial::Verdict::kInvalidAnswer, "nan"},
      {"  shell: echo all is well\n", trial::Verdict::kInvalidAnswer, "all is well"},
      {"  shell: echo it took 3 ms\n", trial::Verdict::kInvalidAnswer, "answer: {pattern: ...}"},
      {"  shell: 'true'\n", trial::Verdict::kInvalidAnswer, "nothing was printed"},
      {"  shell: head -c 3000000 /dev/urandom\n", trial::Verdict::kInvalidAnswer, ""},
      {"  command: /nonexistent/compiler {n}\n", trial::Verdict::kCrash, "/nonexistent/compiler"},
  };
  for (const auto& [evaluator, verdict, reason] : evaluators) {
    const trial::Outcome outcome = OutcomeOf(evaluator);
    EXPECT_EQ(outcome.verdict, verdict) << evaluator << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
    EXPECT_EQ(outcome.reason.find('\n'), std::string::npos);
  }
}

TEST(CommandEvaluator, RemovesItsFolder) {
  const Scenario scenario = ParseScenario(
      std::string(kParameters) + "evaluator: {shell: 'echo {work} >&2; touch {work}/a; exit 1'}",
      "f");
  auto evaluator = Make(scenario);
  const trial::Outcome outcome = trial::EvaluateOne(*evaluator, *scenario.default_configuration);
  const std::string folder = outcome.reason.substr(outcome.reason.find('/'));
  EXPECT_TRUE(std::filesystem::exists(folder + "/a"));
  evaluator.reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

/// Answers n; does what n says first.
constexpr const char* kProcess = R"(
  process:
    - python3
    - -uc
    - |
      import json, os, signal, sys
      for number, line in enumerate(sys.stdin):
          n = json.loads(line)["n"]
          if n == 1: sys.exit(5)
          if n == 2: os.kill(os.getpid(), signal.SIGKILL)
          if n == 4: print("what?"); print(99); continue
          if n == 5: print("NaN"); continue
          if n == 6: print("x" * 3000000); continue
          print(json.dumps({{"seconds": n + number / 100}}))
  timeout: 60
)";

TEST(ProcessEvaluator, SurvivesWhateverTheProcessDoes) {
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator:" + kProcess, "/tmp/file.yaml");
  const auto evaluator = Make(scenario);
  const auto outcome = [&](double n) {
    space::Configuration configuration = *scenario.default_configuration;
    configuration.coordinates[0] = n;
    return trial::EvaluateOne(*evaluator, configuration);
  };
  EXPECT_EQ(outcome(7).value, 7);
  EXPECT_DOUBLE_EQ(outcome(8).value, 8.01);  // the same process
  EXPECT_THAT(outcome(1).reason, HasSubstr("exit code 5"));
  EXPECT_EQ(outcome(7).value, 7);  // a new one
  EXPECT_THAT(outcome(2).reason, HasSubstr("SIGKILL"));
  EXPECT_THAT(outcome(4).reason, HasSubstr("what?"));
  EXPECT_EQ(outcome(9).value, 9);  // not the 99 that came after
  EXPECT_EQ(outcome(5).verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(outcome(6).verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(outcome(0).value, 0);
}

/// What a Python program, which reads lines from standard input, says about several n, asked one
/// after the other; equal to them. What the user is told.
std::vector<std::string> NoticesOf(const std::string& program) {
  const TemporaryFolder folder;
  std::ofstream(folder / "evaluate.py") << "import json, select, sys\n" << program;
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {process: python3 -u " + folder.path() +
                        "/evaluate.py, timeout: 60}",
                    "f");
  const auto evaluator = Make(scenario);
  for (const double n : {3.0, 1.0, 4.0, 1.0, 5.0, 9.0}) {
    space::Configuration configuration = *scenario.default_configuration;
    configuration.coordinates[0] = n;
    EXPECT_EQ(trial::EvaluateOne(*evaluator, configuration).value, n) << program;
  }
  return evaluator->TakeNotices();
}

TEST(ProcessEvaluator, WhatComesAfterAnAnswerIsNoAnswerToTheNextQuestion) {
  // It writes more once the next question is there, but before it reads that.
  EXPECT_THAT(NoticesOf("print('a banner')\n"
                        "for line in sys.stdin:\n"
                        "  print(json.loads(line)['n']); select.select([sys.stdin], [], [])\n"
                        "  print(100); print('done')\n"),
              testing::ElementsAre(HasSubstr("the process wrote '100' after its answer")));
  EXPECT_THAT(NoticesOf("print('a banner')\n"
                        "for line in sys.stdin: print(json.loads(line)['n'])\n"),
              testing::IsEmpty());
}

TEST(ProcessEvaluator, AnAnswerMaySayWhatItAnswers) {
  // The answer before comes again after the question is read.
  const auto notices = NoticesOf(
      "before = None\n"
      "for line in sys.stdin:\n"
      "  asked = json.loads(line)\n"
      "  if before: print(json.dumps({'seconds': 100, 'configuration': before}))\n"
      "  print(json.dumps({'seconds': asked['n'], 'configuration': asked})); before = asked\n");
  EXPECT_THAT(notices, testing::ElementsAre(HasSubstr("after its answer")));
}

TEST(ProcessEvaluator, GivesUpAProcessThatHangs) {
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {process: sleep 60, timeout: 0.2}", "f");
  const trial::Outcome outcome =
      trial::EvaluateOne(*Make(scenario), *scenario.default_configuration);
  EXPECT_EQ(outcome.verdict, trial::Verdict::kTimeout);
  EXPECT_EQ(outcome.reason, "no answer after 0.2 s");
}

TEST(MakeEvaluator, CutsWhatTakesAMultipleOfTheBest) {
  const auto limit = std::make_shared<TimeLimit>(60, 3);
  EXPECT_EQ(limit->Seconds(), 60);
  EXPECT_FALSE(limit->IsOverBest());
  limit->SetBest(0.1);
  EXPECT_DOUBLE_EQ(limit->Seconds(), 0.3);
  limit->SetBest(0.001);
  EXPECT_EQ(limit->Seconds(), TimeLimit::kMinSeconds);
  limit->SetBest(30);
  EXPECT_EQ(limit->Seconds(), 60);
  limit->SetBest(0.05);
  for (const char* what : {"process", "command"}) {
    const Scenario scenario = ParseScenario(
        fmt::format("{}evaluator: {{{}: sleep 60, timeout: [60, 3x best]}}", kParameters, what),
        "f");
    const trial::Outcome outcome =
        trial::EvaluateOne(*MakeEvaluator(scenario.space, scenario.evaluator, 1, limit),
                           *scenario.default_configuration);
    EXPECT_EQ(outcome.verdict, trial::Verdict::kTimeout);
    EXPECT_THAT(outcome.reason,
                HasSubstr("0.15 s, 3 times as long as the evaluation of the best took"));
  }
}

TEST(ProcessEvaluator, CancelEndsTheProcessAndTheNextTrialStartsAnother) {
  const TemporaryFolder folder;
  const Scenario scenario = ParseScenario(
      std::string(kParameters) +
          "evaluator: {process: [sh, -c, 'echo $$ > \"$0\"; test -e \"$0.go\" || sleep 60; cat', " +
          folder.path() + "/pid], answer: {field: n}}",
      "f");
  const auto evaluator = Make(scenario);
  evaluator->Submit(0, *scenario.default_configuration);
  pid_t process = 0;
  while (!(std::ifstream(folder / "pid") >> process)) {
    EXPECT_TRUE(evaluator->Collect(0.02, [] { return false; }).empty());
  }
  const double begun = base::MonotonicSeconds();
  evaluator->Cancel();
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
  EXPECT_EQ(kill(process, 0), -1);
  std::ofstream(folder / "pid.go") << "\n";
  EXPECT_EQ(trial::EvaluateOne(*evaluator, *scenario.default_configuration).value, 7);
}

TEST(MakeEvaluator, TriesAsManyAtATimeAsAskedFor) {
  // Each waits until the other has begun.
  const TemporaryFolder folder;
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {shell: 'touch " + folder.path() +
                        "/{n}; until test -e " + folder.path() + "/1 -a -e " + folder.path() +
                        "/2; do sleep 0.01; done; echo {n}', timeout: 30}",
                    "f");
  const auto evaluator = MakeEvaluator(scenario.space, scenario.evaluator, 2);
  EXPECT_EQ(evaluator->Capacity(), 2);
  space::Configuration both[2] = {*scenario.default_configuration, *scenario.default_configuration};
  for (int i = 0; i < 2; ++i) {
    both[i].coordinates[0] = i + 1;
    evaluator->Submit(i, both[i]);
  }
  int ended = 0;
  while (ended < 2) {
    for (const trial::FinishedTrial& trial : evaluator->Collect(1, [] { return false; })) {
      ++ended;
      EXPECT_EQ(trial.outcome->value, static_cast<double>(trial.id + 1)) << trial.outcome->reason;
      EXPECT_GT(trial.outcome->Get("measure_seconds", 0), 0);
    }
  }
}

/// What is wrong with a scenario of this evaluator.
std::string RefusalOf(const std::string& evaluator) {
  try {
    ParseScenario(kParameters + ("evaluator:\n" + evaluator), "file.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandEvaluator, QuotesWithinQuotesToo) {
  const trial::Outcome outcome = OutcomeOf(
      "  shell: |\n"
      "    test \"{word}\" = \"it's; rm -rf \\$HOME\" && test '-{word}' = -{word} && echo {n}\n");
  EXPECT_EQ(outcome.value, 7) << outcome.reason;
}

TEST(CommandEvaluator, RefusesAHoleThatCannotBeQuoted) {
  EXPECT_THAT(RefusalOf("  shell: echo \"$(cat {word})\"\n"),
              AllOf(HasSubstr("file.yaml:8:10"), HasSubstr("'{word}' at column 13"),
                    HasSubstr("v={word}")));
  EXPECT_THAT(RefusalOf("  shell: 'echo `cat {word}`'\n"), HasSubstr("'{word}'"));
}

TEST(CommandEvaluator, LimitsTheMemoryOfAllProcessesTogether) {
  const trial::Outcome outcome = OutcomeOf(
      "  shell: for i in 1 2 3 4; do head -c 60M /dev/zero | tail -c 50M | (sleep 60; wc -c) & "
      "done; "
      "wait; echo 1\n  memory: 130MiB\n");
  EXPECT_EQ(outcome.verdict, trial::Verdict::kMemory) << outcome.reason;
}

/// While it lives, this process can open no further file.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);
    close(next);
    const rlimit none = {static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_ = {};
};

TEST(MakeEvaluator, WhatTheMachineRefusesLosesTheTrial) {
  for (const char* evaluator : {"{command: echo 3}",
                                "{process: 'sh -c \"while read x; do echo 3; "
                                "done\"'}"}) {
    const Scenario scenario =
        ParseScenario(std::string(kParameters) + "evaluator: " + evaluator, "f");
    const auto made = Make(scenario);
    {
      const NoMoreFiles none;
      made->Submit(0, *scenario.default_configuration);
      const auto finished = made->Collect(30, [] { return false; });
      ASSERT_EQ(finished.size(), 1u);
      EXPECT_FALSE(finished[0].outcome);
      EXPECT_THAT(finished[0].lost, HasSubstr("Too many open files"));
    }
    EXPECT_EQ(trial::EvaluateOne(*made, *scenario.default_configuration).value, 3);
  }
}

TEST(MakeEvaluator, RefusesMoreJobsThanTheMachineCanRun) {
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {command: echo 3}", "f");
  EXPECT_THROW(MakeEvaluator(scenario.space, scenario.evaluator, 1'000'000), InputError);
}

TEST(MakeEvaluator, ASandboxedEvaluatorWritesToItsWorkFolderOnly) {
  if (const Status allowed = base::CheckSandbox(); !allowed) {
    GTEST_SKIP() << allowed.error().message;
  }
  const base::ScratchFolder folder;
  for (const char* kind : {"  shell: ", "  process: [sh, -c, 'read x; "}) {
    const bool is_process = std::string(kind).find("process") != std::string::npos;
    const std::string script = "echo 5 > {work}/file && test -d $TMPDIR && ! echo 5 > " +
                               folder.path() + "/file && cat {work}/file";
    const trial::Outcome outcome =
        OutcomeOf(kind + script + (is_process ? "']" : "") + "\n  sandbox: true\n");
    EXPECT_EQ(outcome.value, 5) << outcome.reason;
    EXPECT_FALSE(std::filesystem::exists(folder / "file"));
  }
}

TEST(MakeEvaluator, ThereIsNoneForAScenarioWithout) {
  EXPECT_EQ(Make(ParseScenario(kParameters, "f")), nullptr);
}

}  // namespace
}  // namespace bayloom::search
