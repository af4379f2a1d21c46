// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// `bayloom ... --target cuda` from end to end, with what stands for the driver's library. The
// kernels are those that a GPU gets, but compiled for this processor; every access is checked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bayloom/base/file.h"
#include "examples/models/layers.h"
#include "tests/execute.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int64_t kInputs = 1 * 3 * 12 * 12, kOutputs = 1000;

class CudaProgram : public testing::Test {
 protected:
  CudaProgram() {
    models::GraphBuilder g("classifier", 13, /*seed=*/1);
    models::Value x = g.Input("image", {1, 3, 12, 12});
    x = g.Node("Relu", {models::ConvBn(g, "conv", x, {3, 8, 3, 1, 1}, 1)});
    models::Classify(g, "fc", x, 8);
    g.Save(model_);
  }

  /// The program with the stand-in's driver and further variables.
  base::CommandResult Run(std::vector<std::string> arguments,
                          const std::vector<std::string>& variables = {}) const {
    base::Command command;
    command.arguments = std::move(arguments);
    command.arguments.insert(command.arguments.begin(), BAYLOOM_PROGRAM);
    command.environment = variables;  // of two with one name the first counts
    for (const char* const own :
         {"BAYLOOM_CUDA_DRIVER=" BAYLOOM_TEST_CUDA, "BAYLOOM_NVML=" BAYLOOM_TEST_CUDA,
          "BAYLOOM_CUDA_IMAGE=stand-in", "BAYLOOM_STORE=off"}) {
      command.environment.emplace_back(own);
    }
    return base::RunCommand(command);
  }

  /// The outputs' least, mean and greatest values.
  nlohmann::json Outputs(const std::string& target) const {
    const base::CommandResult run =
        Run({"run", model_, "--target", target, "--db", database_, "--json"});
    EXPECT_TRUE(Succeeded(run)) << Describe(run);
    return nlohmann::json::parse(run.output);
  }

  void ExpectRightOutputs() const {
    const nlohmann::json expected = Outputs("native"), actual = Outputs("cuda:sm_90");
    ASSERT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      for (const char* const value : {"least", "mean", "greatest"}) {
        EXPECT_NEAR(actual[i][value].get<double>(), expected[i][value].get<double>(), 1e-4)
            << value;
      }
    }
  }

  /// Refused with status 2 and one line that holds the text.
  static void ExpectRefused(const base::CommandResult& result, const std::string& text) {
    EXPECT_FALSE(result.status.signaled);
    EXPECT_EQ(result.status.code, 2) << Describe(result);
    EXPECT_THAT(base::LastLine(result.error_output), HasSubstr(text));
    EXPECT_EQ(result.output, "");
  }

  TemporaryFolder folder_;
  std::string model_ = folder_ / "classifier.onnx";
  std::string database_ = folder_ / "classifier.db";
};

/// The same products of rounded operands as on the processor, in another order.
TEST_F(CudaProgram, RoundsToTf32WhenAsked) {
  std::vector<nlohmann::json> outputs;
  for (const std::string target : {"native", "cuda:sm_90"}) {
    const base::CommandResult run =
        Run({"run", model_, "--target", target, "--precision", "tf32", "--json"});
    ASSERT_TRUE(Succeeded(run)) << Describe(run);
    outputs.push_back(nlohmann::json::parse(run.output));
    EXPECT_EQ(outputs.back()["precision"]["type"], "tf32");
    EXPECT_TRUE(outputs.back()["precision"]["networks"][0]["float32"].empty());
  }
  for (const char* const value : {"least", "mean", "greatest"}) {
    EXPECT_NEAR(outputs[0]["outputs"][0][value].get<double>(),
                outputs[1]["outputs"][0][value].get<double>(), 1e-5)
        << value;
  }
}

class CudaTuning : public CudaProgram, public testing::WithParamInterface<std::string> {};

TEST_P(CudaTuning, FindsRightPrograms) {
  const base::CommandResult tuned =
      Run({"tune", model_, "--target", "cuda:sm_90", "--strategy", GetParam(), "--trials", "24",
           "--seed", "1", "--db", database_, "--json"});
  ASSERT_TRUE(Succeeded(tuned)) << Describe(tuned);
  const nlohmann::json result = nlohmann::json::parse(tuned.output);
  EXPECT_EQ(result["trials"], 24);
  for (const nlohmann::json& task : result["tasks"]) {
    EXPECT_TRUE(task["best"].is_number()) << task.dump();
  }
  EXPECT_GT(result["total"].get<double>(), 0);
  ExpectRightOutputs();
}

INSTANTIATE_TEST_SUITE_P(Strategies, CudaTuning, testing::Values("bayes", "evolutionary", "random"),
                         [](const auto& strategy) { return strategy.param; });

TEST_F(CudaProgram, AFailedKernelCostsOneTrialOfATuning) {
  const std::string file = folder_ / "fault";
  std::ofstream{file};
  const base::CommandResult tuned =
      Run({"tune", "--op", "matmul:16,16,16", "--target", "cuda:sm_90", "--trials", "6", "--db",
           database_, "--json"},
          {"STAND_IN_FAULT=illegal-address:" + file});
  ASSERT_TRUE(Succeeded(tuned)) << Describe(tuned);
  EXPECT_EQ(nlohmann::json::parse(tuned.output)["trials"], 6);
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string records = folder_ / "records.jsonl";
  ASSERT_TRUE(Succeeded(Run({"records", "export", database_, "--out", records})));
  EXPECT_THAT(base::ReadFile(records), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(CudaProgram, BenchTimesEveryCall) {
  const base::CommandResult bench =
      Run({"bench", model_, "--target", "cuda:sm_90", "--time", "50ms", "--untuned", "--json"});
  ASSERT_TRUE(Succeeded(bench)) << Describe(bench);
  const nlohmann::json result = nlohmann::json::parse(bench.output);
  EXPECT_GT(result["latency"]["seconds"].get<double>(), 0);
  EXPECT_NEAR(result["peak_flops_per_second"].get<double>(), 4 * 128 * 2 * 1e9, 1e6);
  for (const nlohmann::json& task : result["tasks"]) EXPECT_GT(task["time"].get<double>(), 0);
}

TEST_F(CudaProgram, ProductsOfOneMatrixAreOneTask) {
  models::GraphBuilder g("products", 13, /*seed=*/1);
  const models::Value x = g.Input("x", {16, 24});
  const auto product = [&](const std::string& weights) {
    return g.Node("MatMul", {x, g.Weight(weights, {24, 16}, 24, 1)});
  };
  const models::Value left = product("left"), right = product("right");
  g.Output(g.Node("MatMul", {left, right}), {16, 16});
  g.Save(model_);
  const base::CommandResult tuned =
      Run({"tune", model_, "--target", "cuda:sm_90", "--trials", "4", "--db", database_});
  ASSERT_TRUE(Succeeded(tuned)) << Describe(tuned);
  ExpectRightOutputs();
  const auto tasks = [&](const std::string& target) {
    const base::CommandResult bench =
        Run({"bench", model_, "--target", target, "--db", database_, "--time", "10ms", "--json"});
    EXPECT_TRUE(Succeeded(bench)) << Describe(bench);
    const nlohmann::json result = nlohmann::json::parse(bench.output);
    std::map<std::string, std::string> calls;
    for (const nlohmann::json& task : result["tasks"]) {
      calls[task["task"]] =
          std::to_string(task["calls"].get<int>()) + ", tuned: " + task["tuned"].get<std::string>();
    }
    return calls;
  };
  EXPECT_THAT(tasks("native"), ElementsAre(Pair("matmul 16x16 over 16", "1, tuned: no"),
                                           Pair("matmul 16x16 over 24", "2, tuned: no")));
  EXPECT_THAT(tasks("cuda:sm_90"), ElementsAre(Pair("matmul 16x16 over 16", "1, tuned: yes"),
                                               Pair("matmul 2x16x16 over 24", "1, tuned: yes")));
}

TEST_F(CudaProgram, ShowNeedsNoGpu) {
  const base::CommandResult shown =
      Run({"show", "--op", "matmul:64,64,64", "--target", "cuda:sm_80"}, {"STAND_IN_DEVICES=0"});
  ASSERT_TRUE(Succeeded(shown)) << Describe(shown);
  EXPECT_THAT(shown.output, HasSubstr("Design space 1 of 3"));
}

TEST_F(CudaProgram, LibrariesBringTheirKernelsAndLoadTheDriver) {
  const std::vector<float> image = [] {
    std::vector<float> values(kInputs);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17 - 0.4F;
    return values;
  }();
  base::WriteFile(folder_ / "x", {reinterpret_cast<const char*>(image.data()), kInputs * 4});
  std::vector<std::vector<float>> results;
  for (const std::string target : {"native", "cuda:sm_90"}) {
    const std::string out = folder_ / target.substr(0, 4);
    const base::CommandResult compiled =
        Run({"compile", model_, "--target", target, "--out", out, "--name", "net"});
    ASSERT_TRUE(Succeeded(compiled)) << Describe(compiled);
    const std::string program = out + "/program";
    const base::CommandResult built =
        Execute({"cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", out,
                 BAYLOOM_TEST_FILES_C, "-o", program, out + "/libnet.so", "-Wl,-rpath," + out});
    ASSERT_TRUE(Succeeded(built)) << Describe(built);
    base::Command command;
    command.arguments = {program, folder_ / "x", "--", folder_ / "y", std::to_string(kOutputs * 4)};
    command.environment = {"BAYLOOM_CUDA_DRIVER=" BAYLOOM_TEST_CUDA};
    const base::CommandResult ran = base::RunCommand(command);
    ASSERT_TRUE(Succeeded(ran)) << Describe(ran);
    EXPECT_EQ(ran.output, target + "\n");
    const std::string bytes = base::ReadFile(folder_ / "y");
    ASSERT_EQ(bytes.size(), kOutputs * sizeof(float));
    std::memcpy(results.emplace_back(kOutputs).data(), bytes.data(), bytes.size());
    if (target == "native") continue;
    command.environment = {"BAYLOOM_CUDA_DRIVER=/nowhere/libcuda.so.1"};
    const base::CommandResult refused = base::RunCommand(command);
    EXPECT_EQ(refused.status.code, 4);
    EXPECT_THAT(refused.error_output, HasSubstr("there is no NVIDIA driver here"));
  }
  for (size_t i = 0; i < kOutputs; ++i) EXPECT_NEAR(results[1][i], results[0][i], 1e-5);
}

TEST_F(CudaProgram, SaysWhatIsMissing) {
  const auto bench = [&](const std::vector<std::string>& variables,
                         const std::vector<std::string>& further = {}) {
    std::vector<std::string> arguments = {"bench",      model_,   "--target",
                                          "cuda:sm_90", "--time", "10ms"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return Run(arguments, variables);
  };
  ExpectRefused(bench({"BAYLOOM_CUDA_DRIVER=/nowhere/libcuda.so.1"}),
                "there is no NVIDIA driver here");
  ExpectRefused(bench({"STAND_IN_VERSION=11080"}), "it is for CUDA 11.8, and 12.0 is needed");
  ExpectRefused(bench({"STAND_IN_DEVICES=0"}), "CUDA_ERROR_NO_DEVICE");
  ExpectRefused(bench({"STAND_IN_ARCHITECTURE=sm_80"}), "Stand-in 0 is sm_80");
  ExpectRefused(bench({"STAND_IN_ARCHITECTURE=sm_100", "BAYLOOM_CUDA_IMAGE=cubin"}),
                "Stand-in 0 is sm_100, which runs no cubin of sm_90; set BAYLOOM_CUDA_IMAGE=ptx");
  ExpectRefused(Run({"bench", model_, "--target", "cuda:sm_90a", "--time", "10ms"},
                    {"STAND_IN_ARCHITECTURE=sm_100"}),
                "--target cuda:sm_90a: Stand-in 0 is sm_100");
  ExpectRefused(bench({"STAND_IN_MEMORY=2000"}), "does not fit into the memory of the GPU");
  ExpectRefused(bench({"BAYLOOM_CUDA_IMAGE=cubin", "PATH=/nowhere"}), "there is no ptxas");
  ExpectRefused(bench({}, {"--device", "3"}), "CUDA_ERROR_NO_DEVICE");
  ExpectRefused(Run({"tune", model_, "--target", "cuda"}, {"STAND_IN_DEVICES=0"}),
                "CUDA_ERROR_NO_DEVICE");
  ExpectRefused(Run({"tune", model_, "--target", "cuda:sm_11"}), "there is no GPU architecture");
  ExpectRefused(Run({"bench", model_, "--device", "1"}), "--target native is no GPU");
}

/// The GPUs that processes have initialized, as the stand-in has logged them.
std::set<std::string> Used(const std::string& log) {
  std::istringstream lines(base::ReadFile(log));
  std::set<std::string> used;
  for (std::string line; std::getline(lines, line);) used.insert(line);
  return used;
}

TEST_F(CudaProgram, RunsOnTheGpuThatIsNamed) {
  const std::string log = folder_ / "log";
  const base::CommandResult run = Run({"run", model_, "--target", "cuda", "--device", "1"},
                                      {"STAND_IN_DEVICES=3", "STAND_IN_LOG=" + log});
  ASSERT_TRUE(Succeeded(run)) << Describe(run);
  EXPECT_EQ(Used(log), std::set<std::string>{"Stand-in 1"});
  std::filesystem::remove(log);
  const base::CommandResult bench =
      Run({"bench", model_, "--target", "cuda", "--device", "1", "--time", "10ms"},
          {"STAND_IN_DEVICES=3", "STAND_IN_LOG=" + log});
  ASSERT_TRUE(Succeeded(bench)) << Describe(bench);
  EXPECT_EQ(Used(log), std::set<std::string>{"Stand-in 1"});
  std::filesystem::remove(log);
  const base::CommandResult again =
      Run({"run", model_, "--target", "cuda", "--device", "1"},
          {"STAND_IN_DEVICES=3", "STAND_IN_LOG=" + log, "CUDA_VISIBLE_DEVICES=0,2"});
  ASSERT_TRUE(Succeeded(again)) << Describe(again);
  EXPECT_EQ(Used(log), std::set<std::string>{"Stand-in 2"});
}

}  // namespace
}  // namespace bayloom
