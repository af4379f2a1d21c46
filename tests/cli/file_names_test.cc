// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Files and folders whose names are bytes of any kind, as the system allows it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "examples/models/layers.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

void ExpectPrintable(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(base::SingleLine(line, std::numeric_limits<size_t>::max()), line);
  }
}

class FileNames : public testing::Test {
 protected:
  FileNames() { std::filesystem::create_directory(folder_ / kFolder); }

  /// In a folder that is called in Latin-1, a file that is, too.
  std::string File(const std::string& ending) const {
    return folder_ / kFolder + "/caf\xe9 \x1b[31m" + ending;
  }
  /// The command succeeds, and a terminal and readers of JSON can take what it says.
  static Answer Succeed(const std::vector<std::string>& arguments) {
    Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 0) << arguments[0] << ": " << answer.error;
    ExpectPrintable(answer.out);
    // Progress is drawn on a line of its own.
    ExpectPrintable(answer.error);
    return answer;
  }
  static nlohmann::json SucceedInJson(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return nlohmann::json::parse(Succeed(arguments).out);
  }

  static constexpr const char* kFolder = "dossier d'\xe9t\xe9";
  TemporaryFolder folder_;
};

TEST_F(FileNames, OfModels) {
  const std::string model = File(".onnx"), database = File(".db");
  models::GraphBuilder graph("small", 13, /*seed=*/1);
  graph.Output(graph.Node("Relu", {graph.Input("x", {64})}), {64});
  graph.Save(model);
  Succeed({"check", model});
  SucceedInJson({"check", model});
  Succeed({"show", model});
  Succeed({"tune", model, "--trials", "2", "--strategy", "random", "--db", database});
  SucceedInJson({"tune", model, "--trials", "4", "--resume", "--db", database});
  Succeed({"show", database});
  SucceedInJson({"show", database});
  SucceedInJson({"show", database, "--run", "1"});
  Succeed({"report", database});
  Succeed({"report", database, "--html", File(".html")});
  Succeed({"bench", model, "--db", database, "--time", "10ms"});
  SucceedInJson({"bench", model, "--db", database, "--time", "10ms"});
  SucceedInJson({"run", model, "--db", database});
  Succeed({"compile", model, "--db", database, "--out", File("")});
  SucceedInJson({"compile", model, "--db", database, "--out", File("")});
  Succeed({"records", "export", database, "--out", File(".jsonl")});
  Succeed({"records", "import", File("2.db"), File(".jsonl")});
}

TEST_F(FileNames, OfScenarios) {
  const std::string scenario = File(".yaml"), database = File(".db");
  std::ofstream(scenario) << "parameters: {x: {type: integer, range: [1, 6]}}\noptimizer: random\n"
                             "minimize: v\nevaluator: {shell: 'test -d {here} && echo {x}'}\n";
  Succeed({"search", scenario, "--db", database, "--trials", "3"});
  SucceedInJson({"search", scenario, "--db", database, "--resume", "--out", File(".json"), "--csv",
                 File(".csv")});
  Succeed({"show", database, "--run", "1"});
  Succeed({"report", database});
  Succeed(
      {"records", "export", database, "--run", "1", "--format", "t4", "--out", File("_T4.json")});
  SucceedInJson({"search", scenario, "--recorded", File("_T4.json"), "--db", File("2.db")});
}

TEST_F(FileNames, OfMappings) {
  const std::string architecture = File(".yaml"), problem = File(".problem.yaml");
  base::WriteFile(architecture,
                  mapspace::PrintArchitectureYaml(mapspace::ShippedArchitecture("gemmini")));
  base::WriteFile(problem, mapspace::PrintProblemYaml(mapspace::MatmulProblem(16, 16, 16)));
  const std::vector<std::string> subject = {"map", "--problem", problem, "--arch", architecture};
  const auto map = [&](std::vector<std::string> more) {
    more.insert(more.begin(), subject.begin(), subject.end());
    return more;
  };
  const std::string database = File(".db"), found = File(".found.yaml");
  Succeed(map({"--evaluations", "50", "--db", database, "--out", found}));
  SucceedInJson(map({"--evaluations", "80", "--db", database, "--resume"}));
  SucceedInJson(map({"--mapping", found}));
  SucceedInJson(map({"--evaluations", "3", "--evaluator", "test -s {mapping} && echo 1"}));
  Succeed({"show", database});
  SucceedInJson({"show", database});
  Succeed({"report", database});
  Succeed({"records", "export", database, "--out", File(".jsonl")});
  Succeed({"records", "import", File("2.db"), File(".jsonl")});
  SucceedInJson({"sensitivity", "--problem", problem, "--arch", architecture, "--samples", "20"});
}

/// Where simulators get their files.
class TemporaryFolderNames : public testing::TestWithParam<const char*> {};

TEST_P(TemporaryFolderNames, AreQuotedForEvaluatorsOfMappings) {
  const TemporaryFolder folder;
  const std::string temporary = folder / GetParam();
  std::filesystem::create_directory(temporary);
  const WithVariable tmpdir("TMPDIR", temporary);
  const auto map = [](const std::string& evaluator) {
    return RunBayloom({"map", "--op", "matmul:16,16,16", "--arch", "gemmini", "--evaluations", "2",
                       "--mapper", "random-pruned", "--json", "--evaluator", evaluator});
  };
  for (const char* evaluator :
       {"cat {mapping} {problem} {arch} | wc -c", "cat \"{mapping}\" '{problem}' {arch} | wc -c",
        "m={mapping}; echo \"$(wc -c < \"$m\")\"", "wc -c <{mapping}"}) {
    const Answer answer = map(evaluator);
    ASSERT_EQ(answer.exit_code, 0) << evaluator << ": " << answer.error;
    EXPECT_GT(nlohmann::json::parse(answer.out)["value"], 100) << evaluator;
  }
  const Answer refused = map("echo \"$(wc -c < {mapping})\"");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("v={mapping}"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

INSTANTIATE_TEST_SUITE_P(Names, TemporaryFolderNames,
                         testing::Values("with a blank", "d'\xe9t\xe9", "$(exit 3)`;&"),
                         [](const auto& test) { return "name_" + std::to_string(test.index); });

}  // namespace
}  // namespace bayloom::cli
