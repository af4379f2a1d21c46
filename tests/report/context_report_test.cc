// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/context_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/run_command.h"
#include "bayloom/report/context_condition.h"
#include "bayloom/search/scenario.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

using testing::HasSubstr;

/// Of sizes 16, 64 and 1024: a small tile for the first, a large one for the others.
search::ContextTable TilesBySize(const std::string& contexts = "{n: [16, 64, 1024]}") {
  const search::Scenario scenario = search::ParseScenario(
      "parameters: {tile: [8, 32], level: [-O2, -O3], part: [0.5, 1.5]}\n"
      "contexts: " +
          contexts,
      "a.yaml");
  search::ContextTable table;
  table.name = "mat-mul";
  table.objective = {"seconds", false};
  table.contexts = {scenario.space->parameter(3).name()};
  table.joint = scenario.space;
  const space::Configuration small{{0, 1, 0, 0}}, large{{1, 0, 1, 0}};
  table.rows = {{"n=16", {0}, small, 2.0, 4.0, 7},
                {"n=64", {1}, large, 3.0, 3.0, 8},
                {"n=1024", {2}, large, 5.0, std::nullopt, 9}};
  table.candidates = {{small, {1, 1.1, 2}}, {large, {1.5, 1, 1}}};
  return table;
}

TEST(ContextReport, IsATableForPeopleAndPrograms) {
  const search::ContextTable table = TilesBySize();
  const search::ContextTree tree = search::MakeContextTree(table, 2);
  const std::string text = ContextRows(table).Text();
  EXPECT_THAT(text, HasSubstr("trials  seconds   gain  tile  level  part"));
  EXPECT_THAT(text, HasSubstr("2.00x"));
  EXPECT_EQ(LossText(table, tree),
            "2 configurations for 3 contexts: 0.0 % worse than the best of each in the mean, 0.0 % "
            "at most (n=16)");
  const nlohmann::json json = ContextJson(table, tree);
  EXPECT_EQ(json["table"][1]["context"]["n"], 64);
  EXPECT_EQ(json["table"][1]["configuration"],
            (nlohmann::json{{"tile", 32}, {"level", "-O2"}, {"part", 1.5}}));
  EXPECT_EQ(json["table"][2]["first"], nullptr);
  EXPECT_EQ(json["tree"]["below"], 32) << "the geometric mean of 16 and 64";
  EXPECT_EQ(json["tree"]["then"]["configuration"]["tile"], 8);
  EXPECT_EQ(json["loss"]["leaves"], 2);
}

TEST(ContextReport, SaysWhatFewLeavesLose) {
  const search::ContextTable table = TilesBySize();
  EXPECT_EQ(
      LossText(table, search::MakeContextTree(table, 1)),
      "1 configuration for 3 contexts: 14.5 % worse than the best of each in the mean, 50.0 % "
      "at most (n=16)");
}

/// What a command prints; a test fails if it does.
std::string OutputOf(const std::vector<std::string>& arguments) {
  base::Command command;
  command.arguments = arguments;
  const base::CommandResult result = base::RunCommand(command);
  EXPECT_TRUE(result.status.Success()) << result.error_output;
  return result.output;
}

TEST(ContextReport, HeadersAndFunctionsOfCChooseAlike) {
  const TemporaryFolder folder;
  const search::ContextTable table = TilesBySize();
  const search::ContextTree tree = search::MakeContextTree(table, 2);
  std::ofstream(folder / "tiles.h") << ContextFile(table, tree, "tiles.h");
  std::ofstream(folder / "tiles.c") << ContextFile(table, tree, "tiles.c");
  std::ofstream(folder / "called.c") << "#include <stdio.h>\n"
                                        "#include \"tiles.c\"\n"
                                        "int main(void) {\n"
                                        "  struct mat_mul_configuration one = mat_mul(SIZE);\n"
                                        "  printf(\"%ld %s %g\", one.tile, one.level, one.part);\n"
                                        "}\n";
  std::ofstream(folder / "included.c") << "#include <stdio.h>\n"
                                          "#define TEXT(x) #x\n"
                                          "#define TEXT_OF(x) TEXT(x)\n"
                                          "#define n SIZE\n"
                                          "#include \"tiles.h\"\n"
                                          "int main(void) {\n"
                                          "  printf(\"%d %s %g\", tile, TEXT_OF(level), part);\n"
                                          "}\n";
  for (const auto& [size, expected] :
       {std::pair{"31", "8 -O3 0.5"}, {"32", "32 -O2 1.5"}, {"9999", "32 -O2 1.5"}}) {
    for (const std::string source : {"called", "included"}) {
      const std::string program = folder / source;
      OutputOf(
          {"cc", "-Wall", "-Werror", std::string("-DSIZE=") + size, program + ".c", "-o", program});
      EXPECT_EQ(OutputOf({program}), expected) << source << " for " << size;
    }
  }
  EXPECT_THAT(ContextFile(table, tree, "tiles.h"), HasSubstr("#error \"define n\""));
}

TEST(ContextReport, IsAFunctionOfPython) {
  const search::ContextTable table = TilesBySize();
  const search::ContextTree tree = search::MakeContextTree(table, 2);
  EXPECT_EQ(ContextFile(table, tree, "tiles.py"),
            "def mat_mul(n):\n"
            "    \"\"\"Configurations of 'mat-mul' by n, found by bayloom search (seconds).\n"
            "\n"
            "    2 configurations for 3 contexts: 0.0 % worse than the best of each in the mean, "
            "0.0 % at most (n=16).\n"
            "    \"\"\"\n"
            "    if n < 32:\n"
            "        return {\"level\":\"-O3\",\"part\":0.5,\"tile\":8}\n"
            "    else:\n"
            "        return {\"level\":\"-O2\",\"part\":1.5,\"tile\":32}\n");
}

TEST(ContextReport, ComparesNamesWhereContextsHaveThem) {
  const search::ContextTable table = TilesBySize("{device: [A100, H100, W7800]}");
  const search::ContextTree tree = search::MakeContextTree(table, 2);
  EXPECT_THAT(ContextFile(table, tree, "a.py"), HasSubstr("    if device in [\"A100\"]:\n"));
  EXPECT_THAT(ContextFile(table, tree, "a.c"), HasSubstr("  if (!strcmp(device, \"A100\")) {\n"));
  EXPECT_THAT(MessageOf([&] { ContextFile(table, tree, "a.h"); }), HasSubstr("'device' has names"));
}

TEST(ContextReport, RefusesOtherForms) {
  const search::ContextTable table = TilesBySize();
  const search::ContextTree tree = search::MakeContextTree(table, 2);
  EXPECT_THAT(MessageOf([&] { ContextFile(table, tree, "a.txt"); }),
              HasSubstr("expected a file .json, .h, .c or .py"));
}

}  // namespace
}  // namespace bayloom::report
