// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/sketch/default_schedule.h"
#include "examples/models/models.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/pooled_blocks.h"
#include "tests/graph/separable_blocks.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

/// Every division of the network computes what its graph does, interpreted and compiled.
void ExpectEveryDivisionIsRight(const Graph& graph) {
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const std::vector<tensor::HostTensor> expected = EvaluateGraph(graph, inputs);
  const TaskGraph network = ExtractTasks(graph);
  const size_t regions = network.alternatives.size();
  ASSERT_GT(regions, 0u);
  for (size_t choice = 0; choice < (size_t{1} << regions); ++choice) {
    std::vector<bool> wanted;
    for (size_t region = 0; region < regions; ++region)
      wanted.push_back(((choice >> region) & 1) != 0);
    const TaskGraph divided = Divide(network, wanted);
    SCOPED_TRACE(Print(divided));
    EXPECT_TRUE(divided.alternatives.empty());
    for (const auto& actual : {InterpretTasks(divided, inputs), RunCompiled(divided, inputs)}) {
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(Difference(actual[i], expected[i], 1e-4, 1e-5), "");
      }
    }
  }
}

TEST(Divide, EveryDivisionComputesTheSame) {
  ExpectEveryDivisionIsRight(MakeSeparableBlocks({}));
  ExpectEveryDivisionIsRight(MakeSeparableBlocks({.height = 13, .width = 10, .stride = 2}));
  ExpectEveryDivisionIsRight(
      MakeSeparableBlocks({.blocks = 1, .height = 6, .width = 11, .pad = 0}));
  ExpectEveryDivisionIsRight(MakeSeparableBlocks(
      {.blocks = 3, .height = 7, .width = 17, .channels = 5, .kernel = 5, .pad = 2}));
}

TEST(Divide, PooledConvolutionsComputeTheSame) {
  ExpectEveryDivisionIsRight(MakePooledBlocks({.blocks = 2, .height = 21, .width = 18}));
  ExpectEveryDivisionIsRight(MakePooledBlocks({.height = 12, .width = 14, .pool = 2}));
  ExpectEveryDivisionIsRight(MakePooledBlocks({.blocks = 2, .height = 16, .width = 11, .pad = 1}));
}

TEST(Divide, TasksAreSharedWhateverTheDivision) {
  const TaskGraph network = ExtractTasks(MakeSeparableBlocks({.blocks = 2}));
  ASSERT_EQ(network.tasks.size(), 2u) << "both blocks are alike";
  ASSERT_EQ(network.alternatives.size(), 2u);
  EXPECT_EQ(network.alternatives[0].calls, (std::vector<int>{0, 1}));
  EXPECT_EQ(network.alternatives[0].bytes_between, 9 * 7 * 8 * 4);

  const TaskGraph apart = Divide(network, {false, false});
  EXPECT_EQ(apart.calls.size(), 4u);
  EXPECT_EQ(apart.tasks[0].weight, 2);

  const TaskGraph one = Divide(network, {false, true});
  ASSERT_EQ(one.tasks.size(), 3u);
  EXPECT_EQ(one.calls.size(), 3u);
  for (const GraphTask& task : one.tasks) EXPECT_EQ(task.weight, 1);

  const TaskGraph both = Divide(network, {true, true});
  ASSERT_EQ(both.tasks.size(), 1u);
  EXPECT_EQ(both.tasks[0].weight, 2);
  EXPECT_EQ(both.tasks[0].calls, (std::vector<int>{0, 1}));
}

TEST(Divide, WhatOthersSeeIsComputedApart) {
  const TaskGraph network = ExtractTasks(MakeSeparableBlocks({.blocks = 2, .shows_first = true}));
  ASSERT_EQ(network.alternatives.size(), 1u);
  EXPECT_EQ(network.alternatives[0].calls, (std::vector<int>{2, 3}));
}

/// Code for a target in a library calls the tasks of its own division, not those that its shape
/// has.
TEST(Divide, ALibraryTakesTheDivisionOfItsTarget) {
  const Graph graph = MakeSeparableBlocks({.stride = 2});
  const TaskGraph network = ExtractTasks(graph);
  const TaskGraph divided = Divide(network, {true, true});
  const target::Target target = codegen::HostTarget(2);
  std::vector<tensor::Program> made;
  for (const GraphTask& task : divided.tasks) {
    made.push_back(sketch::DefaultSchedule(task.workload, target));
  }
  std::vector<const tensor::Program*> programs;
  for (const tensor::Program& program : made) programs.push_back(&program);
  const TemporaryFolder folder;
  const PackageShape shape = {"", &network, {{target, programs, &divided}}};
  const Package package = WritePackage({&shape, 1}, folder / "lib", "net");

  void* const library = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<int (*)(int, void**)>(dlsym(library, "net_create"));
  const auto run =
      reinterpret_cast<int (*)(void*, const bayloom_input*, int, const bayloom_output*, int)>(
          dlsym(library, "net_run"));
  const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(library, "net_destroy"));
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const tensor::HostTensor expected = EvaluateGraph(graph, inputs)[0];
  tensor::HostTensor actual = tensor::HostTensor::Zeros(expected.dtype, expected.shape);
  void* model = nullptr;
  ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model), BAYLOOM_OK);
  const bayloom_input in = {inputs[0].data.data(), inputs[0].data.size(), nullptr};
  const bayloom_output out = {actual.data.data(), actual.data.size(), nullptr};
  EXPECT_EQ(run(model, &in, 1, &out, 1), BAYLOOM_OK);
  EXPECT_EQ(Difference(actual, expected, 1e-4, 1e-5), "");
  EXPECT_EQ(destroy(model), BAYLOOM_OK);
}

TaskGraph TasksOfModel(const std::string& name) {
  const TemporaryFolder folder;
  const std::string path = folder / (name + ".onnx");
  models::FindModel(name).build(3).Save(path);
  Graph graph = ImportOnnx(path);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

/// Each of its 17 blocks has a depthwise convolution before the last of 1x1.
TEST(Divide, ModelsHaveRegionsToChooseFrom) {
  const TaskGraph network = TasksOfModel("mobilenet_v2");
  EXPECT_EQ(network.alternatives.size(), 17u);
  const TaskGraph divided = Divide(network, std::vector<bool>(17, true));
  EXPECT_EQ(divided.calls.size(), network.calls.size() - 17);
}

/// The pool behind the first convolution, which reads one row before the image.
TEST(Divide, FirstLayersAreARegion) {
  const TaskGraph network = TasksOfModel("resnet18");
  ASSERT_EQ(network.alternatives.size(), 1u);
  EXPECT_EQ(network.alternatives[0].calls, (std::vector<int>{0, 1}));
  EXPECT_EQ(network.alternatives[0].bytes_between, 112 * 112 * 64 * 4) << "no added rows";
}

}  // namespace
}  // namespace bayloom::graph
