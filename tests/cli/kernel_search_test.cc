// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/cli/options/kernel_option.h"
#include "tests/cli/run_bayloom.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A source in a folder of its own, and a command line that tunes it.
class KernelSearchTest : public testing::Test {
 protected:
  KernelSearchTest() {
    std::ofstream(source_) << "void fill(float* x, int n) {\n"
                              "  for (int i = 0; i < n; i += step)\n"
                              "    for (int j = i; j < n && j < i + step; ++j) x[j] = step < 8;\n"
                              "}\n"
                              "void right(float* x, int n) {\n"
                              "  for (int i = 0; i < n; ++i) x[i] = 1;\n"
                              "}\n";
  }
  std::vector<std::string> Line(const std::vector<std::string>& more) const {
    std::vector<std::string> line = {"search", source_,          "--param", "step=1,2,4,8",
                                     "--arg",  "out float x[n]", "--arg",   "int n",
                                     "--size", "n=1000",         "--db",    folder_ / "fill.db"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  WithVariable runner_{"BAYLOOM_RUNNER", BAYLOOM_PROGRAM};
  TemporaryFolder folder_;
  std::string source_ = folder_ / "fill.c";
};

TEST_F(KernelSearchTest, TunesASourceAndTimesTheBestInTurns) {
  const Answer ran = RunBayloom(Line({"--reference", "right", "--json", "--rounds", "6"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.error;
  const nlohmann::json summary = nlohmann::json::parse(ran.out);
  EXPECT_EQ(summary["trials"], 4);
  EXPECT_EQ(summary["repeated"].size(), 3u) << "all that have a value";
  EXPECT_EQ(summary["repeated"][0]["values"].size(), 6u);
  EXPECT_EQ(summary["gain"]["rounds"], 6);
  EXPECT_LE(summary["gain"]["low"], summary["gain"]["ratio"]);
  EXPECT_LE(summary["gain"]["ratio"], summary["gain"]["high"]);
  EXPECT_LT(summary["best"]["configuration"]["step"], 8);
}

TEST_F(KernelSearchTest, GoesOnWithTheCommandThatItNames) {
  const Answer first = RunBayloom(Line({"--trials", "2", "--constraint", "step < 8"}));
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_THAT(first.error, HasSubstr("a 'reference' would show whether these are right"));
  EXPECT_THAT(first.out, AllOf(HasSubstr("--param step=1,2,4,8"), HasSubstr("--size n=1000"),
                               HasSubstr("--constraint 'step < 8'"), HasSubstr("--resume")));
  const Answer second = RunBayloom(
      Line({"--trials", "9", "--constraint", "step < 8", "--resume", "--repeat-best", "0"}));
  EXPECT_EQ(second.exit_code, 0) << second.error;
  EXPECT_THAT(second.error + second.out, HasSubstr("3 trials"));
}

TEST_F(KernelSearchTest, FindsTheBestForEachContext) {
  const std::string header = folder_ / "fill.h";
  const Answer ran =
      RunBayloom({"search", source_, "--param", "step=1,2,4,8", "--arg", "out float x[n]", "--arg",
                  "int n", "--context", "n=100,1000", "--reference", "right", "--db",
                  folder_ / "fill.db", "--emit", header, "--trials", "8", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.error;
  const nlohmann::json found = nlohmann::json::parse(ran.out);
  ASSERT_EQ(found["table"].size(), 2u);
  EXPECT_EQ(found["table"][1]["context"], (nlohmann::json{{"n", 1000}}));
  EXPECT_EQ(found["table"][1]["trials"], 4);
  EXPECT_LT(found["table"][1]["configuration"]["step"], 8);
  EXPECT_GT(found["table"][1]["value"], 0);
  std::ifstream file(header);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, AllOf(HasSubstr("#error \"define n\""), HasSubstr("define step ")));
  // Its command goes on with it, and the table is there again.
  const Answer again =
      RunBayloom({"search", source_, "--param", "step=1,2,4,8", "--arg", "out float x[n]", "--arg",
                  "int n", "--context", "n=100,1000", "--reference", "right", "--db",
                  folder_ / "fill.db", "--trials", "8", "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  EXPECT_THAT(again.out, AllOf(HasSubstr("configuration"), HasSubstr("for 2 contexts")));
}

TEST_F(KernelSearchTest, RefusesWhatIsNoKernel) {
  EXPECT_THAT(RunBayloom(Line({"--emit", folder_ / "a.json"})).error,
              HasSubstr("--emit writes the table of a scenario's contexts"));
  const auto refusal = [](const std::vector<std::string>& line) {
    const Answer ran = RunBayloom(line);
    EXPECT_EQ(ran.exit_code, 2) << ran.out;
    return ran.error;
  };
  EXPECT_THAT(refusal({"search", source_}), HasSubstr("say what is tuned"));
  EXPECT_THAT(refusal({"search", "flags.yaml", "--param", "a=1,2"}),
              HasSubstr("--param is for a source"));
  EXPECT_THAT(refusal({"search", source_, "--param", "step"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(refusal({"search", source_, "--param", "step=1,2", "--arg", "float x"}),
              HasSubstr("float x"));
}

TEST_F(KernelSearchTest, EvaluatesOneConfiguration) {
  const std::string scenario = folder_ / "fill.yaml";
  std::ofstream(scenario) << "parameters: {step: [1, 8]}\n"
                             "evaluator:\n"
                             "  kernel: fill.c\n"
                             "  arguments: ['out float x[n]', int n]\n"
                             "  sizes: {n: 4}\n"
                             "  reference: right\n";
  const Answer ran = RunBayloom(
      {"evaluate", scenario, R"([{"step": 1}, {"step": 8}])", "--outputs", folder_ / "outputs"});
  ASSERT_EQ(ran.exit_code, 0) << ran.error;
  const size_t end = ran.out.find('\n');
  const nlohmann::json right = nlohmann::json::parse(ran.out.substr(0, end));
  const nlohmann::json wrong = nlohmann::json::parse(ran.out.substr(end));
  EXPECT_GT(right["milliseconds"], 0);
  EXPECT_EQ(right["configuration"]["step"], 1);
  EXPECT_EQ(right["outputs"]["x"], folder_ / "outputs" + std::string("/x.npy"));
  EXPECT_EQ(wrong["feasible"], false);
  EXPECT_EQ(wrong["verdict"], "wrong-output");
  EXPECT_THAT(RunBayloom({"evaluate", scenario, R"({"step": 3})"}).out, HasSubstr("error"));
}

TEST(KernelOption, IsAScenario) {
  KernelOption option;
  option.parameters = {"z=1,2", "a=1..8", "x=0.5..2", "mode=plain,fast"};
  option.arguments = {"int n"};
  option.sizes = {"n=4,8", "m=1,2"};
  const nlohmann::json scenario = nlohmann::json::parse(option.ScenarioText("folder/f.c"));
  EXPECT_EQ(scenario["parameters"]["z"], nlohmann::json::parse("[1, 2]"));
  EXPECT_EQ(scenario["parameters"]["a"],
            nlohmann::json::parse(R"({"type": "integer", "range": [1, 8]})"));
  EXPECT_EQ(scenario["parameters"]["x"]["type"], "real");
  EXPECT_EQ(scenario["parameters"]["mode"], nlohmann::json::parse(R"(["plain", "fast"])"));
  EXPECT_EQ(scenario["evaluator"]["kernel"], "f.c");
  EXPECT_EQ(scenario["evaluator"]["sizes"],
            nlohmann::json::parse(R"([{"n": 4, "m": 1}, {"n": 8, "m": 2}])"));
  EXPECT_FALSE(scenario.contains("contexts"));
  option.contexts = {"k=1,2"};
  EXPECT_EQ(nlohmann::json::parse(option.ScenarioText("folder/f.c"))["contexts"]["k"],
            nlohmann::json::parse("[1, 2]"));
  option.sizes = {"n=4,8", "m=1"};
  EXPECT_THAT(MessageOf([&] { option.ScenarioText("f.c"); }), HasSubstr("as many values"));
}

}  // namespace
}  // namespace bayloom::cli
