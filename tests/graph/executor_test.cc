// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/executor.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/internal/evaluate.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/sketch/plain_schedule.h"
#include "tests/graph/pass_checks.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

/// Two layers whose weights are constants, a value used twice, a view, and three outputs: one of
/// the middle, the last, and the input passed through.
Graph TwoLayers() {
  GraphBuilder b("two layers");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 24});
  const tensor::Tensor w1 = b.Constant("w1", RandomTensor({24, 32}, 1));
  const tensor::Tensor w2 = b.Constant("w2", RandomTensor({32, 24}, 2));
  const tensor::Tensor hidden = Multiply(b, x, w1);
  const tensor::Tensor active = Relu(b, hidden);
  const tensor::Tensor result = Multiply(b, active, w2);
  const tensor::Tensor residual =
      b.Map("add", {4, 24}, [&](const auto& i) { return result.At(i) + x.At(i); });
  const tensor::Tensor flat = b.View(residual, {96});
  return b.Build({{"active", active.id()}, {"flat", flat.id()}, {"same", x.id()}});
}

struct Compiled {
  TaskGraph network;
  std::vector<tensor::Program> untuned;
  std::vector<const tensor::Program*> programs;
};

std::unique_ptr<Compiled> Compile(Graph graph, const target::Target& target) {
  auto compiled = std::make_unique<Compiled>();
  Optimize(graph);
  compiled->network = ExtractTasks(std::move(graph));
  for (const GraphTask& task : compiled->network.tasks) {
    compiled->untuned.push_back(sketch::PlainSchedule(task.workload, target));
  }
  for (const tensor::Program& program : compiled->untuned) compiled->programs.push_back(&program);
  return compiled;
}

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = TwoLayers();
    input_ = RandomTensor({4, 24}, 3);
    expected_ = EvaluateGraph(graph_, {input_});
    compiled_ = Compile(graph_, target_);
    for (const tensor::HostTensor& tensor : expected_) {
      results_.emplace_back(tensor.ElementCount() + 1, -1.0f);
    }
  }

  /// Output pointers that are deliberately not aligned to 64 bytes.
  std::vector<void*> Outputs() {
    std::vector<void*> outputs;
    for (std::vector<float>& result : results_) outputs.push_back(result.data() + 1);
    return outputs;
  }

  void ExpectResults() {
    for (size_t o = 0; o < expected_.size(); ++o) {
      for (int64_t i = 0; i < expected_[o].ElementCount(); ++i) {
        ASSERT_NEAR(results_[o][i + 1], expected_[o].Get(i), 1e-4) << "output " << o;
      }
      EXPECT_EQ(results_[o][0], -1.0f);
    }
  }

  target::Target target_ = codegen::HostTarget(2);
  Graph graph_;
  tensor::HostTensor input_;
  std::vector<tensor::HostTensor> expected_;
  std::unique_ptr<Compiled> compiled_;
  std::vector<std::vector<float>> results_;
};

TEST_F(ExecutorTest, ComputesWhatTheGraphSays) {
  Executor executor(compiled_->network, compiled_->programs, target_);
  for (int run = 0; run < 3; ++run) {
    executor.Run({input_.data.data()}, Outputs());
    ExpectResults();
  }
}

TEST_F(ExecutorTest, TimesEveryCall) {
  Executor executor(compiled_->network, compiled_->programs, target_);
  std::vector<double> seconds;
  executor.RunTimed({input_.data.data()}, Outputs(), seconds);
  ASSERT_EQ(seconds.size(), compiled_->network.calls.size());
  for (double s : seconds) EXPECT_GT(s, 0);
}

TEST_F(ExecutorTest, PackageComputesTheSameWithNothingElse) {
  const TemporaryFolder folder;
  const Package package = WritePackage(compiled_->network, compiled_->programs, target_,
                                       folder / "package", "two_layers");
  void* library = dlopen(package.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<void* (*)()>(dlsym(library, "two_layers_create"));
  const auto run = reinterpret_cast<int (*)(void*, const void* const*, void* const*)>(
      dlsym(library, "two_layers_run"));
  const auto destroy = reinterpret_cast<void (*)(void*)>(dlsym(library, "two_layers_destroy"));
  ASSERT_TRUE(create && run && destroy);
  EXPECT_EQ(dlsym(library, "kernel_0"), nullptr) << "kernels are not to be visible";
  void* model = create();
  const void* inputs[] = {input_.data.data()};
  const std::vector<void*> outputs = Outputs();
  EXPECT_EQ(run(model, inputs, outputs.data()), 0);
  ExpectResults();
  destroy(model);
  dlclose(library);
  EXPECT_TRUE(std::filesystem::exists(package.header));
}

TEST_F(ExecutorTest, PackageRefusesWhatCannotWork) {
  const auto write = [&](const std::string& folder, const std::string& name) {
    WritePackage(compiled_->network, compiled_->programs, target_, folder, name);
  };
  EXPECT_THROW(write("/tmp", "two layers"), InputError);
  EXPECT_THROW(write("/proc/nowhere", "two_layers"), InputError);
}

TEST(NetworkPlanTest, ConstantsArePackedOncePerOrder) {
  const target::Target target = codegen::HostTarget(1);
  const std::unique_ptr<Compiled> compiled = Compile(TwoLayers(), target);
  const NetworkPlan plan = PlanNetwork(compiled->network, compiled->programs);
  EXPECT_EQ(plan.constants.size(), (24 * 32 + 32 * 24) * sizeof(float));
  EXPECT_EQ(plan.input_bytes, std::vector<int64_t>{4 * 24 * 4});
  EXPECT_EQ(plan.output_bytes, (std::vector<int64_t>{4 * 32 * 4, 96 * 4, 96 * 4}));
}

}  // namespace
}  // namespace bayloom::graph
