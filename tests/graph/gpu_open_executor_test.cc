// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Networks with open dimensions on GPUs, by what stands for the driver: it checks every access of a
// kernel, and that a launch has the blocks that the sizes on the device need.

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/gpu_machine.h"
#include "tests/graph/scheduled_models.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::graph {
namespace {

const target::Target& Gpu() {
  static const target::Target gpu = *target::GpuTarget("sm_90");
  return gpu;
}

class OnStandIn {
 private:
  const WithVariable driver_{"BAYLOOM_CUDA_DRIVER", BAYLOOM_TEST_CUDA};
  const WithVariable image_{"BAYLOOM_CUDA_IMAGE", "stand-in"};
};

class GpuOpenModels : public ::testing::TestWithParam<ScheduledModel> {
 private:
  const OnStandIn stand_in_;
};

/// The first run for lengths launches kernels, the second makes a graph, later ones have it.
TEST_P(GpuOpenModels, ComputeAtAllLengthsWhatNetworksOfFixedLengthsDo) {
  const ScheduledModel& network = GetParam();
  const Scheduled scheduled(network, Gpu());
  Executor executor(scheduled.tasks, scheduled.pointers, Gpu());
  for (uint64_t turn = 0; turn < 3; ++turn) {
    for (const std::vector<int64_t>& lengths : network.lengths) {
      ExpectRightAt(executor, network, lengths, turn);
    }
  }
}

/// Programs drawn from design spaces, and others where a size is small.
TEST_P(GpuOpenModels, ComputeTheSameByOtherPrograms) {
  const ScheduledModel& network = GetParam();
  const Scheduled scheduled(network, Gpu());
  for (uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<tensor::Program> programs;
    base::RandomStream random(seed);
    for (const GraphTask& task : scheduled.tasks.tasks) {
      const sketch::SpaceGenerator space(task.workload, Gpu());
      const int count = static_cast<int>(space.spaces().size());
      const auto candidate = space.Sample(static_cast<int>(random.UniformInt(count)),
                                          base::RandomStream(random.UniformInt(1000)));
      ASSERT_TRUE(candidate) << candidate.error().message;
      programs.push_back(candidate->program);
    }
    std::vector<const tensor::Program*> pointers;
    std::vector<SmallProgram> small;
    for (size_t t = 0; t < programs.size(); ++t) {
      pointers.push_back(&programs[t]);
      if (programs[t].SizeCount() == 0 || random.UniformInt(2) == 0) continue;
      small.push_back({static_cast<int>(t), 0, 16, scheduled.pointers[t]});
    }
    Executor executor(scheduled.tasks, pointers, Gpu(), Branches::kInTurn, small);
    for (const std::vector<int64_t>& lengths : network.lengths) {
      ExpectRightAt(executor, network, lengths, seed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, GpuOpenModels, ::testing::ValuesIn(ScheduledModels()),
                         [](const auto& network) { return network.param.name; });

TEST(GpuOpenExecutor, KeepsTheGraphsOfTheLastLengths) {
  const OnStandIn stand_in;
  const ScheduledModel network = ScheduledModels()[0];
  const Scheduled scheduled(network, Gpu());
  Executor executor(scheduled.tasks, scheduled.pointers, Gpu());
  base::RandomStream random(3);
  for (int run = 0; run < 120; ++run) {
    // Often one of a few lengths, and 39 in all.
    const int64_t length = run % 2 == 0 ? 2 + random.UniformInt(39) : 2 + random.UniformInt(4);
    ExpectRightAt(executor, network, {length}, 1);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

TEST(GpuOpenExecutor, RefusesLengthsThatTheNetworkFinds) {
  const OnStandIn stand_in;
  const std::string text = "g (float[8] x) => (int64[1, n] y) { y = NonZero(x) }";
  Graph graph = ImportText(text, 14);
  Optimize(graph);
  try {
    ForGpu(ExtractTasks(std::move(graph)));
    FAIL() << "it is not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("lengths that are known before a run"));
  }
}

/// A library of the network "append", loaded.
TEST(GpuOpenLibrary, TakesDimensionsAndTellsThoseOfResults) {
  const OnStandIn stand_in;
  const ScheduledModel network = ScheduledModels()[2];
  const Scheduled scheduled(network, Gpu());
  const TemporaryFolder folder;
  const PackageVariant variant{Gpu(), scheduled.pointers};
  const Package package = WritePackage(scheduled.tasks, {&variant, 1}, folder / "lib", "net");
  void* const library = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<int (*)(int, void**)>(dlsym(library, "net_create"));
  const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(library, "net_destroy"));
  const auto run =
      reinterpret_cast<int (*)(void*, const bayloom_input*, int, const bayloom_output*, int)>(
          dlsym(library, "net_run"));
  void* model = nullptr;
  ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model), BAYLOOM_OK);
  for (int turn = 0; turn < 3; ++turn) {
    for (const std::vector<int64_t>& lengths : network.lengths) {
      const Graph fixed = FixedModel(network, lengths);
      const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, 3);
      const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
      std::vector<tensor::HostTensor> actual = {
          tensor::HostTensor::Zeros(tensor::DType::kFloat32, {2, 15, 3}), expected[1]};
      const size_t x[] = {2, static_cast<size_t>(lengths[0]), 3};
      const size_t y[] = {2, static_cast<size_t>(lengths[1]), 3};
      size_t z[3] = {}, m[2] = {};
      const bayloom_input given[] = {{inputs[0].data.data(), inputs[0].data.size(), x},
                                     {inputs[1].data.data(), inputs[1].data.size(), y}};
      const bayloom_output wanted[] = {{actual[0].data.data(), actual[0].data.size(), z},
                                       {actual[1].data.data(), actual[1].data.size(), m}};
      ASSERT_EQ(run(model, given, 2, wanted, 2), BAYLOOM_OK);
      EXPECT_THAT(z, ::testing::ElementsAre(2, lengths[0] + lengths[1], 3));
      ExpectSameOutputs(actual, expected);
    }
  }
  EXPECT_EQ(destroy(model), BAYLOOM_OK);
}

}  // namespace
}  // namespace bayloom::graph
