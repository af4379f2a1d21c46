// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Searches whose values or constraints are extreme.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/optimizer/optimizer.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

class HardSearch : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  TemporaryFolder folder_;
};

// Half of the configurations answer the usual penalty of maximizing.
TEST_F(HardSearch, PenaltiesAsLargeAsNumbersGoEndNoSearchAndNoResumption) {
  const std::string scenario =
      Write("penalty.yaml",
            "name: penalty\n"
            "parameters: {x: {type: integer, range: [0, 99]}, y: {type: integer, range: [0, 99]}}\n"
            "maximize: v\n"
            "evaluator: {shell: 'test $(( {x} % 2 )) = 0 && echo -1.7976931348623157e308 || echo "
            "$((200 - {x} - {y}))'}\n");
  for (const std::string& optimizer : optimizer::Optimizers().Names()) {
    const std::string database = folder_ / (std::string(optimizer) + ".db");
    std::vector<std::string> arguments = {"search", scenario,      "--db",
                                          database, "--optimizer", std::string(optimizer),
                                          "--jobs", "2",           "--json"};
    arguments.insert(arguments.end(), {"--trials", "24"});
    const Answer first = RunBayloom(arguments);
    ASSERT_EQ(first.exit_code, 0) << optimizer << ": " << first.error;
    arguments.back() = "36";
    arguments.emplace_back("--resume");
    const Answer second = RunBayloom(arguments);
    ASSERT_EQ(second.exit_code, 0) << optimizer << ": " << second.error;
    const auto summary = nlohmann::json::parse(second.out);
    EXPECT_EQ(summary["trials"], 36);
    EXPECT_GT(summary["best"]["value"], 0);
  }
}

TEST_F(HardSearch, ConstraintsOverLargeRangesAreSolved) {
  for (const char* constraint : {"a == b", "a % b == 0", "a * b <= 1000000000", "a + b == 1000"}) {
    const std::string scenario =
        Write("large.yaml", std::string("name: large\n"
                                        "parameters:\n"
                                        "  a: {type: integer, range: [1, 1000000000]}\n"
                                        "  b: {type: integer, range: [1, 1000000000]}\n"
                                        "constraints: ['") +
                                constraint +
                                "']\n"
                                "minimize: v\n"
                                "evaluator: {shell: 'echo {a}'}\n");
    const Answer answer = RunBayloom({"search", scenario, "--trials", "12", "--json", "--db",
                                      folder_ / (std::string(1, constraint[2]) + ".db")});
    ASSERT_EQ(answer.exit_code, 0) << constraint << ": " << answer.error;
    EXPECT_EQ(nlohmann::json::parse(answer.out)["trials"], 12) << constraint;
  }
}

TEST_F(HardSearch, SaysThatItGaveUp) {
  const std::string scenario = Write("hidden.yaml",
                                     "name: hidden\n"
                                     "parameters: {x: {type: integer, range: [1, 1000000000]}}\n"
                                     "constraints: ['x & 536870911 == 123456']\n"
                                     "minimize: v\n"
                                     "evaluator: {shell: 'echo {x}'}\n");
  const Answer answer =
      RunBayloom({"search", scenario, "--trials", "5", "--json", "--db", folder_ / "hidden.db"});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, HasSubstr("gave up after 0 trials: no further configuration that "
                                      "satisfies the constraints was found, although there may be "
                                      "more"));
  EXPECT_EQ(nlohmann::json::parse(answer.out)["end"], "gave-up");
}

}  // namespace
}  // namespace bayloom::cli
