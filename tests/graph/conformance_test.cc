// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/conformance.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/open/corner.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/sketch/default_schedule.h"

namespace bayloom::graph {
namespace {

const char* const kNodeTests = "/usr/share/libonnx-testdata/data/node";

/// ONNX's own tests of its operators: none wrong, each unsupported one refused in one line.
void ExpectConformance(const GraphEvaluator& evaluate) {
  if (!std::filesystem::exists(kNodeTests)) GTEST_SKIP() << "libonnx-testdata is not installed";
  int passed = 0;
  for (const ConformanceResult& result : RunConformanceTests(kNodeTests, evaluate)) {
    EXPECT_NE(result.verdict, ConformanceVerdict::kWrong) << result.test << ": " << result.reason;
    EXPECT_EQ(result.reason.find('\n'), std::string::npos) << result.test;
    passed += result.verdict == ConformanceVerdict::kPassed;
  }
  ::testing::Test::RecordProperty("passed", passed);
  EXPECT_GE(passed, 884);
}

/// Outputs in the shapes that they have for the lengths that the network finds.
std::vector<tensor::HostTensor> InterpretFinding(const TaskGraph& tasks,
                                                 const std::vector<tensor::HostTensor>& inputs) {
  const Interpreted result = InterpretNetwork(tasks, inputs);
  std::vector<tensor::HostTensor> outputs;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const ValueId value = tasks.graph.outputs[i].value;
    outputs.push_back(CornerOf(result.outputs[i], ShapeAt(tasks.graph, value, result.lengths)));
  }
  return outputs;
}

TEST(Conformance, ImportedGraphs) {
  ExpectConformance([](const Graph& graph, const std::vector<tensor::HostTensor>& inputs) {
    return graph.found.empty() ? EvaluateGraph(graph, inputs)
                               : InterpretFinding(ExtractTasks(graph), inputs);
  });
}

TEST(Conformance, FusedTasks) {
  ExpectConformance([](const Graph& graph, const std::vector<tensor::HostTensor>& inputs) {
    Graph optimized = graph;
    Optimize(optimized);
    return InterpretFinding(ExtractTasks(std::move(optimized)), inputs);
  });
}

/// Through the whole compiler: design space, code generation, executor.
TEST(Conformance, CompiledNetworks) {
  const target::Target target = codegen::HostTarget(2);
  ExpectConformance([&](const Graph& graph, const std::vector<tensor::HostTensor>& inputs) {
    Graph optimized = graph;
    Optimize(optimized);
    const TaskGraph network = ExtractTasks(std::move(optimized));
    std::vector<tensor::Program> untuned;
    for (const GraphTask& task : network.tasks) {
      untuned.push_back(sketch::DefaultSchedule(task.workload, target));
    }
    std::vector<const tensor::Program*> programs;
    for (const tensor::Program& program : untuned) programs.push_back(&program);

    std::vector<const void*> arguments;
    for (const tensor::HostTensor& input : inputs) arguments.push_back(input.data.data());
    std::vector<tensor::HostTensor> outputs;
    std::vector<void*> results;
    for (const GraphOutput& output : network.graph.outputs) {
      const Value& value = network.graph.values[output.value];
      outputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
    }
    for (tensor::HostTensor& output : outputs) results.push_back(output.data.data());
    Executor executor(network, programs, target);
    executor.Run(arguments, results);
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].shape = ShapeAt(network.graph, network.graph.outputs[i].value, executor.Lengths());
      outputs[i].data.resize(outputs[i].ElementCount() * tensor::ByteSize(outputs[i].dtype));
    }
    return outputs;
  });
}

}  // namespace
}  // namespace bayloom::graph
