// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

TEST(CommandLine, HelpsWithExamples) {
  const Answer answer = RunBayloom({"--help"});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.out, HasSubstr("Example:"));
  EXPECT_EQ(answer.error, "");
}

TEST(CommandLine, TellsItsVersionAndExplainsSubcommands) {
  const Answer version = RunBayloom({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("bayloom [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const Answer help = RunBayloom({"help", "tune"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, RunBayloom({"tune", "--help"}).out);
  EXPECT_EQ(RunBayloom({"help", "tun"}).exit_code, 2);
  const Answer nothing = RunBayloom({});
  EXPECT_EQ(nothing.exit_code, 0);
  EXPECT_THAT(nothing.out, testing::HasSubstr("bayloom tune resnet18.onnx"));
}

TEST(CommandLine, NamesTheOptionThatWasMeant) {
  const Answer slip = RunBayloom({"tune", "--op", "matmul:8,8,8", "--trails", "5"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_THAT(slip.error, testing::HasSubstr("no option '--trails'; is --trials meant?"));
  const Answer renamed = RunBayloom({"search", "a.yaml", "--transfer", "b.db"});
  EXPECT_EQ(renamed.exit_code, 2);
  EXPECT_THAT(renamed.error, testing::HasSubstr("--transfer is called --learn-from now"));
  EXPECT_THAT(RunBayloom({"search", "--bugdet=3"}).error,
              testing::HasSubstr("no option '--bugdet'"));
}

TEST(CommandLine, AnswersBadInputInOneLineWithCodeTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"weave"},
           {"tune"},
           {"tune", "model.onnx", "--op", "matmul:8,8,8"},
           {"tune", "--op", "matmul:8,8"},
           {"tune", "--op", "matmul:8,8,8", "--trials", "0"},
           {"tune", "--op", "matmul:8,8,8", "--time", "soon"},
           {"tune", "--op", "matmul:8,8,8", "--until-gain", "0%"},
           {"tune", "--op", "matmul:8,8,8", "--until-gain", "0.5/min"},
           {"tune", "--op", "matmul:8,8,8", "--until-gain", "1%/fortnight"},
           {"tune", "--op", "matmul:8,8,8", "--until-gain", "1%/5min"},
           {"tune", "--op", "matmul:8,8,8", "--strategy", "guess"},
           {"tune", "--op", "matmul:8,8,8", "--derivations", "guess"},
           {"tune", "--op", "matmul:8,8,8", "--objective", "latency,beauty"},
           {"tune", "--op", "matmul:8,8,8", "--objective", "size"},
           {"tune", "--op", "matmul:8,8,8", "--target", "abacus"},
           {"tune", "--op", "matmul:8,8,8", "--target", "x86-64-v3,native"},
           {"tune", "--op", "matmul:8,8,8", "--threads", "1000000"},
           {"show"},
           {"show", "/nonexistent/tuning.db"},
           {"show", "/nonexistent/tuning.db", "--trace"},
           {"show", "--op", "matmul:8,8,8", "--threads", "-1"},
           {"run"},
           {"run", "/nonexistent/model.onnx"},
           {"bench", "/nonexistent/model.onnx"},
           {"compile", "/nonexistent/model.onnx"},
           {"show", "/nonexistent/model.onnx"},
           {"tune", "/nonexistent/model.onnx"},
           {"map"},
           {"map", "--op", "matmul:8,8,8", "--arch", "abacus"},
           {"map", "--arch", "gemmini"},
           {"map", "--op", "matmul:8,8", "--arch", "gemmini"},
           {"map", "--op", "matmul:8,8,8", "--arch", "/nonexistent/chip.yaml"},
           {"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--mapper", "oracle"},
           {"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--objective", "beauty"},
           {"records"},
           {"records", "export"},
           {"records", "export", "/nonexistent/tuning.db"},
           {"records", "import", "/nonexistent/tuning.db", "also-not-there.jsonl"},
       }) {
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.error, testing::StartsWith("bayloom: "));
    EXPECT_EQ(answer.error.find('\n'), answer.error.size() - 1) << answer.error;
  }
}

TEST(CommandLine, NamesASubcommandThatItDoesNotKnow) {
  EXPECT_EQ(RunBayloom({"weave"}).error,
            "bayloom: there is no subcommand 'weave'; see 'bayloom --help'\n");
  EXPECT_EQ(RunBayloom({"records", "weave"}).error,
            "bayloom: there is no subcommand 'weave'; see 'bayloom records --help'\n");
  EXPECT_THAT(RunBayloom({"records"}).error, HasSubstr("subcommand is required"));
}

TEST(CommandLine, SeedsAreNotNegative) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"tune", "--op", "matmul:8,8,8"},
                                             {"map", "--op", "matmul:8,8,8", "--arch", "gemmini"},
                                             {"search", "scenario.yaml"},
                                             {"pretrain", "model.onnx"}}) {
    for (const char* seed : {"-1", "1e3", "99999999999999999999"}) {
      std::vector<std::string> with_seed = arguments;
      with_seed.insert(with_seed.end(), {"--seed", seed});
      EXPECT_THAT(RunBayloom(with_seed).error,
                  HasSubstr("--seed: '" + std::string(seed) + "' is no whole number from 0 on"));
    }
  }
}

TEST(CommandLine, ShowsTheDesignSpacesOfAnOperator) {
  const Answer text = RunBayloom({"show", "--op", "matmul:64,64,64"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("sum over k < 64"));
  EXPECT_THAT(text.out, HasSubstr("524 kFLOP"));
  EXPECT_THAT(text.out, HasSubstr("sample_perfect_tile"));

  const Answer json = RunBayloom({"show", "--op", "matmul:64,64,64", "--json"});
  const nlohmann::json shown = nlohmann::json::parse(json.out);
  EXPECT_EQ(shown["flops"], 2 * 64 * 64 * 64);
  EXPECT_FALSE(shown["spaces"].empty());
}

TEST(CommandLine, TunesAnOperatorResumesAndShowsWhatItFound) {
  // Untuned, an operator of this size takes three times the best of six programs, on a busy
  // machine, too.
  const TemporaryFolder folder;
  const std::string database = folder / "tuning.db";
  const std::vector<std::string> tune = {
      "tune", "--op", "matmul:256,256,256", "--strategy", "random", "--json", "--db", database};
  const auto with = [](std::vector<std::string> arguments, std::vector<std::string> more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };

  const Answer first = RunBayloom(with(tune, {"--trials", "4", "--derivations", "none"}));
  EXPECT_EQ(first.exit_code, 0) << first.error;
  const nlohmann::json result = nlohmann::json::parse(first.out);
  EXPECT_EQ(result["trials"], 4);
  EXPECT_GT(result["tasks"][0]["best"], 0);

  const Answer resumed = RunBayloom(with(tune, {"--trials", "6", "--resume"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["session"], result["session"]);
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["trials"], 6);
  EXPECT_EQ(RunBayloom({"tune", "--op", "matmul:256,256,256", "--strategy", "evolutionary",
                        "--resume", "--db", database})
                .exit_code,
            2);
  const Answer other = RunBayloom(with(tune, {"--resume", "--derivations", "winograd-4x4"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.error, HasSubstr("begun with the derivations 'none', not 'winograd-4x4'"));

  EXPECT_THAT(RunBayloom({"show", database}).out, HasSubstr("matmul:256,256,256"));
  const Answer task = RunBayloom({"show", database, "--task", "1", "--trace", "--history"});
  EXPECT_THAT(task.out, HasSubstr("Best of 6 trials"));
  EXPECT_THAT(task.out, HasSubstr("sample_perfect_tile"));
  EXPECT_EQ(RunBayloom({"show", database, "--task", "7"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"show", database, "--run", "7"}).exit_code, 2);

  EXPECT_EQ(RunBayloom({"records", "export", database, "--out", folder / "records"}).exit_code, 0);
  const Answer imported = RunBayloom({"records", "import", folder / "copy.db", folder / "records"});
  EXPECT_THAT(imported.out, HasSubstr("6 new trials"));
}

TEST(CommandLine, EndsATuningThatIsExpectedToGainLittle) {
  const TemporaryFolder folder;
  const Answer answer =
      RunBayloom({"tune", "--op", "matmul:32,32,32", "--strategy", "random", "--json", "--db",
                  folder / "tuning.db", "--until-gain", "99%/min"});
  EXPECT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json result = nlohmann::json::parse(answer.out);
  EXPECT_EQ(result["end"], "gain");
  EXPECT_LT(result["trials"], 256);
  EXPECT_GE(result["expected_gain_per_minute"], 0);
  EXPECT_LT(result["expected_gain_per_minute"], 0.99);
}

}  // namespace
}  // namespace bayloom::cli
