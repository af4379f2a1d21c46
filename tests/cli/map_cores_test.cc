// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/accelerator/multicore_mapping.h"
#include "bayloom/base/file.h"
#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"
#include "examples/models/layers.h"
#include "examples/models/models.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

std::string TwoConvolutions(const TemporaryFolder& folder) {
  models::GraphBuilder g("two", 13, /*seed=*/1);
  models::Value x = g.Input("image", {1, 8, 16, 16});
  x = g.Node("Relu", {models::ConvBn(g, "first", x, {8, 16, 3, 1, 1}, 1)});
  x = g.Node("Relu", {models::ConvBn(g, "second", x, {16, 8, 3, 1, 1}, 1)});
  models::Classify(g, "fc", x, 8);
  g.Save(folder / "two.onnx");
  return folder / "two.onnx";
}

TEST(MapCoresCommand, DividesLayersAndWritesTheirParts) {
  const TemporaryFolder folder;
  const std::string out = folder / "mapped";
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {
        "map", TwoConvolutions(folder), "--arch", "gemmini", "--evaluations",
        "200", "--objective",           "delay"};
    line.insert(line.end(), more.begin(), more.end());
    return RunBayloom(line);
  };
  const Answer answer =
      map({"--cores", "mesh:2x2,bandwidth=16,energy=0.5", "--json", "--out", out});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  const nlohmann::json& totals = json.at("totals");
  EXPECT_LT(totals.at("cores").at("cycles"), totals.at("one_core").at("cycles"));
  double energy = 0;
  for (const nlohmann::json& layer : json.at("layers")) {
    energy += layer.at("count").get<double>() * layer.at("cost").at("energy_pj").get<double>();
    EXPECT_LE(layer.at("cores"), 4);
  }
  EXPECT_DOUBLE_EQ(energy, totals.at("cores").at("energy_pj").get<double>());
  EXPECT_TRUE(std::filesystem::exists(out + "/architecture.yaml"));

  // One core is what the command without cores finds.
  const Answer one = map({"--cores", "bus:1", "--json"});
  const Answer plain = map({"--json"});
  ASSERT_EQ(one.exit_code, 0) << one.error;
  ASSERT_EQ(plain.exit_code, 0) << plain.error;
  const nlohmann::json single = nlohmann::json::parse(one.out).at("totals").at("cores");
  const nlohmann::json without = nlohmann::json::parse(plain.out).at("totals");
  EXPECT_EQ(single.at("cycles").get<double>(), without.at("cycles").get<double>());
  EXPECT_DOUBLE_EQ(single.at("energy_pj").get<double>(), without.at("energy_pj").get<double>());

  const Answer text = map({"--cores", "bus:2"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("2 cores (bus:2): "));
}

TEST(MapCoresCommand, PipelinesFusedGroups) {
  const TemporaryFolder folder;
  const Answer answer = RunBayloom({"map", TwoConvolutions(folder), "--arch", "gemmini16x16",
                                    "--fuse", "--evaluations", "200", "--tile-evaluations", "50",
                                    "--cores", "mesh:2x1,bandwidth=16,energy=0.5", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  const nlohmann::json& pipeline = json.at("pipeline");
  int64_t cycles = 0;
  for (const nlohmann::json& stage : pipeline.at("stages")) {
    cycles += stage.at("cycles").get<int64_t>();
  }
  EXPECT_EQ(cycles, json.at("totals").at("cycles"));
  EXPECT_EQ(pipeline.at("latency_cycles"), json.at("totals").at("cycles"));
  EXPECT_LE(pipeline.at("interval_cycles"), pipeline.at("latency_cycles"));
  EXPECT_DOUBLE_EQ(pipeline.at("energy_pj").get<double>(),
                   json.at("totals").at("energy_pj").get<double>() +
                       pipeline.at("network_energy_pj").get<double>());
}

TEST(MapCoresCommand, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string database = folder / "map.db", model = TwoConvolutions(folder);
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"map",           model,    "--arch",      "gemmini",
                                     "--evaluations", "200",    "--objective", "delay",
                                     "--db",          database, "--json"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return nlohmann::json::parse(answer.out);
  };
  const nlohmann::json first = map({"--cores", "mesh:2x2,bandwidth=16"});
  EXPECT_EQ(first.at("splits_searched"), first.at("layers").size());
  const nlohmann::json again = map({"--cores", "mesh:2x2,bandwidth=16", "--resume"});
  EXPECT_EQ(again.at("splits_searched"), 0);
  EXPECT_EQ(again.at("layers"), first.at("layers"));
  EXPECT_EQ(again.at("totals"), first.at("totals"));
  // Splits over another network are others.
  EXPECT_GT(map({"--cores", "bus:2", "--resume"}).at("splits_searched"), 0);
}

TEST(MulticoreMapping, SearchesNoSplitTwiceAfterItWasStopped) {
  const TemporaryFolder folder;
  bool is_stopped = false;
  accelerator::MapOptions options;
  options.search.run.budget.trials = 600;
  options.search.run.budget.stop = [&] { return is_stopped; };
  options.search.objectives = {mapspace::MapObjective::kDelay};
  options.database = folder / "stopped.db";
  options.resume = true;
  const std::vector<accelerator::NetworkLayer> layers =
      accelerator::LayersOf(graph::ImportOnnx(TwoConvolutions(folder)));
  const mapspace::NetworkOnChip chip = mapspace::ParseNetworkOnChip("mesh:2x2");
  const mapspace::Architecture architecture = mapspace::ShippedArchitecture("gemmini");
  {
    accelerator::MulticoreMapping run(layers, architecture, {}, options, chip);
    run.RunLayers();
    const auto stop = [&](int done) { is_stopped = done >= 1; };
    EXPECT_EQ(run.RunSplits(stop), trial::StopReason::kStopped);
    EXPECT_EQ(run.searched(), 1);
    EXPECT_EQ(run.splits().size(), layers.size()) << "divided as one core's mapping does best";
  }
  is_stopped = false;
  accelerator::MulticoreMapping run(layers, architecture, {}, options, chip);
  run.RunLayers();
  EXPECT_EQ(run.RunSplits(), trial::StopReason::kExhausted);
  EXPECT_EQ(run.searched(), std::ssize(layers) - 1);
  const accelerator::MulticoreMapping::Totals totals = run.Sum();
  EXPECT_LE(totals.cores.cycles, totals.single.cycles);
}

TEST(MapCoresCommand, SharesFusedGroupsBetweenCores) {
  const TemporaryFolder folder;
  const std::string database = folder / "map.db", model = TwoConvolutions(folder);
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"map",    model,           "--arch", "gemmini16x16",
                                     "--fuse", "--evaluations", "200",    "--tile-evaluations",
                                     "50",     "--objective",   "delay"};
    line.insert(line.end(), more.begin(), more.end());
    return RunBayloom(line);
  };
  const auto json_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "--db", database});
    const Answer answer = map(more);
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return nlohmann::json::parse(answer.out);
  };
  const std::string chip = "mesh:2x2,bandwidth=16,energy=0.5", out = folder / "groups";
  const nlohmann::json json = json_of({"--cores", chip, "--out", out});
  const nlohmann::json& divisions = json.at("divisions");
  const nlohmann::json &cores = divisions.at("totals").at("cores"),
                       &single = divisions.at("totals").at("one_core");
  EXPECT_EQ(single.at("cycles"), json.at("totals").at("cycles"));
  EXPECT_LT(cores.at("cycles"), single.at("cycles"));
  int64_t cycles = 0;
  for (const nlohmann::json& group : divisions.at("groups")) {
    EXPECT_LE(group.at("cost").at("cycles"), group.at("one_core").at("cycles"));
    EXPECT_EQ(group.at("way") == "one core", group.at("cores") == 1);
    cycles += group.at("cost").at("cycles").get<int64_t>();
  }
  EXPECT_EQ(cores.at("cycles"), cycles);
  EXPECT_EQ(divisions.at("groups").size(), json.at("groups").size());
  EXPECT_TRUE(std::filesystem::exists(out + "/group-01.architecture.yaml"));
  // Tiles of divided groups are in the database, too.
  const nlohmann::json again = json_of({"--cores", chip, "--resume"});
  EXPECT_EQ(again.at("divisions"), divisions);
  EXPECT_EQ(again.at("tiles_searched"), 0);
  // One core is the command without cores.
  const nlohmann::json one = json_of({"--cores", "bus:1", "--resume"}),
                       without = json_of({"--resume"});
  EXPECT_EQ(one.at("groups"), without.at("groups"));
  EXPECT_EQ(one.at("divisions").at("totals").at("cores").at("energy_pj"),
            without.at("totals").at("energy_pj"));
  EXPECT_EQ(one.at("divisions").at("totals").at("cores").at("cycles"),
            without.at("totals").at("cycles"));
  const Answer text = map({"--cores", chip});
  EXPECT_THAT(text.out, HasSubstr("groups shared by cores, one after the other: "));
  EXPECT_THAT(text.out, HasSubstr("pipelined groups, for throughput:\n"));
}

TEST(MapCoresCommand, RefusesInOneLine) {
  const auto refusal = [](std::vector<std::string> more) {
    std::vector<std::string> line = {"map", "--op", "matmul:16,16,16", "--arch", "gemmini"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 2);
    return answer.error;
  };
  EXPECT_THAT(refusal({"--cores", "ring:4"}), HasSubstr("there are mesh and bus"));
  EXPECT_THAT(refusal({"--cores", "bus:4", "--objective", "energy,cycles"}),
              HasSubstr("--cores minimizes one objective"));
  EXPECT_THAT(refusal({"--define", "a"}), HasSubstr("--define: 'a' is not NAME=VALUE"));
}

TEST(MapCommand, ReadsLayersOfOtherMappers) {
  const TemporaryFolder folder;
  base::WriteFile(folder / "net.m",
                  "Network A { Layer X { Type: GEMM Dimensions { M: 16, N: 16, K: 16 } }\n"
                  "Layer Y { Type: GEMM Dimensions { M: 16, N: 16, K: 16 } } }\n");
  const Answer answer =
      RunBayloom({"map", folder / "net.m", "--arch", "gemmini", "--evaluations", "50", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json layers = nlohmann::json::parse(answer.out).at("layers");
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].at("count"), 2);
  EXPECT_EQ(layers[0].at("name"), "X");
  const Answer fused = RunBayloom({"map", folder / "net.m", "--arch", "gemmini", "--fuse"});
  EXPECT_EQ(fused.exit_code, 2);
  EXPECT_THAT(fused.error, HasSubstr("--fuse needs an ONNX model"));
}

}  // namespace
}  // namespace bayloom::cli
