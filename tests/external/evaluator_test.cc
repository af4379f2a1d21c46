#include "bayloom/external/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/external/scenario.h"

namespace bayloom {
namespace {

using testing::HasSubstr;

constexpr const char* kParameters =
    "parameters:\n"
    "  n: {type: integer, range: [0, 9], default: 7}\n"
    "  word: {type: categorical, values: [plain, \"it's; rm -rf $HOME\"], default: \"it's; rm -rf "
    "$HOME\"}\n"
    "  order: {type: permutation, size: 3, default: [2, 0, 1]}\n"
    "  rate: {type: real, range: [0, 1], default: 0.125}\n"
    "minimize: seconds\n";

std::unique_ptr<ConfigurationEvaluator> Evaluator(const Scenario& scenario) {
  return std::move(MakeEvaluators(scenario.space, scenario.evaluator, 1).front());
}

/// What an evaluator, given by the lines under `evaluator:`, says about all defaults.
Outcome OutcomeOf(const std::string& evaluator) {
  const Scenario scenario =
      ParseScenario(kParameters + ("evaluator:\n" + evaluator), "/tmp/file.yaml");
  return *Evaluator(scenario)->Evaluate(*scenario.default_configuration, {});
}

TEST(CommandEvaluator, FillsHolesWithoutAShell) {
  EXPECT_EQ(OutcomeOf("  command: printf %s {n}{order[0]}.{order[2]}\n").value, 72.1);
  // One argument stays one argument.
  const Outcome outcome = OutcomeOf(
      "  command: [sh, -c, 'test \"$1\" = \"$2\" && echo $#', x, '{word}', \"it's; rm -rf "
      "$HOME\", '{order}', '{rate}']\n");
  EXPECT_EQ(outcome.value, 4) << outcome.reason;
}

TEST(CommandEvaluator, QuotesForTheShell) {
  const Outcome outcome =
      OutcomeOf("  shell: test {word} = \"it's; rm -rf \\$HOME\" && echo {order} | tr -d ,\n");
  EXPECT_EQ(outcome.value, 201) << outcome.reason;
}

TEST(CommandEvaluator, GivesJsonFoldersAndEnvironment) {
  const Outcome json = OutcomeOf("  command: cat\n  input: json\n  answer: {field: n}\n");
  EXPECT_EQ(json.value, 7) << json.reason;
  const Outcome folders = OutcomeOf(
      "  shell: test {here} = /tmp && test -d {work} && touch {work}/x && test $N = 7 && pwd | wc "
      "-c\n"
      "  environment: {N: '{n}'}\n  directory: /\n");
  EXPECT_EQ(folders.value, 2) << folders.reason;
}

TEST(CommandEvaluator, KeepsWhyThereIsNoValue) {
  const std::tuple<const char*, Verdict, const char*> evaluators[] = {
      {"  shell: echo 1; echo broken >&2; exit 3\n", Verdict::kCrash, "exit code 3: broken"},
      {"  shell: kill -SEGV $$\n", Verdict::kCrash, "SIGSEGV"},
      {"  shell: sleep 60\n  timeout: 0.2\n", Verdict::kTimeout, "still running after 0.2 s"},
      {"  shell: echo nan\n", Verdict::kWrongOutput, "nan"},
      {"  shell: echo all is well\n", Verdict::kWrongOutput, "all is well"},
      {"  shell: 'true'\n", Verdict::kWrongOutput, "nothing was printed"},
      {"  shell: head -c 3000000 /dev/urandom\n", Verdict::kWrongOutput, ""},
      {"  command: /nonexistent/compiler {n}\n", Verdict::kCrash, "/nonexistent/compiler"},
  };
  for (const auto& [evaluator, verdict, reason] : evaluators) {
    const Outcome outcome = OutcomeOf(evaluator);
    EXPECT_EQ(outcome.verdict, verdict) << evaluator << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
    EXPECT_EQ(outcome.reason.find('\n'), std::string::npos);
  }
}

TEST(CommandEvaluator, RemovesItsFolder) {
  const Scenario scenario = ParseScenario(
      std::string(kParameters) + "evaluator: {shell: 'echo {work} >&2; touch {work}/a; exit 1'}",
      "f");
  auto evaluator = Evaluator(scenario);
  const Outcome outcome = *evaluator->Evaluate(*scenario.default_configuration, {});
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
  const auto evaluator = Evaluator(scenario);
  const auto outcome = [&](double n) {
    Configuration configuration = *scenario.default_configuration;
    configuration.coordinates[0] = n;
    return *evaluator->Evaluate(configuration, {});
  };
  EXPECT_EQ(outcome(7).value, 7);
  EXPECT_DOUBLE_EQ(outcome(8).value, 8.01);  // the same process
  EXPECT_THAT(outcome(1).reason, HasSubstr("exit code 5"));
  EXPECT_EQ(outcome(7).value, 7);  // a new one
  EXPECT_THAT(outcome(2).reason, HasSubstr("SIGKILL"));
  EXPECT_THAT(outcome(4).reason, HasSubstr("what?"));
  EXPECT_EQ(outcome(9).value, 9);  // not the 99 that came after
  EXPECT_FALSE(outcome(5).ok());
  EXPECT_FALSE(outcome(6).ok());
  EXPECT_EQ(outcome(0).value, 0);
}

TEST(ProcessEvaluator, GivesUpAProcessThatHangs) {
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {process: sleep 60, timeout: 0.2}", "f");
  const Outcome outcome = *Evaluator(scenario)->Evaluate(*scenario.default_configuration, {});
  EXPECT_EQ(outcome.verdict, Verdict::kTimeout);
  EXPECT_EQ(outcome.reason, "no answer after 0.2 s");
}

TEST(ProcessEvaluator, StopsWhenAsked) {
  const Scenario scenario =
      ParseScenario(std::string(kParameters) + "evaluator: {process: sleep 60}", "f");
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(Evaluator(scenario)->Evaluate(*scenario.default_configuration, source.get_token()));
}

}  // namespace
}  // namespace bayloom
