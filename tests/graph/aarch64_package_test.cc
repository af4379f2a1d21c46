// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/package.h"
#include "tests/execute.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/quantized_models.h"
#include "tests/graph/small_models.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGeneric[] = "aarch64-linux-gnu";
constexpr char kNeoverseN1[] = "aarch64-linux-gnu:neoverse-n1";
constexpr char kNeoverseV1[] = "aarch64-linux-gnu:neoverse-v1";

std::string_view BytesOf(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
}

/// A library for processors of AArch64 and a program that uses it, run by an emulator.
class AArch64Package : public ::testing::Test {
 protected:
  void Build(const Graph& graph, const std::vector<std::string>& targets) {
    std::vector<std::unique_ptr<Compiled>> compiled;
    std::vector<PackageVariant> variants;
    for (const std::string& name : targets) {
      const target::Target target = codegen::TargetNamed(name, 2);
      compiled.push_back(Compile(graph, target));
      variants.push_back({target, compiled.back()->programs});
    }
    package_ = WritePackage(compiled[0]->network, variants, folder_.path(), "net");
    const base::CommandResult built =
        Execute({"aarch64-linux-gnu-gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I",
                 folder_.path(), std::string(BAYLOOM_TEST_PACKAGE_PROGRAMS) + "/files.c", "-o",
                 folder_ / "program", package_.library, "-Wl,-rpath," + folder_.path()});
    ASSERT_TRUE(Succeeded(built)) << Describe(built);
  }

  /// Runs the program with `outputs`, which get what it writes.
  base::CommandResult Run(const std::string& processor, const std::vector<HostTensor>& inputs,
                          std::vector<HostTensor>& outputs) {
    std::vector<std::string> command = {"qemu-aarch64", "-L",      "/usr/aarch64-linux-gnu",
                                        "-cpu",         processor, folder_ / "program"};
    for (size_t i = 0; i < inputs.size(); ++i) {
      command.push_back(folder_ / fmt::format("input{}", i));
      base::WriteFile(command.back(), BytesOf(inputs[i]));
    }
    command.emplace_back("--");
    std::vector<std::string> paths;
    for (size_t o = 0; o < outputs.size(); ++o) {
      paths.push_back(folder_ / fmt::format("output{}", o));
      command.push_back(paths.back());
      command.push_back(std::to_string(outputs[o].data.size()));
    }
    const base::CommandResult result = Execute(command);
    if (!Succeeded(result)) return result;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::string bytes = base::ReadFile(paths[o]);
      EXPECT_EQ(bytes.size(), outputs[o].data.size());
      if (bytes.size() != outputs[o].data.size()) continue;
      std::memcpy(outputs[o].data.data(), bytes.data(), bytes.size());
    }
    return result;
  }

  TemporaryFolder folder_;
  Package package_;
};

Graph QuantizedNetwork() {
  const QuantizationParameters x{DType::kUInt8, {0.02}, {119}}, w{DType::kInt8, {0.005}, {0}};
  const QuantizationParameters y{DType::kUInt8, {0.05}, {30}}, z{DType::kInt8, {0.1}, {-3}};
  ModelWriter writer;
  const std::string image = DequantizeNode(writer, writer.Input(x.dtype, {1, 8, 9, 9}), x);
  const auto weights = [&](std::vector<int64_t> shape, uint64_t seed) {
    return DequantizeNode(writer, writer.Constant(RandomLevels(w, std::move(shape), seed)), w);
  };
  const std::string sums = writer.Node("Conv", {image, weights({16, 8, 3, 3}, 1)},
                                       {{"pads", std::vector<int64_t>(4, 1)}});
  const std::string active = QuantizeNode(writer, writer.Node("Relu", {sums}), y);
  const std::string flat = writer.Node("Flatten", {DequantizeNode(writer, active, y)});
  writer.Output(active);
  writer.Output(QuantizeNode(writer, writer.Node("MatMul", {flat, weights({1296, 20}, 2)}), z));
  return writer.Import();
}

Graph RecurrentNetwork() {
  constexpr int64_t kHiddenSize = 16, kInputSize = 6;
  const auto random = [](std::vector<int64_t> shape, uint64_t seed) {
    HostTensor tensor = RandomTensor(std::move(shape), seed);
    for (int64_t i = 0; i < tensor.ElementCount(); ++i) tensor.Set(i, 0.3 * tensor.Get(i));
    return tensor;
  };
  ModelWriter writer;
  const std::string x = writer.Input(DType::kFloat32, {5, 2, kInputSize});
  const std::string w = writer.Constant(random({1, 4 * kHiddenSize, kInputSize}, 1));
  const std::string r = writer.Constant(random({1, 4 * kHiddenSize, kHiddenSize}, 2));
  for (const std::string& output :
       writer.Node("LSTM", {x, w, r}, {{"hidden_size", kHiddenSize}}, "", 3)) {
    writer.Output(output);
  }
  return writer.Import();
}

/// Kernels of the runtime's library: the best of each row, and running sums.
Graph LibraryNetwork() {
  ModelWriter writer;
  const std::string x = writer.Input(DType::kFloat32, {7, 300});
  const std::string k = writer.Constant(Integers(DType::kInt64, {1}, {9}));
  for (const std::string& output : writer.Node("TopK", {x, k}, {}, "", 2)) writer.Output(output);
  writer.Output(writer.Node("CumSum", {x, writer.Constant(Integers(DType::kInt64, {}, {1}))}));
  return writer.Import();
}

/// Floats as on this machine up to rounding, integers bit for bit, by the code for every processor
/// and by that for one which has SVE and instructions for bytes.
TEST_F(AArch64Package, NetworksComputeWhatTheyComputeHere) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  const std::pair<const char*, Graph> networks[] = {
      {"convolutional", ImportOnnx(SmallConvolutionalNetwork().path())},
      {"transformer", ImportOnnx(SmallTransformer().path())},
      {"quantized", QuantizedNetwork()},
      {"recurrent", RecurrentNetwork()},
      {"library", LibraryNetwork()}};
  for (const auto& [name, graph] : networks) {
    const std::vector<HostTensor> inputs = RandomInputs(graph);
    const std::vector<HostTensor> expected =
        RunCompiled(Compile(graph, codegen::HostTarget(2))->network, inputs);
    Build(graph, {kGeneric, kNeoverseV1});
    ASSERT_FALSE(HasFatalFailure());
    for (const auto& [processor, code] :
         {std::pair("cortex-a57", kGeneric), {"max", kNeoverseV1}}) {
      SCOPED_TRACE(fmt::format("{} on {}", name, processor));
      std::vector<HostTensor> outputs = expected;
      for (HostTensor& output : outputs) std::ranges::fill(output.data, std::byte{0xff});
      const base::CommandResult run = Run(processor, inputs, outputs);
      ASSERT_TRUE(Succeeded(run)) << Describe(run);
      EXPECT_EQ(run.output, std::string(code) + "\n");
      for (size_t o = 0; o < outputs.size(); ++o) {
        const bool is_float = tensor::IsFloat(expected[o].dtype);
        EXPECT_EQ(Difference(outputs[o], expected[o], is_float ? 1e-4 : 0, is_float ? 1e-5 : 0), "")
            << "output " << o;
      }
    }
  }
}

TEST_F(AArch64Package, EveryProcessorRunsItsBestCodeOrSaysWhatItLacks) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  const std::vector<HostTensor> inputs = {RandomTensor({4, 24}, 3)};
  const std::vector<HostTensor> expected =
      RunCompiled(Compile(TwoLayers(), codegen::HostTarget(2))->network, inputs);
  // What the emulator's processors run, the best first.
  const std::map<std::string, std::vector<std::string>> runs = {
      {"cortex-a57", {kGeneric}},
      {"neoverse-n1", {kNeoverseN1, kGeneric}},
      {"max", {kNeoverseV1, kNeoverseN1, kGeneric}}};
  for (const std::vector<std::string>& targets : std::vector<std::vector<std::string>>{
           {kNeoverseN1}, {kNeoverseV1, kNeoverseN1}, {kGeneric, kNeoverseN1, kNeoverseV1}}) {
    Build(TwoLayers(), targets);
    ASSERT_FALSE(HasFatalFailure());
    for (const auto& [processor, able] : runs) {
      SCOPED_TRACE(targets.back() + " on " + processor);
      const auto best = std::ranges::find_if(able, [&](const std::string& target) {
        return std::ranges::find(targets, target) != targets.end();
      });
      std::vector<HostTensor> outputs = expected;
      const base::CommandResult run = Run(processor, inputs, outputs);
      ASSERT_FALSE(run.status.signaled) << Describe(run);
      if (best == able.end()) {
        EXPECT_EQ(run.status.code, 3) << Describe(run);
        EXPECT_THAT(run.error_output, HasSubstr("has all features of aarch64-linux-gnu:neoverse-"));
        EXPECT_THAT(run.error_output, HasSubstr("dotprod"));
        continue;
      }
      EXPECT_EQ(run.output, *best + "\n") << Describe(run);
      for (size_t o = 0; o < outputs.size(); ++o) {
        EXPECT_EQ(Difference(outputs[o], expected[o], 1e-4, 1e-5), "");
      }
    }
  }
}

TEST_F(AArch64Package, TheHeaderSaysWhatCodeNeeds) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  Build(TwoLayers(), {kGeneric});
  EXPECT_THAT(base::ReadFile(package_.header),
              HasSubstr(" *   aarch64-linux-gnu: fp-armv8 neon\n"));
  const base::CommandResult symbols =
      Execute({"aarch64-linux-gnu-nm", "-D", "--defined-only", package_.library});
  EXPECT_THAT(symbols.output, HasSubstr("net_create"));
  EXPECT_THAT(symbols.output, Not(HasSubstr("bayloom_")));
}

/// Neither a compiler nor a linker has to be there.
TEST_F(AArch64Package, NoProgramIsNeeded) {
  const WithVariable path("PATH", folder_.path());
  const target::Target target = codegen::TargetNamed(kGeneric, 1);
  const std::unique_ptr<Compiled> compiled = Compile(TwoLayers(), target);
  const PackageVariant variant = {target, compiled->programs};
  const Package package =
      WritePackage(compiled->network, {&variant, 1}, folder_ / "package", "net");
  const std::string library = base::ReadFile(package.library);
  EXPECT_EQ(library.substr(18, 2), std::string("\xb7\0", 2));  // EM_AARCH64
}

}  // namespace
}  // namespace bayloom::graph
