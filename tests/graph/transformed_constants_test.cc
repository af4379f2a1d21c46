// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "bayloom/base/file.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/package.h"
#include "bayloom/tensor/primitives.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kImageChannels = 16;

/// The same weights over two images, and others after that.
Graph ThreeConvolutions() {
  GraphBuilder b("three convolutions");
  const std::vector<int64_t> image = {1, 11, 12, kImageChannels};
  const std::vector<int64_t> kernel = {3, 3, kImageChannels, kImageChannels};
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, image);
  const tensor::Tensor y = b.Input("y", tensor::DType::kFloat32, image);
  const tensor::Tensor w = b.Constant("w", RandomTensor(kernel, 1));
  const tensor::Tensor v = b.Constant("v", RandomTensor(kernel, 2));
  const tensor::Tensor first = Relu(b, Convolve(b, x, w)), second = Relu(b, Convolve(b, y, w));
  const tensor::Tensor sum =
      b.Map("add", first.shape(), [&](const auto& i) { return first.At(i) + second.At(i); });
  return b.Build({{"out", Convolve(b, sum, v).id()}});
}

/// The network with all convolutions derived, which nothing schedules further.
std::unique_ptr<Compiled> CompileDerived(const target::Target& target) {
  std::unique_ptr<Compiled> compiled = Compile(ThreeConvolutions(), target);
  for (size_t task = 0; task < compiled->untuned.size(); ++task) {
    tensor::Program program = tensor::Lower(compiled->network.tasks[task].workload);
    for (tensor::BlockId block : program.BlocksInOrder()) {
      if (program.blocks[block].kind != tensor::BlockKind::kReduce) continue;
      const Result<std::vector<tensor::BlockId>> made = tensor::Winograd(program, block, 4);
      EXPECT_TRUE(made) << made.error().message;
      if (made) compiled->untuned[task] = program;
    }
  }
  return compiled;
}

void ExpectCloseToLargest(const std::vector<float>& actual, const tensor::HostTensor& expected) {
  double largest = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    largest = std::max(largest, std::abs(expected.Get(i)));
  }
  ASSERT_EQ(std::ssize(actual), expected.ElementCount());
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    ASSERT_NEAR(actual[static_cast<size_t>(i)], expected.Get(i), 1e-4 * largest);
  }
}

/// A constant that a program reads transformed.
struct TransformedWeights {
  std::string original, transformed;  ///< bytes
};

std::vector<TransformedWeights> WeightsOf(const Compiled& compiled) {
  std::vector<TransformedWeights> weights;
  std::set<ValueId> seen;
  for (const TaskCall& call : compiled.network.calls) {
    const tensor::Program& program = *compiled.programs[static_cast<size_t>(call.task)];
    const std::vector<tensor::BufferId> parameters = program.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const tensor::Buffer& buffer = program.buffers[parameters[i]];
      const ValueId value = call.parameters[i];
      if (!buffer.transform || !seen.insert(value).second) continue;
      const std::vector<std::byte>& data = compiled.network.graph.values[value].constant->data;
      const std::vector<std::byte> packed = tensor::PackLayout(buffer, data.data());
      weights.push_back({{reinterpret_cast<const char*>(data.data()), data.size()},
                         {reinterpret_cast<const char*>(packed.data()), packed.size()}});
    }
  }
  return weights;
}

TEST(TransformedConstants, AreInThePlanOnceAndTheOriginalsAreNot) {
  const target::Target target = codegen::HostTarget(2);
  const std::unique_ptr<Compiled> compiled = CompileDerived(target);
  const NetworkPlan plan =
      PlanNetwork(compiled->network, compiled->programs, target, Branches::kSideBySide);
  constexpr int64_t kTransformedBytes = 6 * 6 * kImageChannels * kImageChannels * 4;
  EXPECT_EQ(std::ssize(plan.constants), 2 * kTransformedBytes);
  const std::string constants(reinterpret_cast<const char*>(plan.constants.data()),
                              plan.constants.size());
  const std::vector<TransformedWeights> all = WeightsOf(*compiled);
  ASSERT_EQ(all.size(), 2u);
  for (const TransformedWeights& weights : all) {
    EXPECT_NE(constants.find(weights.transformed), std::string::npos);
  }
}

TEST(TransformedConstants, AreComputedWhenANetworkIsPrepared) {
  const target::Target target = codegen::HostTarget(2);
  const std::unique_ptr<Compiled> compiled = CompileDerived(target);
  Executor executor(compiled->network, compiled->programs, target);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(compiled->network.graph);
  const tensor::HostTensor expected = EvaluateGraph(ThreeConvolutions(), inputs)[0];
  std::vector<float> output(static_cast<size_t>(expected.ElementCount()));
  for (int run = 0; run < 2; ++run) {
    executor.Run({inputs[0].data.data(), inputs[1].data.data()}, {output.data()});
    ExpectCloseToLargest(output, expected);
  }
}

TEST(TransformedConstants, AreInALibraryOnce) {
  const target::Target target = codegen::HostTarget(2);
  const std::unique_ptr<Compiled> compiled = CompileDerived(target);
  const TemporaryFolder folder;
  const PackageVariant variant{target, compiled->programs};
  const Package package = WritePackage(compiled->network, {&variant, 1}, folder / "lib", "derived");

  const std::string file = base::ReadFile(package.library);
  for (const TransformedWeights& weights : WeightsOf(*compiled)) {
    const size_t first = file.find(weights.transformed);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(file.find(weights.transformed, first + 1), std::string::npos);
    EXPECT_EQ(file.find(weights.original), std::string::npos);
  }

  void* library = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<int (*)(int, void**)>(dlsym(library, "derived_create"));
  const auto run =
      reinterpret_cast<int (*)(void*, const bayloom_input*, int, const bayloom_output*, int)>(
          dlsym(library, "derived_run"));
  const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(library, "derived_destroy"));
  const std::vector<tensor::HostTensor> inputs = RandomInputs(compiled->network.graph);
  const tensor::HostTensor expected = EvaluateGraph(ThreeConvolutions(), inputs)[0];
  std::vector<float> output(static_cast<size_t>(expected.ElementCount()));
  void* model = nullptr;
  ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model), BAYLOOM_OK);
  const bayloom_input in[] = {{inputs[0].data.data(), inputs[0].data.size(), nullptr},
                              {inputs[1].data.data(), inputs[1].data.size(), nullptr}};
  const bayloom_output out = {output.data(), output.size() * sizeof(float), nullptr};
  EXPECT_EQ(run(model, in, 2, &out, 1), BAYLOOM_OK);
  ExpectCloseToLargest(output, expected);
  EXPECT_EQ(destroy(model), BAYLOOM_OK);
}

}  // namespace
}  // namespace bayloom::graph
