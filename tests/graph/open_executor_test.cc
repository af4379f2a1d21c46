// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/sketch/default_schedule.h"
#include "tests/graph/scheduled_models.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

class ScheduledOpenModels : public ::testing::TestWithParam<ScheduledModel> {};

/// Memory keeps what a run for other lengths has left there.
TEST_P(ScheduledOpenModels, ComputeAtAllLengthsWhatNetworksOfFixedLengthsDo) {
  const ScheduledModel& network = GetParam();
  const Scheduled scheduled(network);
  Executor executor(scheduled.tasks, scheduled.pointers, codegen::HostTarget());
  for (const std::vector<int64_t>& lengths : network.lengths) {
    ExpectRightAt(executor, network, lengths, 3);
  }
}

TEST_P(ScheduledOpenModels, RefuseLengthsThatTheyAreNotFor) {
  const Scheduled scheduled(GetParam());
  Executor executor(scheduled.tasks, scheduled.pointers, codegen::HostTarget());
  std::vector<int64_t> lengths = GetParam().lengths.front();
  ++lengths.front();
  EXPECT_THROW(executor.SetLengths(lengths), std::logic_error);
  EXPECT_THROW(executor.SetLengths({}), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Some, ScheduledOpenModels, ::testing::ValuesIn(ScheduledModels()),
                         [](const auto& network) { return network.param.name; });

TEST(OpenExecutor, KeepsAttentionTogether) {
  const Scheduled scheduled(ScheduledModels()[0]);
  ASSERT_EQ(scheduled.tasks.tasks.size(), 1);
  EXPECT_THAT(scheduled.tasks.tasks[0].workload.name, ::testing::HasSubstr("attention"));
}

TEST(OpenExecutor, ComputesThePartsOfCausalAttentionThatThereAre) {
  const Scheduled scheduled(ScheduledModels()[3]);
  std::vector<const GraphTask*> attention;
  for (const GraphTask& task : scheduled.tasks.tasks) {
    if (task.workload.name.starts_with("attention")) attention.push_back(&task);
  }
  ASSERT_EQ(attention.size(), 2u);
  const auto largest_sizes = [&](const GraphTask& task) {
    std::vector<int64_t> sizes;
    for (const tensor::Buffer& buffer : task.workload.buffers) {
      if (buffer.role == tensor::BufferRole::kSize) sizes.push_back(buffer.range.largest);
    }
    std::ranges::sort(sizes);
    return sizes;
  };
  // Of queries and keys, and of all keys in memory.
  EXPECT_THAT(largest_sizes(*attention[0]), ::testing::ElementsAre(256, 520));
  EXPECT_THAT(largest_sizes(*attention[1]), ::testing::ElementsAre(264, 520));
}

class ScheduledSteps : public ::testing::TestWithParam<ScheduledModel> {};

/// All calls that compute steps, and no others, are left out where no one reads them.
TEST_P(ScheduledSteps, RunsOnlyStepsThatAreThere) {
  const Scheduled scheduled(GetParam());
  const Executor executor(scheduled.tasks, scheduled.pointers, codegen::HostTarget());
  const auto calls_for = [&](int64_t steps) {
    const std::vector<int64_t> lengths = {steps, 3};
    return std::ranges::count_if(executor.plan().small_calls, [&](const auto& calls) {
      return calls.empty() || calls[0].size.Evaluate(lengths) > calls[0].up_to;
    });
  };
  const auto of_step = calls_for(3) - calls_for(2);
  EXPECT_GE(of_step, 2);
  for (int64_t steps = 2; steps <= 16; ++steps) {  // those that are joined at once
    EXPECT_EQ(calls_for(steps), calls_for(2) + of_step * (steps - 2));
  }
  EXPECT_LT(calls_for(1), calls_for(2));
  EXPECT_EQ(calls_for(20), std::ssize(scheduled.tasks.calls));
}

INSTANTIATE_TEST_SUITE_P(Some, ScheduledSteps,
                         ::testing::Values(ScheduledModels()[4], ScheduledModels()[5]),
                         [](const auto& network) { return network.param.name; });

/// The schedule for small lengths is another one: reductions are not decomposed.
TEST(OpenExecutor, RunsOtherProgramsWhereASizeIsSmall) {
  const ScheduledModel network = ScheduledModels()[2];
  const Scheduled scheduled(network);
  std::vector<tensor::Program> naive;
  std::vector<SmallProgram> small;
  for (const GraphTask& task : scheduled.tasks.tasks) naive.push_back(tensor::Lower(task.workload));
  for (size_t t = 0; t < naive.size(); ++t) {
    ASSERT_GT(naive[t].SizeCount(), 0);
    small.push_back({static_cast<int>(t), 0, 4, &naive[t]});
  }
  Executor executor(scheduled.tasks, scheduled.pointers, codegen::HostTarget(), Branches::kInTurn,
                    small);
  ASSERT_EQ(executor.plan().small_calls.size(), scheduled.tasks.calls.size());
  for (const std::vector<int64_t>& lengths : network.lengths) {
    const Graph fixed = FixedModel(network, lengths);
    const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, 3);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
    std::vector<tensor::HostTensor> actual = expected;
    executor.SetLengths(lengths);
    executor.Run({inputs[0].data.data(), inputs[1].data.data()},
                 {actual[0].data.data(), actual[1].data.data()});
    ExpectSameOutputs(actual, expected);
  }
}

/// A library of the network "append", loaded.
class OpenLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    const PackageVariant variant{codegen::HostTarget(), scheduled_.pointers};
    const Package package = WritePackage(scheduled_.tasks, {&variant, 1}, folder_ / "lib", "net");
    library_ = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    const auto create = Function<int (*)(int, void**)>("net_create");
    ASSERT_EQ(create(BAYLOOM_ABI_VERSION, &model_), BAYLOOM_OK);
  }
  void TearDown() override { Function<int (*)(void*)>("net_destroy")(model_); }

  template <typename F>
  F Function(const char* name) {
    return reinterpret_cast<F>(dlsym(library_, name));
  }
  int Run(const std::vector<bayloom_input>& inputs, const std::vector<bayloom_output>& outputs) {
    using RunFunction = int (*)(void*, const bayloom_input*, int, const bayloom_output*, int);
    return Function<RunFunction>("net_run")(model_, inputs.data(), static_cast<int>(inputs.size()),
                                            outputs.data(), static_cast<int>(outputs.size()));
  }

  const ScheduledModel network_ = ScheduledModels()[2];
  const Scheduled scheduled_{network_};
  const TemporaryFolder folder_;
  void* library_ = nullptr;
  void* model_ = nullptr;
};

TEST_F(OpenLibrary, TakesDimensionsAndTellsThoseOfResults) {
  for (const std::vector<int64_t>& lengths : network_.lengths) {
    const Graph fixed = FixedModel(network_, lengths);
    const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, 3);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
    std::vector<tensor::HostTensor> actual = {
        tensor::HostTensor::Zeros(tensor::DType::kFloat32, {2, 15, 3}), expected[1]};
    const size_t x[] = {2, static_cast<size_t>(lengths[0]), 3};
    const size_t y[] = {2, static_cast<size_t>(lengths[1]), 3};
    size_t z[3] = {}, m[2] = {};
    ASSERT_EQ(Run({{inputs[0].data.data(), inputs[0].data.size(), x},
                   {inputs[1].data.data(), inputs[1].data.size(), y}},
                  {{actual[0].data.data(), actual[0].data.size(), z},
                   {actual[1].data.data(), actual[1].data.size(), m}}),
              BAYLOOM_OK);
    EXPECT_THAT(z, ::testing::ElementsAre(2, lengths[0] + lengths[1], 3));
    EXPECT_THAT(m, ::testing::ElementsAre(2, 3));
    ExpectSameOutputs(actual, expected);
  }
}

TEST_F(OpenLibrary, RefusesWhatItIsNotFor) {
  float x[2 * 9 * 3] = {}, y[2 * 6 * 3] = {}, z[2 * 15 * 3], m[6];
  const auto run = [&](size_t past, size_t rows, size_t result_bytes, bool has_dims = true) {
    const size_t x_dims[] = {2, past, 3}, y_dims[] = {2, rows, 3};
    return Run({{x, 24 * past, has_dims ? x_dims : nullptr}, {y, 24 * rows, y_dims}},
               {{z, result_bytes, nullptr}, {m, sizeof(m), nullptr}});
  };
  EXPECT_EQ(run(9, 6, sizeof(z)), BAYLOOM_OK);
  EXPECT_EQ(run(2, 1, 72), BAYLOOM_OK);
  EXPECT_EQ(run(2, 1, 71), BAYLOOM_ERROR_SIZE);
  EXPECT_EQ(run(10, 1, sizeof(z)), BAYLOOM_ERROR_SIZE);
  EXPECT_EQ(run(2, 0, sizeof(z)), BAYLOOM_ERROR_SIZE);
  EXPECT_EQ(run(2, 1, sizeof(z), false), BAYLOOM_ERROR_SIZE);
}

}  // namespace
}  // namespace bayloom::graph
