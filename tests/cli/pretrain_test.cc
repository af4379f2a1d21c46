// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

class PretrainCommand : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_ / name; }

  std::vector<std::string> Small(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"pretrain",
                                          "--db",
                                          File("pool.db"),
                                          "--families",
                                          "dense",
                                          "softmax",
                                          "--tasks-per-family",
                                          "2",
                                          "--json",
                                          "--seed",
                                          "3",
                                          "--out",
                                          File("m.model"),
                                          "--programs-per-task",
                                          "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryFolder folder_;
};

TEST_F(PretrainCommand, SamplesMeasuresAndTrainsInOneRunOrInSteps) {
  const Answer sampled = RunBayloom(Small({"--pool-only"}));
  ASSERT_EQ(sampled.exit_code, 0) << sampled.error;
  const nlohmann::json pool = nlohmann::json::parse(sampled.out);
  ASSERT_EQ(pool["pool"].size(), 2u);
  EXPECT_EQ(pool["pool"][0]["group"], "dense");
  EXPECT_EQ(pool["pool"][0]["tasks"], 2);
  EXPECT_EQ(pool["pool"][0]["programs"], 40);
  EXPECT_EQ(pool["pool"][0]["measured"], 0);
  EXPECT_FALSE(pool.contains("model"));
  EXPECT_FALSE(std::filesystem::exists(File("m.model")));

  const Answer trained = RunBayloom(Small({"--programs", "12", "--rounds", "2"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.error;
  const nlohmann::json result = nlohmann::json::parse(trained.out);
  EXPECT_EQ(result["end"], "trials");
  EXPECT_EQ(result["pool"][0]["programs"], 40);
  EXPECT_EQ(result["pool"][0]["measured"].get<int>() + result["pool"][1]["measured"].get<int>(),
            12);
  EXPECT_EQ(result["model"], File("m.model"));
  EXPECT_THAT(trained.error, HasSubstr("round 2 of 2: 12 of 12 programs measured"));

  const Answer again = RunBayloom({"pretrain", "--db", File("pool.db"), "--from-pool", "--programs",
                                   "12", "--out", File("again.model")});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_THAT(again.out, HasSubstr("wrote " + File("again.model")));
  EXPECT_EQ(RunBayloom({"tune", "--op", "matmul:8,8,8", "--db", File("a.db"), "--trials", "1",
                        "--learn-from", File("again.model")})
                .exit_code,
            0);
}

TEST_F(PretrainCommand, SaysWhatIsWrong) {
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"pretrain", "--db", File("a.db")});
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2) << answer.error;
    return answer.error;
  };
  EXPECT_THAT(refusal({"--from-pool"}), HasSubstr("there is no " + File("a.db")));
  EXPECT_THAT(refusal({"--from-pool", "--pool-only"}),
              HasSubstr("--pool-only excludes --from-pool"));
  EXPECT_THAT(refusal({"--out", File("none/m.model")}), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal({"--time", "soon"}), HasSubstr("--time"));
  EXPECT_THAT(refusal({"--families", "weaving"}), HasSubstr("--families: weaving not in"));
  EXPECT_FALSE(std::filesystem::exists(File("a.db")));
  const Answer no_model = RunBayloom(
      {"tune", "--op", "matmul:8,8,8", "--db", File("a.db"), "--learn-from", File("a.db")});
  EXPECT_EQ(no_model.exit_code, 2);
  EXPECT_THAT(no_model.error, HasSubstr("--learn-from: the databases have too few programs"));
}

}  // namespace
}  // namespace bayloom::cli
