// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/accelerator/fused_layers.h"
#include "bayloom/accelerator/fused_mapping.h"
#include "bayloom/base/file.h"
#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/record/store.h"
#include "examples/models/layers.h"
#include "examples/models/models.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

/// A stem, a residual block and a classifier.
std::string Residual(const TemporaryFolder& folder) {
  models::GraphBuilder g("residual", 13, /*seed=*/1);
  models::Value x = g.Input("image", {1, 3, 24, 24});
  x = g.Node("Relu", {models::ConvBn(g, "first", x, {3, 8, 3, 1, 1}, 1)});
  models::Value y = g.Node("Relu", {models::ConvBn(g, "second", x, {8, 8, 3, 1, 1}, 1)});
  y = models::ConvBn(g, "third", y, {8, 8, 3, 1, 1}, 1);
  x = g.Node("Relu", {g.Node("Add", {y, x})});
  models::Classify(g, "fc", x, 8);
  g.Save(folder / "residual.onnx");
  return folder / "residual.onnx";
}

TEST(FusedLayers, KeepBranchesAndLeaveActivationsOut) {
  const TemporaryFolder folder;
  const mapspace::FusedNetwork network =
      accelerator::FusedLayersOf(graph::ImportOnnx(Residual(folder)));
  // Three convolutions, the sum with the mean of it, the product.
  ASSERT_EQ(network.OperatorCount(), 5);
  EXPECT_FALSE(network.operators[3].product);
  EXPECT_EQ(network.operators[3].operands.size(), 2u);
  const int first = network.operators[0].output;
  EXPECT_EQ(network.tensors[first].consumers, (std::vector<int>{1, 3}));
  EXPECT_TRUE(network.tensors[network.operators[4].output].is_output);
  // A line of the second convolution needs three of the first, two at the border.
  mapspace::Box line = mapspace::WholeBox({1, 8, 24, 24});
  line[2] = {4, 5};
  const mapspace::Box read = mapspace::ReadBox(network.operators[1].operands[0], line);
  EXPECT_EQ(read[2], (mapspace::Interval{3, 6}));
  EXPECT_EQ(read[3], (mapspace::Interval{0, 24}));
  line[2] = {0, 1};
  EXPECT_EQ(mapspace::ReadBox(network.operators[1].operands[0], line)[2],
            (mapspace::Interval{0, 2}));
}

TEST(FusedLayers, ReadAttentionByHeadsAndRows) {
  const TemporaryFolder folder;
  models::BertTiny(1).Save(folder / "bert.onnx");
  const mapspace::FusedNetwork network =
      accelerator::FusedLayersOf(graph::ImportOnnx(folder / "bert.onnx"));
  int softmaxes = 0;
  for (int k = 1; k + 1 < network.OperatorCount(); ++k) {
    if (network.operators[k].name.find("Softmax") == std::string::npos) continue;
    ++softmaxes;
    // Scores, softmax and the second product follow each other; keys and values come from outside.
    const mapspace::FusedOperator& scores = network.operators[k - 1];
    const mapspace::FusedOperator& second = network.operators[k + 1];
    ASSERT_TRUE(scores.product && second.product);
    ASSERT_GE(scores.product->weights_operand, 0);
    ASSERT_GE(second.product->weights_operand, 0);
    mapspace::Box rows = mapspace::WholeBox({1, 2, 128, 64});
    rows[1] = {1, 2};
    rows[2] = {32, 48};
    const mapspace::Box read = mapspace::ReadBox(second.operands[0], rows);
    EXPECT_EQ(read, (mapspace::Box{{0, 1}, {1, 2}, {32, 48}, {0, 128}}));
    const mapspace::Box row_of_scores = mapspace::ReadBox(network.operators[k].operands[0], read);
    EXPECT_EQ(row_of_scores, read);
  }
  EXPECT_EQ(softmaxes, 2);
}

TEST(MapFused, BeatsLayerByLayerAndGoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string model = Residual(folder), database = folder / "map.db";
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"map",    model,           "--arch", "gemmini16x16",
                                     "--fuse", "--evaluations", "200",    "--tile-evaluations",
                                     "100"};
    line.insert(line.end(), more.begin(), more.end());
    return RunBayloom(line);
  };
  const std::string out = folder / "groups";
  const Answer answer = map({"--json", "--db", database, "--out", out});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  const nlohmann::json &fused = json.at("totals"), &layers = json.at("layer_by_layer");
  EXPECT_LE(fused.at("energy_pj"), layers.at("energy_pj"));
  double energy = 0;
  size_t operators = 0;
  bool is_fused = false;
  for (const auto& group : json.at("groups")) {
    energy += group.at("energy_pj").get<double>();
    operators += group.at("operators").size();
    is_fused |= group.contains("tile");
    if (!group.contains("tile")) {
      EXPECT_EQ(group.at("energy_pj"), group.at("layer_by_layer").at("energy_pj"));
    } else {
      EXPECT_LE(group.at("peak_words"), 256 * 1024);
    }
  }
  EXPECT_DOUBLE_EQ(fused.at("energy_pj").get<double>(), energy);
  EXPECT_EQ(operators, 5u);
  EXPECT_TRUE(is_fused) << "all of its tensors fit on the chip";
  EXPECT_TRUE(std::filesystem::exists(out + "/groups.json"));

  // Everything is in the database: nothing is searched again, and the result is the same.
  const Answer again = map({"--json", "--db", database, "--resume"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  const nlohmann::json resumed = nlohmann::json::parse(again.out);
  EXPECT_EQ(resumed.at("groups"), json.at("groups"));
  EXPECT_EQ(resumed.at("tiles"), json.at("tiles"));
  EXPECT_EQ(json.at("tiles_searched"), json.at("tiles"));
  EXPECT_EQ(resumed.at("tiles_searched"), 0);
  // Tiles of other settings are not taken.
  base::WriteFile(folder / "rules.yaml",
                  "constraints:\n- target: Registers\n  type: bypass\n  keep: [Weights]\n");
  const std::vector<std::vector<std::string>> others = {
      {"--tile-evaluations", "120"},
      {"--tile-evaluations", "100", "--counting", "timeloop"},
      {"--tile-evaluations", "100", "--mapper", "random-pruned"},
      {"--tile-evaluations", "100", "--constraints", folder / "rules.yaml"}};
  for (const std::vector<std::string>& other : others) {
    std::vector<std::string> line = {"map",    model,           "--arch",  "gemmini16x16",
                                     "--fuse", "--evaluations", "200",     "--json",
                                     "--db",   database,        "--resume"};
    line.insert(line.end(), other.begin(), other.end());
    const Answer another = RunBayloom(line);
    ASSERT_EQ(another.exit_code, 0) << another.error;
    const nlohmann::json searched = nlohmann::json::parse(another.out);
    EXPECT_GT(searched.at("tiles_searched"), 0) << other.back();
    EXPECT_EQ(searched.at("tiles_searched"), searched.at("tiles")) << other.back();
  }
  // Searches for one operation can still learn from the database.
  EXPECT_EQ(RunBayloom({"map", "--op", "conv2d:24x24x16,8,3x3,pad=1", "--arch", "gemmini16x16",
                        "--learn-from", database, "--evaluations", "5"})
                .exit_code,
            0);

  const Answer text = map({"--objective", "latency"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("fused to layer by layer: energy "));
}

TEST(MapFused, MakesUseOfZeros) {
  const TemporaryFolder folder;
  const std::string model = Residual(folder), database = folder / "sparse.db";
  base::WriteFile(folder / "zeros.yaml", R"(
sparse_optimizations:
  targets:
  - name: Scratchpad
    representation-format:
      data-spaces:
      - {name: Inputs, ranks: [{format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: UOP, payload_word_bits: 0},
          {format: UOP, payload_word_bits: 0}, {format: B}]}
    action-optimization:
    - {type: skipping, target: Weights, condition-on: [Inputs]}
  - name: MAC
    compute-optimization:
    - type: gating
)");
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {
        "map",     model,           "--arch", "gemmini16x16",       "--fuse",
        "--json",  "--evaluations", "100",    "--tile-evaluations", "50",
        "--sparse"};
    line.push_back(folder / "zeros.yaml");
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return nlohmann::json::parse(answer.exit_code == 0 ? answer.out : "{}");
  };
  const auto energy = [](const nlohmann::json& json) {
    return json.at("totals").at("energy_pj").get<double>();
  };
  const nlohmann::json dense = map({});
  const nlohmann::json all =
      map({"--density", "inputs=0.2", "--db", database, "--out", folder / "groups"});
  EXPECT_LT(energy(all), energy(dense));
  EXPECT_LE(energy(all), all.at("layer_by_layer").at("energy_pj").get<double>());
  // Every tile is found again, densities included.
  const nlohmann::json resumed = map({"--density", "inputs=0.2", "--db", database, "--resume"});
  EXPECT_EQ(resumed.at("groups"), all.at("groups"));
  EXPECT_EQ(resumed.at("tiles_searched"), 0);
  // Of one tensor alone, by the operator that computes it.
  const mapspace::FusedNetwork network = accelerator::FusedLayersOf(graph::ImportOnnx(model));
  const nlohmann::json one = map({"--density", network.operators[0].name + "=0.2"});
  EXPECT_LT(energy(one), energy(dense));
  EXPECT_GT(energy(one), energy(all));
  const auto refusal = [&](const std::string& density) {
    return RunBayloom({"map", model, "--arch", "gemmini16x16", "--fuse", "--sparse",
                       folder / "zeros.yaml", "--density", density})
        .error;
  };
  EXPECT_THAT(refusal("nothing=0.5"), HasSubstr("there is no tensor 'nothing'"));
  EXPECT_THAT(refusal("inputs=2"), HasSubstr("density"));
  // Cores share sparse groups, too.
  const nlohmann::json cores = map({"--density", "inputs=0.2", "--cores", "bus:2"});
  EXPECT_LE(cores.at("divisions").at("totals").at("cores").at("energy_pj").get<double>(),
            cores.at("divisions").at("totals").at("one_core").at("energy_pj").get<double>());
}

TEST(FusedMapping, SearchesNoTileTwiceAfterItWasStopped) {
  const TemporaryFolder folder;
  const graph::Graph graph = graph::ImportOnnx(Residual(folder));
  const std::string database = folder / "stopped.db";
  bool is_stopped = false;
  accelerator::FusedOptions options;
  options.layers.search.run.budget.trials = 400;
  options.layers.search.run.budget.stop = [&] { return is_stopped; };
  options.layers.database = database;
  options.layers.resume = true;
  options.tile_evaluations = 50;
  const mapspace::Architecture architecture = mapspace::ShippedArchitecture("gemmini16x16");
  {
    accelerator::FusedMapping run(graph, architecture, {}, options);
    run.RunLayers();
    const auto stop = [&](const accelerator::FusedMapping::Status& status) {
      is_stopped = status.searched >= 1;
    };
    EXPECT_EQ(run.RunGroups(stop), trial::StopReason::kStopped);
    EXPECT_EQ(run.GetStatus().searched, 1);
  }
  is_stopped = false;
  accelerator::FusedMapping run(graph, architecture, {}, options);
  run.RunLayers();
  EXPECT_EQ(run.RunGroups(), trial::StopReason::kExhausted);
  const accelerator::FusedMapping::Status status = run.GetStatus();
  EXPECT_GT(status.searched, 0);
  EXPECT_EQ(status.tiles, 1 + status.searched);
  EXPECT_LE(run.Plan().energy_pj, run.LayerByLayer().energy_pj);
  record::Store store(database, record::Store::Mode::kReadOnly);
  std::set<std::pair<std::string, std::string>> tiles;
  const std::vector<record::StoredTrial> trials =
      store.TrialsOfRun(store.Runs(record::RunKind::kMap).back().id);
  for (const record::StoredTrial& trial : trials) {
    const nlohmann::json tile = nlohmann::json::parse(trial.candidate);
    tiles.emplace(tile.at("problem").get<std::string>(), tile.at("home").get<std::string>());
  }
  EXPECT_EQ(std::ssize(trials), status.tiles);
  EXPECT_EQ(tiles.size(), trials.size());
}

TEST(MapFused, SaysHowManyLayersAreUnmappedAndWhy) {
  const TemporaryFolder folder;
  const Answer answer = RunBayloom(
      {"map", Residual(folder), "--arch", "gemmini16x16", "--fuse", "--time", "0.000001s"});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, HasSubstr("of 3 layers have no mapping"));
  EXPECT_THAT(answer.error, HasSubstr(std::string(trial::Describe(trial::StopReason::kTime))));
}

TEST(MapFused, RefusesBeforeItSearches) {
  const TemporaryFolder folder;
  const std::string model = Residual(folder);
  const auto refusal = [](std::vector<std::string> line) {
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 2);
    return answer.error;
  };
  EXPECT_THAT(refusal({"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--fuse"}),
              HasSubstr("--fuse is for a network"));
  EXPECT_THAT(refusal({"map", model, "--arch", "gemmini", "--fuse", "--evaluator", "timeloop"}),
              HasSubstr("built-in model"));
  EXPECT_THAT(
      refusal({"map", model, "--arch", "gemmini", "--fuse", "--objective", "energy,cycles"}),
      HasSubstr("one objective"));
  EXPECT_THAT(refusal({"map", model, "--arch", "gemmini", "--tile-evaluations", "9"}),
              HasSubstr("needs --fuse"));
}

}  // namespace
}  // namespace bayloom::cli
