// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string OutputOf(const std::vector<std::string>& line) {
  const Answer answer = RunBayloom(line);
  EXPECT_EQ(answer.exit_code, 0) << answer.error;
  return answer.out;
}

TEST(MapResults, SeveralOperationsAreOneRunThatCanBeShownAgain) {
  const TemporaryFolder folder;
  const std::string database = folder / "map.db";
  const std::vector<std::string> line = {
      "map",    "--op",    "matmul:16,32,16", "--op", "matmul:64,16,16", "--op",  "matmul:16,32,16",
      "--arch", "gemmini", "--evaluations",   "300",  "--mapper",        "exact", "--objective",
      "edp",    "--db",    database};
  const std::string printed = OutputOf(line);
  EXPECT_THAT(printed, HasSubstr("optimum"));
  EXPECT_THAT(printed, HasSubstr("all layers: "));
  const std::string runs = OutputOf({"show", database});
  EXPECT_THAT(runs, HasSubstr("3 operations on gemmini"));
  EXPECT_THAT(runs, Not(HasSubstr("matmul I=16")));
  // The run of all layers came last.
  const std::string shown = OutputOf({"show", database, "--run", "3"});
  EXPECT_THAT(shown, HasSubstr(printed));
  EXPECT_THAT(shown, HasSubstr("matmul I=16 J=32 K=16 on gemmini"));
  EXPECT_THAT(shown, HasSubstr("J cycles"));
  EXPECT_THAT(OutputOf({"report", database}), HasSubstr(printed));
  const std::string page = folder / "page.html";
  (void)OutputOf({"report", database, "--html", page});
  EXPECT_THAT(base::ReadFile(page), HasSubstr("\"parts\":\"2 layers\""));
  // A layer's run shows its mapping.
  EXPECT_THAT(OutputOf({"show", database, "--run", "1"}), HasSubstr("DRAM [ Weights:512"));
  EXPECT_THAT(OutputOf({"show", database, "--run", "3", "--why"}), HasSubstr("saves"));
}

TEST(MapResults, GroupsAndCoresAreKept) {
  const TemporaryFolder folder;
  const std::string database = folder / "map.db";
  const std::string printed =
      OutputOf({"map", "--op", "matmul:64,64,64", "--arch", "gemmini", "--evaluations", "200",
                "--cores", "bus:2,bandwidth=4", "--db", database});
  EXPECT_THAT(OutputOf({"show", database, "--run", "2"}), HasSubstr(printed));
  EXPECT_THAT(OutputOf({"report", database}), HasSubstr(printed));
}

TEST(MapResults, WhySharesOutWhatAMappingCosts) {
  const std::vector<std::string> line = {
      "map",   "--op",        "matmul:32,64,16", "--arch",        "gemmini", "--mapper",
      "exact", "--objective", "energy",          "--evaluations", "400",     "--why"};
  std::vector<std::string> as_json = line;
  as_json.emplace_back("--json");
  const nlohmann::json json = nlohmann::json::parse(OutputOf(as_json));
  double energy = 0, cycles = 0;
  for (const nlohmann::json& part : json.at("why").at("parts")) {
    energy += part.at("energy_pj").get<double>();
    cycles += part.at("bound_cycles").get<double>();
  }
  const nlohmann::json& model = json.at("model");
  EXPECT_NEAR(energy, model.at("energy_pj").get<double>(), 1e-9 * energy);
  EXPECT_EQ(cycles, model.at("cycles").get<double>());
  // What was possible before is possible with more.
  const nlohmann::json& doubled = json.at("why").at("doubled");
  EXPECT_TRUE(doubled.at(0).at("part").is_null());
  // Three capacities, and the bandwidths of the scratchpad and DRAM.
  EXPECT_EQ(doubled.size(), 6u);
  for (const nlohmann::json& each : doubled) {
    EXPECT_LE(each.at("energy_pj").get<double>(), energy * (1 + 1e-9));
  }
  EXPECT_THAT(OutputOf(line), HasSubstr("of twice the capacity"));
  EXPECT_THAT(RunBayloom({"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--why",
                          "--evaluator", "true"})
                  .error,
              HasSubstr("--why asks the built-in model"));
}

TEST(MapResults, AShippedArchitectureCanBeginAnOwnOne) {
  const TemporaryFolder folder;
  const std::string file = folder / "mine.yaml";
  base::WriteFile(file, OutputOf({"show", "--arch", "gemmini16x16"}));
  const auto value = [](const std::string& architecture) {
    return nlohmann::json::parse(OutputOf({"map", "--op", "matmul:16,16,16", "--arch", architecture,
                                           "--evaluations", "200", "--json"}))
        .at("value");
  };
  EXPECT_EQ(value(file), value("gemmini16x16"));
  EXPECT_THAT(OutputOf({"show", "--arch", file}), HasSubstr("entries: "));
  EXPECT_EQ(RunBayloom({"show", "--arch", "gemini"}).exit_code, 2);
}

}  // namespace
}  // namespace bayloom::cli
