// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bayloom::trial {
namespace {

using testing::HasSubstr;

TEST(Answer, IsANumberOrAFieldOfAnObject) {
  const AnswerFormat format = {.fields = {"time.median"}, .pattern = ""};
  for (const char* output :
       {"2.5", " 2.5\n", "+2.5e0", "warming up\nrunning\n2.5\n", "{\"time\": {\"median\": 2.5}}",
        "log line\n{\"time\": {\"median\": 2.5}}\n\n", "{\n \"time\": {\n\"median\": 2.5}\n}\n",
        "{\"time.median\": 2.5}"}) {
    const Outcome outcome = ParseAnswer(output, format);
    EXPECT_TRUE(outcome.ok()) << output << ": " << outcome.reason;
    EXPECT_EQ(outcome.value, 2.5) << output;
  }
}

TEST(Answer, SeveralObjectivesAreFieldsOfAnObject) {
  const AnswerFormat format = {.fields = {"seconds", "bytes", "power.mean"}, .pattern = ""};
  const Outcome outcome =
      ParseAnswer(R"({"seconds": 1, "bytes": 20, "power": {"mean": 3}})", format);
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  EXPECT_EQ(outcome.value, 1);
  EXPECT_EQ(outcome.values, (std::vector<NamedValue>{{"bytes", 20}, {"power.mean", 3}}));
  EXPECT_EQ(ParseAnswer(R"({"seconds": 1, "bytes": 20})", format).reason,
            "the answer has no field 'power.mean'");
  EXPECT_EQ(ParseAnswer(R"({"seconds": 1, "bytes": "x", "power.mean": 2})", format).reason,
            "the field 'bytes' is \"x\"");
  EXPECT_EQ(ParseAnswer("3", format).verdict, Verdict::kInvalidAnswer);
}

TEST(Answer, AnythingElseIsInfeasibleAndSaysWhy) {
  const std::pair<const char*, const char*> answers[] = {
      {"", "nothing was printed"},
      {"\n \n", "nothing was printed"},
      {"nan", "nan"},
      {"-inf", "inf"},
      {"1e999", "1e999"},
      {"fast", "found 'fast'"},
      {"2.5 ms", "found '2.5 ms'; 'answer: {pattern: ...}' finds a number in other text"},
      {"{\"value\": NaN}", "expected a number or a JSON object"},
      {"{\"value\": null}", "'value' is null"},
      {"{\"value\": \"2.5\"}", "'value' is \"2.5\""},
      {"{\"seconds\": 1}", "no field 'value'"},
      {"{\"feasible\": false, \"reason\": \"out of\\nmemory\"}", "out of\\nmemory"},
      {"{\"feasible\": false}", "infeasible"},
      {"[1, 2]", "found '[1, 2]'"},
      {"\x01\xff\xfe", "expected"},
  };
  for (const auto& [output, reason] : answers) {
    const Outcome outcome = ParseAnswer(output, {});
    EXPECT_FALSE(outcome.ok()) << output;
    EXPECT_TRUE(std::isnan(outcome.value));
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
    EXPECT_EQ(outcome.reason.find('\n'), std::string::npos);
  }
}

TEST(Answer, AFailureMaySayItsStage) {
  const auto verdict = [](const char* stage) {
    const Outcome outcome = ParseAnswer(
        std::string(R"({"feasible": false, "reason": "no room", "stage": )") + stage + "}", {});
    EXPECT_THAT(outcome.reason, HasSubstr("no room")) << stage;
    return outcome.verdict;
  };
  EXPECT_EQ(verdict(R"("build")"), Verdict::kBuildError);
  EXPECT_EQ(verdict(R"("run")"), Verdict::kCrash);
  EXPECT_EQ(verdict(R"("check")"), Verdict::kWrongOutput);
  EXPECT_EQ(verdict(R"("link")"), Verdict::kInvalidAnswer);
  EXPECT_EQ(verdict("3"), Verdict::kInvalidAnswer);
}

TEST(Answer, WhatIsNestedTooDeepIsNoAnswer) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const std::string& output :
       {"{\"value\": " + deep + "}", "{\"value\": 1, \"more\": " + deep + "}"}) {
    const Outcome outcome = ParseAnswer(output, {});
    EXPECT_EQ(outcome.verdict, Verdict::kInvalidAnswer);
    EXPECT_LT(outcome.reason.size(), 300u);
  }
}

TEST(Answer, APatternFindsTheLastNumber) {
  const AnswerFormat format = {.fields = {"value"}, .pattern = "Max frequency .*: ([0-9.]+) MHz"};
  const Outcome outcome = ParseAnswer(
      "Max frequency for 'clk': 10.5 MHz\nagain\nMax frequency for 'clk': 42.25 MHz (ok)\n",
      format);
  EXPECT_EQ(outcome.value, 42.25);
  EXPECT_FALSE(ParseAnswer("Max frequency unknown", format).ok());
  EXPECT_FALSE(ParseAnswer("Max frequency for x: ... MHz", format).ok());
  // A line too long for the matcher's stack is passed over.
  EXPECT_FALSE(ParseAnswer(std::string(1000000, 'x'), format).ok());
}

TEST(Answer, PatternsAreChecked) {
  EXPECT_TRUE(CheckPattern("time: (.*)"));
  EXPECT_FALSE(CheckPattern("time: .*"));
  EXPECT_FALSE(CheckPattern("time: ("));
  EXPECT_FALSE(CheckPattern(std::string(600, 'x') + "(.*)"));
}

}  // namespace
}  // namespace bayloom::trial
