// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Conditional parameters of scenarios, from the file to the command and to what is exported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/search/command_builder.h"
#include "bayloom/search/scenario.h"
#include "bayloom/space/configuration_json.h"
#include "tests/message_of.h"

namespace bayloom::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Scenario WithEvaluator(const std::string& evaluator) {
  return ParseScenario(R"(
parameters:
  level:  {type: categorical, values: [-O2, -O3]}
  unroll: {type: integer, range: [1, 8], active_if: "level == '-O3'"}
  times:  {type: integer, range: [1, 4], active_if: [unroll > 2, "level != '-O2'"]}
evaluator:
)" + evaluator,
                       "s.yaml");
}

base::Command CommandOf(const Scenario& scenario, const nlohmann::json& values) {
  const space::Configuration configuration = *space::FromJson(*scenario.space, values);
  return CommandBuilder(scenario.space, scenario.evaluator).Fill(configuration);
}

const nlohmann::json kNone = {{"level", "-O2"}};
const nlohmann::json kOne = {{"level", "-O3"}, {"unroll", 2}};
const nlohmann::json kBoth = {{"level", "-O3"}, {"unroll", 8}, {"times", 3}};

TEST(ConditionsOfScenarios, ListsAreConjunctions) {
  const Scenario scenario = WithEvaluator("  command: run {level}");
  EXPECT_EQ(scenario.space->CountFeasible(), 1 + 2 + 6 * 4);
  EXPECT_FALSE(scenario.default_configuration);
}

TEST(ConditionsOfScenarios, ArgumentsOfInactiveParametersAreLeftOut) {
  const Scenario scenario = WithEvaluator(R"(
    command: [run, '{level}', '--unroll={unroll}', '{times}', 'x{times?-{times}}', '{times?now}']
    environment: {UNROLL: '{unroll}', LEVEL: '{level}'})");
  const base::Command none = CommandOf(scenario, kNone);
  EXPECT_THAT(none.arguments, ElementsAre("run", "-O2", "x"));
  EXPECT_THAT(none.environment, ElementsAre("LEVEL=-O2"));
  EXPECT_THAT(CommandOf(scenario, kOne).arguments, ElementsAre("run", "-O3", "--unroll=2", "x"));
  EXPECT_THAT(CommandOf(scenario, kBoth).arguments,
              ElementsAre("run", "-O3", "--unroll=8", "3", "x-3", "now"));
  EXPECT_THAT(CommandOf(scenario, kBoth).environment, ElementsAre("UNROLL=8", "LEVEL=-O3"));
}

TEST(ConditionsOfScenarios, ShellTextsHaveSections) {
  const Scenario scenario = WithEvaluator(
      "  shell: \"gcc {level} {unroll?--param unroll={unroll}} '{times}' {times?a {{}}} b\"");
  EXPECT_EQ(CommandOf(scenario, kNone).arguments.back(), "gcc -O2  ''  b");
  EXPECT_EQ(CommandOf(scenario, kBoth).arguments.back(), "gcc -O3 --param unroll=8 '3' a {} b");
}

TEST(ConditionsOfScenarios, WhatIsWrongIsSaidAtItsPlace) {
  EXPECT_THAT(MessageOf([] { WithEvaluator("  shell: run {unrol?x}"); }),
              HasSubstr("there is no parameter 'unrol'; is 'unroll' meant?"));
  EXPECT_THAT(MessageOf([] { WithEvaluator("  shell: run {unroll?x"); }),
              HasSubstr("the section '{unroll?' at column 5 is never closed"));
  EXPECT_THAT(MessageOf([] { WithEvaluator("  shell: run {unroll?{times?x}}"); }),
              HasSubstr("begins a section within a section"));
  EXPECT_THAT(MessageOf([] { WithEvaluator("  shell: run {unroll?'x} y'"); }),
              HasSubstr("opens or closes quotes"));
  const auto with = [](const std::string& condition) {
    return MessageOf([&] {
      ParseScenario(
          "parameters:\n  a: {type: integer, range: [1, 2]}\n  b: {type: categorical, "
          "values: [x, y], active_if: \"" +
              condition + "\"}\n",
          "s.yaml");
    });
  };
  EXPECT_EQ(with("a == 1"), "");
  EXPECT_THAT(with("c == 1"), HasSubstr("s.yaml:3"));
  EXPECT_THAT(with("c == 1"), HasSubstr("parameters.b.active_if"));
  EXPECT_THAT(with("a = 1"), HasSubstr("condition 'a = 1': column"));
  EXPECT_THAT(with("b == 'x'"), HasSubstr("conditions go round in a circle: 'b' -> 'b'"));
  EXPECT_THAT(with("a == 'x'"), HasSubstr("condition"));
}

}  // namespace
}  // namespace bayloom::search
