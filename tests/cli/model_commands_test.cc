// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/codegen/host.h"
#include "examples/models/layers.h"
#include "tests/cli/run_bayloom.h"
#include "tests/execute.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

/// A folder with a small classifier and a model that is a single Relu.
class ModelCommands : public testing::Test {
 protected:
  ModelCommands() {
    std::filesystem::create_directory(folder_ / "data");

    models::GraphBuilder g("classifier", 13, /*seed=*/1);
    models::Value x = g.Input("image", {1, 3, 12, 12});
    x = g.Node("Relu", {models::ConvBn(g, "conv", x, {3, 8, 3, 1, 1}, 1)});
    models::Classify(g, "fc", x, 8);
    classifier_ = folder_ / "classifier.onnx";
    g.Save(classifier_);

    models::GraphBuilder h("relu", 13, 0);
    h.Output(h.Node("Relu", {h.Input("x", {4})}), {4});
    relu_ = folder_ / "relu.onnx";
    h.Save(relu_);
  }

  void WriteTensor(const std::string& name, const std::vector<float>& values) const {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (float value : values) tensor.add_float_data(value);
    std::ofstream file(folder_ / ("data/" + name), std::ios::binary);
    tensor.SerializeToOstream(&file);
  }

  TemporaryFolder folder_;
  std::string classifier_, relu_;
};

TEST_F(ModelCommands, ShowListsTasksAndTheirDesignSpaces) {
  const Answer tasks = RunBayloom({"show", classifier_});
  EXPECT_EQ(tasks.exit_code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("1x12x12x8 over 3x3x3"));
  EXPECT_THAT(RunBayloom({"show", classifier_, "--task", "1"}).out, HasSubstr("workload "));
  EXPECT_EQ(RunBayloom({"show", classifier_, "--task", "99"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"show", classifier_, "--history"}).exit_code, 2);
}

TEST_F(ModelCommands, RunComparesWithExpectedOutputs) {
  WriteTensor("input_0.pb", {-1, 2, -3, 4});
  WriteTensor("output_0.pb", {0, 2, 0, 4});
  const Answer same = RunBayloom({"run", relu_, "--data", folder_ / "data", "--json"});
  EXPECT_EQ(same.exit_code, 0) << same.error;
  EXPECT_EQ(nlohmann::json::parse(same.out)[0]["relative error"], 0);

  WriteTensor("output_0.pb", {0, 2, 0, 5});
  const Answer other = RunBayloom({"run", relu_, "--data", folder_ / "data", "--json"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(other.out)[0]["relative error"], 0.2);

  WriteTensor("output_0.pb", {0, 2, 0, 4});
  WriteTensor("output_1.pb", {0});
  const Answer surplus = RunBayloom({"run", relu_, "--data", folder_ / "data"});
  EXPECT_EQ(surplus.exit_code, 2);
  EXPECT_THAT(surplus.error, HasSubstr("1 output, but there are 2 files"));

  WriteTensor("input_0.pb", {1, 2, 3});
  const Answer short_input = RunBayloom({"run", relu_, "--data", folder_ / "data"});
  EXPECT_EQ(short_input.exit_code, 2);
  EXPECT_THAT(short_input.error, HasSubstr("float32[4]"));
  EXPECT_EQ(RunBayloom({"run", relu_, "--data", folder_.path()}).exit_code, 2);
}

TEST_F(ModelCommands, RunDescribesOutputsOfRandomInputs) {
  const Answer once = RunBayloom({"run", classifier_, "--seed", "3"});
  EXPECT_EQ(once.exit_code, 0) << once.error;
  EXPECT_THAT(once.out, HasSubstr("float32[1, 1000]"));
  EXPECT_EQ(RunBayloom({"run", classifier_, "--seed", "3"}).out, once.out);
  EXPECT_NE(RunBayloom({"run", classifier_, "--seed", "4"}).out, once.out);
}

/// A twentieth of the time is for measuring the best again, which on a busy machine can take longer
/// than the two seconds that it gets beside a number of trials.
constexpr const char* kAnyTime = "30m";

/// A depthwise convolution with a convolution of 1x1 behind it may be one task.
TEST_F(ModelCommands, RegionsAreDividedByWhatWasMeasured) {
  models::GraphBuilder g("separable", 13, /*seed=*/1);
  models::Value x = g.Input("image", {1, 8, 160, 160});
  x = g.Node("Relu", {models::ConvBn(g, "depthwise", x, {8, 8, 3, 1, 1, 8}, 1)});
  g.Output(models::ConvBn(g, "project", x, {8, 4}, 1), {1, 4, 160, 160});
  const std::string model = folder_ / "separable.onnx", database = folder_ / "separable.db";
  g.Save(model);
  const Answer tasks = RunBayloom({"show", model, "--json"});
  const nlohmann::json listed = nlohmann::json::parse(tasks.out);
  ASSERT_EQ(listed.size(), 3u) << tasks.out;
  EXPECT_EQ(listed[2]["instead of"], "1, 2");
  EXPECT_THAT(RunBayloom({"show", model, "--task", "3"}).out, HasSubstr("workload "));

  const auto tune = [&](const std::string& divisions) {
    const Answer tuned =
        RunBayloom({"tune", model, "--trials", "12", "--time", kAnyTime, "--threads", "1",
                    "--strategy", "random", "--db", database, "--divisions", divisions, "--json"});
    EXPECT_EQ(tuned.exit_code, 0) << tuned.error;
    return nlohmann::json::parse(tuned.out)["gain"];
  };
  EXPECT_FALSE(tune("none").contains("regions"));
  EXPECT_EQ(RunBayloom({"tune", model, "--divisions", "some"}).exit_code, 2);
  const int64_t between = 8 * 160 * 160 * 4;
  if (2 * between <= codegen::HostTarget(1).l2_bytes) GTEST_SKIP() << "caches hold all of it";
  const nlohmann::json regions = tune("all").at("regions");
  ASSERT_EQ(regions.size(), 1u);
  const bool is_together =
      regions[0]["together_seconds"].get<double>() < regions[0]["apart_seconds"].get<double>();
  EXPECT_EQ(regions[0]["chosen"], is_together ? "together" : "apart");
  const Answer bench =
      RunBayloom({"bench", model, "--db", database, "--threads", "1", "--time", "0.05s", "--json"});
  ASSERT_EQ(bench.exit_code, 0) << bench.error;
  const nlohmann::json timed = nlohmann::json::parse(bench.out);
  EXPECT_EQ(timed["regions"][0]["chosen"], regions[0]["chosen"]);
  EXPECT_EQ(timed["tasks"].size(), is_together ? 1u : 2u);
  EXPECT_THAT(bench.error, HasSubstr(is_together ? "1 of 1 region" : "0 of 1 region"));
  const Answer apart = RunBayloom({"bench", model, "--db", database, "--threads", "1", "--time",
                                   "0.05s", "--divisions", "none", "--json"});
  EXPECT_EQ(nlohmann::json::parse(apart.out)["tasks"].size(), 2u) << apart.error;
}

TEST_F(ModelCommands, NetworksAreChosenFromAFront) {
  const std::string database = folder_ / "front.db";
  const auto tune = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {
        "tune", classifier_,  "--trials", "24",          "--time",       kAnyTime, "--threads",
        "1",    "--strategy", "random",   "--objective", "latency,size", "--db",   database};
    all.insert(all.end(), more.begin(), more.end());
    const Answer tuned = RunBayloom(all);
    EXPECT_EQ(tuned.exit_code, 0) << tuned.error;
    return tuned.out;
  };
  const nlohmann::json front = nlohmann::json::parse(tune({"--json"})).at("front");
  ASSERT_FALSE(front.empty());
  for (size_t i = 1; i < front.size(); ++i) {
    EXPECT_GT(front[i]["latency"], front[i - 1]["latency"]);
    EXPECT_LT(front[i]["size"], front[i - 1]["size"]);
  }
  EXPECT_THAT(tune({"--resume"}), HasSubstr("Pareto front, "));

  const auto compile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"compile", classifier_, "--db", database, "--threads",
                                    "1",       "--effort",  "none", "--out",  folder_.path()};
    all.insert(all.end(), more.begin(), more.end());
    return RunBayloom(all);
  };
  const auto size = [&] { return std::filesystem::file_size(folder_ / "libclassifier.so"); };
  ASSERT_EQ(compile({}).exit_code, 0);
  const auto fastest = size();
  const Answer smallest = compile({"--prefer", "size", "--json"});
  ASSERT_EQ(smallest.exit_code, 0) << smallest.error;
  // The default program, which no trial has, may be faster and smaller still.
  EXPECT_LE(nlohmann::json::parse(smallest.out)["variants"][0]["cost"]["size"],
            front.back()["size"]);
  EXPECT_THAT(smallest.error, HasSubstr("chosen by cost: latency "));
  EXPECT_LE(size(), fastest);
  EXPECT_EQ(compile({"--max-size", "1GB"}).exit_code, 0);
  const Answer impossible = compile({"--max-size", "100"});
  EXPECT_EQ(impossible.exit_code, 2);
  EXPECT_THAT(impossible.error, HasSubstr("the smallest programs have "));
  EXPECT_EQ(compile({"--max-size", "little"}).exit_code, 2);
  EXPECT_EQ(compile({"--max-slowdown", "10%"}).exit_code, 2);
  EXPECT_EQ(compile({"--max-slowdown", "10%", "--prefer", "size"}).exit_code, 0);
}

TEST_F(ModelCommands, TunedProgramsAreTimedAndShipped) {
  const std::string database = folder_ / "tuning.db";
  const Answer tuned = RunBayloom({"tune", classifier_, "--trials", "20", "--time", kAnyTime,
                                   "--strategy", "random", "--db", database, "--json"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.error;
  const nlohmann::json gain = nlohmann::json::parse(tuned.out)["gain"];
  EXPECT_EQ(gain["compared_tasks"], nlohmann::json::parse(tuned.out)["tasks"].size());
  const nlohmann::json over_default = gain["over_default"];
  EXPECT_DOUBLE_EQ(over_default["ratio"],
                   over_default["default"].get<double>() / over_default["tuned"].get<double>());
  if (gain.contains("over_zero_trial")) {  // else nothing was found that is clearly faster
    EXPECT_GT(gain["over_zero_trial"]["zero_trial"], 0);
    EXPECT_LE(gain["over_zero_trial"]["low"], gain["over_zero_trial"]["high"]);
  }

  // For people it says what to type next.
  const Answer again =
      RunBayloom({"tune", classifier_, "--trials", "20", "--time", kAnyTime, "--strategy", "random",
                  "--threads", "1", "--db", folder_ / "one.db"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_THAT(again.out, HasSubstr("\ngain: "));
  EXPECT_THAT(again.out, HasSubstr(" % of what the machine can do at best\n"));
  const std::string selection = " " + classifier_ + " --threads 1 --db " + (folder_ / "one.db");
  for (const std::string& next :
       {"compile" + selection + " ", "bench" + selection + " --untuned ",
        "report " + (folder_ / "one.db"), "tune" + selection + " --resume --trials 40 "}) {
    EXPECT_THAT(again.out, HasSubstr("\n  bayloom " + next));
  }

  const Answer bench = RunBayloom(
      {"bench", classifier_, "--db", database, "--untuned", "--time", "0.05s", "--json"});
  ASSERT_EQ(bench.exit_code, 0) << bench.error;
  const nlohmann::json timed = nlohmann::json::parse(bench.out);
  EXPECT_GT(timed["latency"]["seconds"], 0);
  EXPECT_GT(timed["gain"]["zero_trial"], 0);
  EXPECT_LE(timed["gain"]["low"], timed["gain"]["ratio"]);
  EXPECT_LE(timed["gain"]["ratio"], timed["gain"]["high"]);
  EXPECT_GE(timed["gain"]["rounds"], 10);
  EXPECT_GE(timed["latency"]["runs"], 10);
  double share = 0;
  for (const nlohmann::json& task : timed["tasks"]) share += task["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  const nlohmann::json& outside = timed["outside_products"];
  EXPECT_GE(outside["share"], outside["moves"]);
  EXPECT_LT(outside["share"], 1);
  double of_operators = 0;
  for (const nlohmann::json& op : outside["operators"]) of_operators += op["share"].get<double>();
  EXPECT_NEAR(of_operators, outside["share"], 1e-9);
  EXPECT_THAT(bench.out, HasSubstr(R"("tuned": "yes")"));

  const Answer compiled = RunBayloom(
      {"compile", classifier_, "--db", database, "--out", folder_.path(), "--name", "net"});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.error;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "libnet.so"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "net.h"));
  EXPECT_EQ(
      RunBayloom({"compile", classifier_, "--out", folder_.path(), "--name", "no name"}).exit_code,
      2);
}

TEST_F(ModelCommands, CompilesForSeveralProcessors) {
  const Answer compiled = RunBayloom({"compile", classifier_, "--out", folder_.path(), "--name",
                                      "net", "--json", "--target", "x86-64-v2,x86-64-v4"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.error;
  EXPECT_EQ(nlohmann::json::parse(compiled.out)["variants"].size(), 2u);
  for (const char* targets : {"x86-64-v2,x86-64-v2", "x86-64-v2,abacus", "x86-64-v2,", ""}) {
    const Answer refused =
        RunBayloom({"compile", classifier_, "--out", folder_.path(), "--target", targets});
    EXPECT_EQ(refused.exit_code, 2) << targets;
    EXPECT_THAT(refused.error, HasSubstr("target")) << targets;
  }
  EXPECT_EQ(RunBayloom({"compile", classifier_, "--threads", "257"}).exit_code, 2);
}

TEST_F(ModelCommands, CompilesForAArch64ButDoesNotMeasureForIt) {
  if (codegen::HostKind() == target::TargetKind::kAArch64) GTEST_SKIP() << "this machine is one";
  const std::string target = "aarch64-linux-gnu:neoverse-n1";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"tune", "--db", folder_ / "new.db"}, {"bench"}, {"run"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {classifier_, "--target", target});
    const Answer refused = RunBayloom(arguments);
    EXPECT_EQ(refused.exit_code, 2) << command[0];
    EXPECT_THAT(refused.error, HasSubstr("on such a machine only")) << command[0];
    EXPECT_THAT(refused.error, HasSubstr("bayloom compile --target " + target)) << command[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db"));
  const Answer typo =
      RunBayloom({"compile", classifier_, "--target", "aarch64-linux-gnu:neoverse-m1"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.error, HasSubstr("neoverse-n1"));
  const Answer mixed =
      RunBayloom({"compile", classifier_, "--target", "x86-64-v3,aarch64-linux-gnu"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.error, HasSubstr("cannot be in one library"));

  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  const Answer compiled =
      RunBayloom({"compile", classifier_, "--out", folder_.path(), "--name", "net", "--json",
                  "--threads", "4", "--effort", "low", "--target", "aarch64-linux-gnu," + target});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.error;
  const nlohmann::json variants = nlohmann::json::parse(compiled.out)["variants"];
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[1]["target"], target);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "libnet.so"));
}

TEST_F(ModelCommands, ADatabaseThatIsNamedMustBeThere) {
  EXPECT_EQ(RunBayloom({"bench", classifier_, "--db", folder_ / "other.db"}).exit_code, 2);
  EXPECT_EQ(RunBayloom({"run", classifier_, "--shape", "image=1xx3"}).exit_code, 2);
}

}  // namespace
}  // namespace bayloom::cli
