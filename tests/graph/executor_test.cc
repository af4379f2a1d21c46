// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/executor.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/sketch/design_space.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/two_layers.h"

namespace bayloom::graph {
namespace {

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

TEST_F(ExecutorTest, RunsWhicheverOfATasksProgramsIsUsed) {
  std::vector<tensor::Program> others;
  for (const GraphTask& task : compiled_->network.tasks) {
    const sketch::SpaceGenerator space(task.workload, target_);
    others.push_back(space.Sample(0, base::RandomStream(1))->program);
  }
  std::vector<std::vector<const tensor::Program*>> programs;
  for (size_t i = 0; i < others.size(); ++i) {
    programs.push_back({compiled_->programs[i], &others[i]});
  }
  Executor executor(compiled_->network, programs, target_);
  for (int used = 0; used < 2; ++used) {
    for (size_t i = 0; i < others.size(); ++i) {
      executor.Use(static_cast<int>(i), (used + static_cast<int>(i)) % 2);
    }
    executor.Run({input_.data.data()}, Outputs());
    ExpectResults();
  }
}

TEST(NetworkPlanTest, ProgramsThatReadAConstantInTheSameOrderShareIt) {
  const target::Target target = codegen::HostTarget(1);
  const std::unique_ptr<Compiled> compiled = Compile(TwoLayers(), target);
  std::vector<std::vector<const tensor::Program*>> programs;
  for (const tensor::Program* program : compiled->programs) programs.push_back({program, program});
  const NetworkPlan plan = PlanWithAlternatives(compiled->network, programs, target);
  EXPECT_EQ(plan.constants.size(), (24 * 32 + 32 * 24) * sizeof(float));
  ASSERT_EQ(plan.alternatives.size(), plan.calls.size());
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    ASSERT_EQ(plan.alternatives[i].size(), 1u);
    EXPECT_EQ(plan.alternatives[i][0].arguments, plan.calls[i].arguments);
  }
}

TEST(NetworkPlanTest, ConstantsArePackedOncePerOrder) {
  const target::Target target = codegen::HostTarget(1);
  const std::unique_ptr<Compiled> compiled = Compile(TwoLayers(), target);
  const NetworkPlan plan =
      PlanNetwork(compiled->network, compiled->programs, target, Branches::kSideBySide);
  EXPECT_EQ(plan.constants.size(), (24 * 32 + 32 * 24) * sizeof(float));
  EXPECT_EQ(plan.input_bytes, std::vector<int64_t>{4 * 24 * 4});
  EXPECT_EQ(plan.output_bytes, (std::vector<int64_t>{4 * 32 * 4, 96 * 4, 96 * 4}));
}

}  // namespace
}  // namespace bayloom::graph
