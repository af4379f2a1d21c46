#include "examples/models/models.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bayloom/base/random.h"
#include "bayloom/graph/conformance.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"

namespace bayloom {
namespace {

/// A model of examples/models as a file for the duration of a test.
class ModelFile {
 public:
  explicit ModelFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / ("bayloom_test_" + name + ".onnx"))
                  .string()) {
    models::FindModel(name).build(3).Save(path_);
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

int CountTasks(const TaskGraph& tasks, const std::string& what) {
  int count = 0;
  for (const TaskCall& call : tasks.calls) {
    count += tasks.tasks[call.task].workload.name.find(what) != std::string::npos;
  }
  return count;
}

TaskGraph Compile(const std::string& path) {
  Graph graph = ImportOnnx(path);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(Models, ResNet18BecomesFusedConvolutions) {
  const TaskGraph tasks = Compile(ModelFile("resnet18").path());
  EXPECT_EQ(tasks.calls.size(), 23u);
  EXPECT_EQ(tasks.tasks.size(), 18u);
  EXPECT_EQ(CountTasks(tasks, "conv"), 20);
  EXPECT_EQ(CountTasks(tasks, "transpose"), 0);
  int weight = 0;
  for (const GraphTask& task : tasks.tasks) weight += task.weight;
  EXPECT_EQ(weight, 23);
}

TEST(Models, BertLayersShareTheirTasks) {
  const TaskGraph tasks = Compile(ModelFile("bert_tiny").path());
  EXPECT_EQ(tasks.calls.size(), 26u);
  EXPECT_EQ(tasks.tasks.size(), 10u);
  EXPECT_EQ(CountTasks(tasks, "softmax"), 2);
  EXPECT_EQ(CountTasks(tasks, "reducemean"), 5) << "one task per layer normalization";
  EXPECT_EQ(CountTasks(tasks, "erf"), 2);
  EXPECT_EQ(CountTasks(tasks, "matmul"), 16) << "everything elementwise is behind a product";
}

/// The optimized graph computes what the imported one does.
TEST(Models, OptimizingKeepsTheResult) {
  for (const std::string name : {"bert_tiny"}) {
    const ModelFile file(name);
    const Graph imported = ImportOnnx(file.path());
    Graph optimized = imported;
    Optimize(optimized);
    const Value& input = imported.values[imported.inputs[0]];
    HostTensor data = HostTensor::Zeros(input.dtype, input.shape);
    RandomStream random(7);
    for (int64_t i = 0; i < data.ElementCount(); ++i) {
      data.Set(i, IsFloat(input.dtype) ? random.Normal() : static_cast<double>(i % 100));
    }
    const HostTensor expected = EvaluateGraph(imported, {data})[0];
    EXPECT_EQ(Difference(EvaluateGraph(optimized, {data})[0], expected, 1e-4, 1e-4), "") << name;
  }
}

}  // namespace
}  // namespace bayloom
