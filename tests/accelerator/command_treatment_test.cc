// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "bayloom/base/clock.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/scenario.h"
#include "tests/base/running_process.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"
#include "tests/trial/evaluate_one.h"

namespace bayloom::accelerator {
namespace {

using ::testing::HasSubstr;

struct Limits {
  double timeout_seconds = 30;
  int64_t memory_mib = 0;
};

/// A shell's command as the evaluator of a search.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual trial::Outcome Evaluate() = 0;
  /// Begins, then ends it all as soon as the file is there.
  virtual void BeginAndCancel(const std::string& file) = 0;
};

template <typename Candidate>
class SubjectOf final : public Subject {
 public:
  SubjectOf(std::unique_ptr<trial::Evaluator<Candidate>> evaluator, Candidate candidate)
      : evaluator_(std::move(evaluator)), candidate_(std::move(candidate)) {}

  trial::Outcome Evaluate() override { return trial::EvaluateOne(*evaluator_, candidate_); }
  void BeginAndCancel(const std::string& file) override {
    evaluator_->Submit(1, candidate_);
    while (std::ifstream(file).peek() == EOF) {
      ASSERT_TRUE(evaluator_->Collect(0.02, [] { return false; }).empty());
    }
    evaluator_->Cancel();
  }

 private:
  std::unique_ptr<trial::Evaluator<Candidate>> evaluator_;
  Candidate candidate_;
};

/// Of `search`: a scenario's evaluator.
std::unique_ptr<Subject> ForSearch(const std::string& command, const Limits& limits) {
  std::string quoted;
  for (const char c : command) {
    quoted += c == '\'' ? "''" : c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  }
  std::string text =
      "parameters: {n: {type: integer, range: [0, 9], default: 7}}\n"
      "evaluator:\n  shell: '" +
      quoted + "'\n  timeout: " + std::to_string(limits.timeout_seconds) + "\n";
  if (limits.memory_mib > 0) text += "  memory: " + std::to_string(limits.memory_mib) + "MiB\n";
  const search::Scenario scenario = search::ParseScenario(text, "scenario.yaml");
  return std::make_unique<SubjectOf<space::Configuration>>(
      search::MakeEvaluator(scenario.space, scenario.evaluator, 1),
      *scenario.default_configuration);
}

/// Of `map`: a simulator.
std::unique_ptr<Subject> ForMap(const std::string& command, const Limits& limits) {
  const mapspace::Problem problem = mapspace::MatmulProblem(8, 4, 16);
  const mapspace::Architecture architecture = mapspace::ShippedArchitecture("gemmini");
  mapspace::SimulatorOptions options;
  options.command = command;
  options.timeout_seconds = limits.timeout_seconds;
  options.memory_limit_bytes = limits.memory_mib << 20;
  return std::make_unique<SubjectOf<mapspace::Mapping>>(
      mapspace::MakeSimulatorEvaluator(problem, architecture, options),
      mapspace::OutermostMapping(problem, architecture));
}

struct Way {
  const char* name;
  std::unique_ptr<Subject> (*make)(const std::string&, const Limits&);
};

/// Commands mean the same in every kind of run.
class CommandTreatment : public ::testing::TestWithParam<Way> {
 protected:
  trial::Outcome Evaluate(const std::string& command, const Limits& limits = {}) {
    return GetParam().make(command, limits)->Evaluate();
  }
  /// Whether the process whose number is in a file of the folder goes on.
  bool IsAlive(const std::string& file) {
    std::string process;
    EXPECT_TRUE(std::ifstream(folder_ / file) >> process);
    return !base::EndsSoon(process);
  }

  TemporaryFolder folder_;
};

TEST_P(CommandTreatment, NumbersAndObjectsAreAnswers) {
  EXPECT_EQ(Evaluate("echo 3").value, 3);
  EXPECT_EQ(Evaluate("echo '{\"value\": 3}'").value, 3);
  EXPECT_EQ(Evaluate("echo some words; echo 2.5").value, 2.5);
  const trial::Outcome refused = Evaluate("echo '{\"feasible\": false, \"reason\": \"too hot\"}'");
  EXPECT_EQ(refused.verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(refused.reason, "too hot");
  EXPECT_EQ(Evaluate("echo words").verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(Evaluate("true").verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(Evaluate("echo nan").verdict, trial::Verdict::kInvalidAnswer);
}

TEST_P(CommandTreatment, AFailureIsInfeasibleWithTheLastLineOfItsErrors) {
  const trial::Outcome missing = Evaluate("bayloom-has-no-such-command");
  EXPECT_EQ(missing.verdict, trial::Verdict::kCrash);
  EXPECT_THAT(missing.reason, HasSubstr("exit code 127: "));
  EXPECT_THAT(missing.reason, HasSubstr("bayloom-has-no-such-command"));
  const trial::Outcome failed = Evaluate("echo 1; echo first >&2; echo last >&2; exit 3");
  EXPECT_EQ(failed.verdict, trial::Verdict::kCrash);
  EXPECT_EQ(failed.reason, "exit code 3: last");
  EXPECT_THAT(Evaluate("kill -SEGV $$").reason, HasSubstr("SIGSEGV"));
}

TEST_P(CommandTreatment, WhatIsLeftInTheBackgroundIsKilled) {
  const double begun = base::MonotonicSeconds();
  EXPECT_EQ(Evaluate("sleep 77 & echo $! > " + (folder_ / "pid") + "; echo 1").value, 1);
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
  EXPECT_FALSE(IsAlive("pid"));
}

TEST_P(CommandTreatment, LimitsHold) {
  const double begun = base::MonotonicSeconds();
  const trial::Outcome late = Evaluate("sleep 77; echo 1", {.timeout_seconds = 0.2});
  EXPECT_EQ(late.verdict, trial::Verdict::kTimeout);
  EXPECT_EQ(late.reason, "still running after 0.2 s");
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
  const std::string hungry = "python3 -c 'print(len(bytearray(400000000)))'";
  EXPECT_EQ(Evaluate(hungry).value, 4e8);
  const trial::Outcome refused = Evaluate(hungry, {.timeout_seconds = 30, .memory_mib = 200});
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.reason, HasSubstr("MemoryError"));
}

TEST_P(CommandTreatment, CancelEndsTheCommandAndItsChildren) {
  const auto subject = GetParam().make("sleep 77 & echo $! > " + (folder_ / "pid") + "; wait", {});
  subject->BeginAndCancel(folder_ / "pid");
  EXPECT_FALSE(IsAlive("pid"));
}

TEST_P(CommandTreatment, ItTakesItsTime) {
  EXPECT_GE(Evaluate("sleep 0.1; echo 1").Get("measure_seconds", 0), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Ways, CommandTreatment,
                         ::testing::Values(Way{"search", ForSearch}, Way{"map", ForMap}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace bayloom::accelerator
