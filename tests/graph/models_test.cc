// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/models.h"

#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/small_models.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

/// A model of examples/models as a file for the duration of a test.
class ModelFile {
 public:
  explicit ModelFile(const std::string& name) : path_(folder_ / (name + ".onnx")) {
    models::FindModel(name).build(3).Save(path_);
  }
  const std::string& path() const { return path_; }

 private:
  const TemporaryFolder folder_;
  const std::string path_;
};

int CountTasks(const TaskGraph& tasks, const std::string& what) {
  int count = 0;
  for (const TaskCall& call : tasks.calls) {
    count += tasks.tasks[call.task].workload.name.find(what) != std::string::npos;
  }
  return count;
}

TaskGraph ImportOptimized(const std::string& path) {
  Graph graph = ImportOnnx(path);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(Models, ResNet18BecomesFusedConvolutions) {
  const TaskGraph tasks = ImportOptimized(ModelFile("resnet18").path());
  EXPECT_EQ(tasks.calls.size(), 23u);
  EXPECT_EQ(tasks.tasks.size(), 18u);
  EXPECT_EQ(CountTasks(tasks, "conv"), 20);
  EXPECT_EQ(CountTasks(tasks, "transpose"), 0);
  int weight = 0;
  for (const GraphTask& task : tasks.tasks) weight += task.weight;
  EXPECT_EQ(weight, 23);
}

TEST(Models, BertLayersShareTheirTasks) {
  const TaskGraph tasks = ImportOptimized(ModelFile("bert_tiny").path());
  EXPECT_EQ(tasks.calls.size(), 20u);
  EXPECT_EQ(tasks.tasks.size(), 7u);
  EXPECT_EQ(CountTasks(tasks, "softmax"), 0) << "softmax is part of the attention task";
  EXPECT_EQ(CountTasks(tasks, "reducemean"), 5) << "one task per layer normalization";
  EXPECT_EQ(CountTasks(tasks, "erf"), 2);
  EXPECT_EQ(CountTasks(tasks, "matmul"), 12) << "everything elementwise is behind a product";
}

/// The optimized graph and its tasks compute what the imported one does.
void ExpectSameResults(const Graph& imported) {
  const std::vector<tensor::HostTensor> inputs = RandomInputs(imported);
  const std::vector<tensor::HostTensor> expected = EvaluateGraph(imported, inputs);
  Graph optimized = imported;
  Optimize(optimized);
  const std::vector<tensor::HostTensor> folded = EvaluateGraph(optimized, inputs);
  const std::vector<tensor::HostTensor> fused =
      InterpretTasks(ExtractTasks(std::move(optimized)), inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(Difference(folded[i], expected[i], 1e-4, 1e-5), "");
    EXPECT_EQ(Difference(fused[i], expected[i], 1e-4, 1e-5), "");
  }
}

TEST(Models, OptimizingKeepsTheResult) {
  for (int batch : {1, 3}) {
    ExpectSameResults(ImportOnnx(SmallConvolutionalNetwork(batch).path()));
    ExpectSameResults(ImportOnnx(SmallTransformer(batch).path()));
    ExpectSameResults(ImportOnnx(SmallDenseNetwork(batch).path()));
    ExpectSameResults(ImportOnnx(SmallInceptionNetwork(batch).path()));
  }
}

TEST(Models, NothingIsTransposedBetweenConvolutions) {
  const TaskGraph tasks = ImportOptimized(SmallConvolutionalNetwork().path());
  EXPECT_EQ(CountTasks(tasks, "transpose"), 1) << "the second output, which is flattened too";
}

TEST(Models, BatchedDenseLayersAreMatrixProducts) {
  const TaskGraph tasks = ImportOptimized(SmallTransformer(3).path());
  for (const GraphTask& task : tasks.tasks) {
    if (task.workload.name.find("matmul+add") == std::string::npos) continue;
    EXPECT_EQ(task.workload.buffers[task.workload.Parameters().back()].shape.size(), 2u);
  }
}

}  // namespace
}  // namespace bayloom::graph
