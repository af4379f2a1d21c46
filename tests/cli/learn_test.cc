// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class LearnCommand : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_ / name; }
  Answer Tune(const std::string& op, const std::string& trials,
              const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"tune", "--op",       op,         "--threads", "1",
                                          "--db", File("a.db"), "--trials", trials,      "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunBayloom(arguments);
  }

  TemporaryFolder folder_;
  WithVariable store_{"BAYLOOM_STORE", folder_ / "programs.db"};
};

TEST_F(LearnCommand, WhatWasTunedIsLearntOfAndTheNextTuningBeginsWithIt) {
  const Answer first = Tune("matmul:48,48,48", "60");
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_THAT(first.error, Not(HasSubstr("prior:")));
  const Answer learnt = RunBayloom({"learn", "--threads", "1", "--programs", "48", "--json"});
  ASSERT_EQ(learnt.exit_code, 0) << learnt.error;
  const nlohmann::json result = nlohmann::json::parse(learnt.out);
  EXPECT_EQ(result["end"], "trials");
  EXPECT_EQ(result["measured"], 48);
  EXPECT_EQ(result["tasks"], 1);
  ASSERT_TRUE(result.contains("prior")) << learnt.out;

  const Answer next = Tune("matmul:64,32,64", "2", {"--learn-from", "store"});
  ASSERT_EQ(next.exit_code, 0) << next.error;
  EXPECT_THAT(next.error, HasSubstr("prior: "));
  EXPECT_EQ(nlohmann::json::parse(next.out)["prior"], result["prior"]);
  const Answer shown = RunBayloom({"show", File("a.db"), "--run", "2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(shown.out)["options"]["prior"]["trials"],
            result["prior"]["trials"]);
  EXPECT_THAT(RunBayloom({"show", File("a.db"), "--run", "2"}).out, HasSubstr("prior of "));

  for (const std::vector<std::string>& off : {std::vector<std::string>{"--learn-from", "off"},
                                              {},
                                              {"--learn-from", "store", "--no-store"}}) {
    const Answer without = Tune("matmul:64,64,32", "2", off);
    EXPECT_EQ(without.exit_code, 0) << without.error;
    EXPECT_FALSE(nlohmann::json::parse(without.out).contains("prior")) << off.size();
  }
}

TEST_F(LearnCommand, SaysWhatIsMissing) {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "learn");
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    return answer.error;
  };
  EXPECT_THAT(refusal({}), HasSubstr("tune a network first"));
  EXPECT_THAT(refusal({"--for", "soon"}), HasSubstr("--for: 'soon' is not a duration"));
  EXPECT_THAT(refusal({"--families", "cooking"}), HasSubstr("cooking"));
  const WithVariable off("BAYLOOM_STORE", "off");
  EXPECT_THAT(refusal({}), HasSubstr("BAYLOOM_STORE"));
}

TEST_F(LearnCommand, LearnsOfFamiliesWhereNothingWasTuned) {
  const Answer answer = RunBayloom({"learn", "--threads", "1", "--programs", "4", "--families",
                                    "softmax", "--tasks-per-family", "1", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["measured"], 4);
}

}  // namespace
}  // namespace bayloom::cli
