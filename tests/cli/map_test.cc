// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "examples/models/layers.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

TEST(MapCommand, FindsAMappingAndEvaluatesWhatItWrote) {
  const TemporaryFolder folder;
  const std::string file = folder / "found.yaml", copy = folder / "copy.yaml";
  const Answer found = RunBayloom({"map", "--op", "matmul:16,16,16", "--arch", "gemmini",
                                   "--evaluations", "300", "--out", file, "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.error;
  const nlohmann::json best = nlohmann::json::parse(found.out);
  EXPECT_EQ(best.at("evaluations"), 300);
  EXPECT_EQ(best.at("model").at("pj_per_mac"), best.at("value"));
  const Answer again = RunBayloom({"map", "--op", "matmul:16,16,16", "--arch", "gemmini",
                                   "--mapping", file, "--out", copy, "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(nlohmann::json::parse(again.out).at("value"), best.at("value"));
  const auto text = [](const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_FALSE(text(file).empty());
  EXPECT_EQ(text(copy), text(file));
}

TEST(MapCommand, RefusesBeforeItSearches) {
  const auto refusal = [](std::vector<std::string> more) {
    std::vector<std::string> line = {"map", "--op", "matmul:16,16,16", "--arch", "gemmini"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_EQ(answer.out, "");
    return answer.error;
  };
  EXPECT_THAT(refusal({"--out", "/no/such/folder/mapping.yaml"}), HasSubstr("cannot write"));
  EXPECT_THAT(refusal({"--evaluator", " "}), HasSubstr("--evaluator is empty"));
  EXPECT_THAT(refusal({"--evaluator", "bayloom-has-no-such-command"}), HasSubstr("not found"));
  EXPECT_THAT(refusal({"--top-k", "3", "--mapper", "annealing"}), HasSubstr("--top-k is for"));
  EXPECT_THAT(refusal({"--warm-start-model", "9", "--mapper", "genetic"}),
              HasSubstr("--warm-start-model is for"));
  EXPECT_THAT(refusal({"--mapping", "mine.yaml", "--cores", "bus:4"}),
              HasSubstr("it does not go with --cores"));
  EXPECT_THAT(refusal({"--cores", "bus:4", "--evaluator", "timeloop"}),
              HasSubstr("--cores needs the built-in model"));
  EXPECT_THAT(refusal({"--mapping", "mine.yaml", "--fuse"}), HasSubstr("--fuse is for a network"));
}

TEST(MapCommand, SaysWhatLeavesNoMappingAndWhatHasNoEffect) {
  const TemporaryFolder folder;
  const std::string rules = folder / "rules.yaml";
  std::ofstream(rules) << "constraints:\n"
                          "  - {target: Scratchpad, type: spatial, factors: I=32, "
                          "no-multicast-no-reduction: true}\n";
  const Answer answer = RunBayloom({"map", "--op", "matmul:32,32,32", "--arch", "gemmini16x16",
                                    "--constraints", rules, "--mapper", "random-pruned"});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, HasSubstr("rules.yaml:2"));
  EXPECT_THAT(answer.error, HasSubstr("'no-multicast-no-reduction' has no effect here"));
  EXPECT_THAT(answer.error, HasSubstr("no room for I=32 in space"));
}

TEST(MapCommand, SeveralObjectivesGiveAFront) {
  const TemporaryFolder folder;
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {
        "map", "--op", "matmul:32,32,32", "--arch",      "gemmini",      "--evaluations",
        "60",  "--db", folder / "db",     "--objective", "energy,cycles"};
    line.insert(line.end(), more.begin(), more.end());
    return RunBayloom(line);
  };
  const Answer answer = map({"--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json found = nlohmann::json::parse(answer.out);
  EXPECT_EQ(found.at("mapper"), "bayesian");
  EXPECT_EQ(found.at("objective"), "energy,delay");
  const nlohmann::json& front = found.at("front");
  ASSERT_FALSE(front.empty());
  EXPECT_EQ(front[0]["values"]["energy"], found["value"]);
  for (size_t i = 1; i < front.size(); ++i) {
    EXPECT_LT(front[i - 1]["values"]["energy"], front[i]["values"]["energy"]);
    EXPECT_GT(front[i - 1]["values"]["cycles"], front[i]["values"]["cycles"]);
  }
  // Resumed, it knows the front.
  const Answer resumed = map({"--json", "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(nlohmann::json::parse(resumed.out).at("front"), front);
  EXPECT_THAT(map({}).out, HasSubstr("Pareto front, "));
  EXPECT_THAT(map({"--mapper", "genetic"}).error, HasSubstr("minimizes one objective"));
  EXPECT_THAT(map({"--evaluator", "true"}).error, HasSubstr("several objectives need"));
  EXPECT_THAT(map({"--objective", "energy,energy"}).error, HasSubstr("given twice"));
}

TEST(MapCommand, PrintsALoopNest) {
  const Answer text =
      RunBayloom({"map", "--op", "depthwise:8x8x4,3x3,pad=1", "--arch", "eyeriss-like", "--mapper",
                  "random-pruned", "--evaluations", "50", "--objective", "edp"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("DRAM [ Weights:36 Inputs:400 Outputs:256 ]"));
  EXPECT_THAT(text.out, HasSubstr("pJ per multiply-accumulate"));
}

TEST(MapCommand, MapsEveryLayerOfANetwork) {
  const TemporaryFolder folder;
  const std::string model = folder / "small.onnx", out = folder / "mappings";
  models::GraphBuilder g("small", 13, /*seed=*/1);
  models::Value x = g.Input("image", {1, 3, 12, 12});
  x = g.Node("Relu", {models::ConvBn(g, "first", x, {3, 8, 3, 2, 1}, 1)});
  x = g.Node("Relu", {models::ConvBn(g, "second", x, {8, 8, 3, 1, 1}, 1)});
  x = g.Node("Relu", {models::ConvBn(g, "third", x, {8, 8, 3, 1, 1}, 1)});
  x = g.Node("Conv", {x, g.Weight("depthwise", {8, 1, 3, 3}, 9, 1)},
             {{"group", int64_t{8}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  models::Classify(g, "fc", x, 8);
  g.Save(model);

  const Answer answer = RunBayloom(
      {"map", model, "--arch", "gemmini", "--evaluations", "50", "--out", out, "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  ASSERT_EQ(json.at("layers").size(), 4u);
  EXPECT_EQ(json.at("evaluations"), 200);
  const auto problem = [&](size_t layer) {
    return json.at("layers")[layer].at("problem").get<std::string>();
  };
  EXPECT_EQ(problem(0), "conv2d R=3 S=3 P=6 Q=6 C=3 M=8 N=1 (2P+R, 2Q+S)");
  EXPECT_EQ(problem(1), "conv2d R=3 S=3 P=6 Q=6 C=8 M=8 N=1");
  EXPECT_EQ(json.at("layers")[1].at("count"), 2);
  EXPECT_EQ(problem(2), "depthwise R=3 S=3 P=6 Q=6 C=8 N=1");
  EXPECT_THAT(problem(3), HasSubstr("matmul I=1 J="));
  double energy = 0;
  for (const auto& layer : json.at("layers")) {
    energy += layer.at("count").get<double>() * layer.at("model").at("energy_pj").get<double>();
  }
  EXPECT_DOUBLE_EQ(json.at("totals").at("energy_pj").get<double>(), energy);

  // What was written says the same of the first layer.
  std::string name;
  for (const auto& file : std::filesystem::directory_iterator(out)) {
    const std::string path = file.path().string();
    if (path.find("/01-") != std::string::npos && path.ends_with(".mapping.yaml")) {
      name = path.substr(0, path.size() - std::string(".mapping.yaml").size());
    }
  }
  const Answer again =
      RunBayloom({"map", "--problem", name + ".problem.yaml", "--arch", out + "/architecture.yaml",
                  "--mapping", name + ".mapping.yaml", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(nlohmann::json::parse(again.out).at("value"), json.at("layers")[0].at("value"));

  const Answer text = RunBayloom({"map", model, "--arch", "eyeriss-like", "--evaluations", "30",
                                  "--objective", "edp", "--scheduler", "round-robin"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("depthwise R=3"));
  EXPECT_THAT(text.out, HasSubstr("all layers: "));
}

TEST(MapCommand, LearnsFromEarlierSearches) {
  const TemporaryFolder folder;
  const std::string database = folder / "transfer.db";
  const auto map = [&](const std::string& op, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"map",    "--op",          op,  "--arch", "gemmini",
                                          "--json", "--evaluations", "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunBayloom(arguments);
  };
  EXPECT_EQ(map("matmul:32,32,64", {"--learn-from", database}).exit_code, 2);
  for (const char* op : {"matmul:32,32,32", "matmul:64,32,32"}) {
    const Answer earlier = map(op, {"--db", database, "--mapper", "random-pruned"});
    ASSERT_EQ(earlier.exit_code, 0) << earlier.error;
  }
  const Answer answer = map("matmul:32,32,64", {"--learn-from", database});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out).at("mapper"), "bayesian");
  const Answer own = map("matmul:32,64,64", {"--db", database, "--learn-from", "earlier"});
  EXPECT_EQ(own.exit_code, 0) << own.error;
  EXPECT_EQ(map("matmul:32,32,64", {"--learn-from", "earlier"}).exit_code, 2) << "no --db";
  // The only searches there are for another objective, or of the same task.
  EXPECT_EQ(map("matmul:32,32,64", {"--learn-from", database, "--objective", "edp"}).exit_code, 2);
  EXPECT_EQ(map("matmul:32,32,64", {"--warm-start-model", "50", "--top-k", "3"}).exit_code, 0);
  EXPECT_EQ(map("matmul:32,32,64", {"--learn-from", database, "--mapper", "genetic"}).exit_code, 2);
  EXPECT_EQ(map("matmul:32,32,64", {"--resume"}).exit_code, 2);
}

TEST(SensitivityCommand, RanksAnOperationsParameters) {
  const Answer answer = RunBayloom(
      {"sensitivity", "--op", "matmul:16,32,64", "--arch", "gemmini", "--samples", "60", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json table = nlohmann::json::parse(answer.out);
  ASSERT_GT(table.size(), 9u);
  EXPECT_GE(table[0].at("total"), table[1].at("total"));
  EXPECT_THAT(
      RunBayloom({"sensitivity", "--op", "matmul:16,32,64", "--arch", "gemmini", "--samples", "20"})
          .out,
      HasSubstr("parameter"));
  EXPECT_EQ(RunBayloom({"sensitivity"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"sensitivity", "--op", "matmul:8,8,8"}).exit_code, 2);
}

}  // namespace
}  // namespace bayloom::cli
