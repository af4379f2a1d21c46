// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Runs models with expected outputs (folders as those of ONNX's node tests), many in one process:
/// reads lines "WAY FOLDER" and answers each with a line "VERDICT REASON".
#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "bayloom/base/single_line.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/open/corner.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/tuned_network.h"

namespace bayloom {
namespace {

using Tensors = std::vector<tensor::HostTensor>;

graph::TaskGraph TasksOf(const graph::Graph& graph) {
  graph::Graph optimized = graph;
  graph::Optimize(optimized);
  return graph::ExtractTasks(std::move(optimized));
}

Tensors Execute(const graph::TaskGraph& network,
                const std::vector<const tensor::Program*>& programs, const target::Target& target,
                const Tensors& inputs) {
  std::vector<const void*> arguments;
  for (const tensor::HostTensor& input : inputs) arguments.push_back(input.data.data());
  Tensors outputs;
  for (const graph::GraphOutput& output : network.graph.outputs) {
    const graph::Value& value = network.graph.values[output.value];
    outputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
  }
  std::vector<void*> results;
  for (tensor::HostTensor& output : outputs) results.push_back(output.data.data());
  graph::Executor executor(network, programs, target);
  executor.Run(arguments, results);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].shape =
        graph::ShapeAt(network.graph, network.graph.outputs[i].value, executor.Lengths());
    outputs[i].data.resize(
        static_cast<size_t>(outputs[i].ElementCount() * tensor::ByteSize(outputs[i].dtype)));
  }
  return outputs;
}

/// Node by node; a network that finds lengths task by task.
Tensors Interpret(const graph::Graph& graph, const Tensors& inputs) {
  if (graph.found.empty()) return graph::EvaluateGraph(graph, inputs);
  const graph::TaskGraph network = graph::ExtractTasks(graph);
  const graph::Interpreted result = graph::InterpretNetwork(network, inputs);
  Tensors outputs;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const graph::ValueId value = network.graph.outputs[i].value;
    outputs.push_back(
        graph::CornerOf(result.outputs[i], graph::ShapeAt(network.graph, value, result.lengths)));
  }
  return outputs;
}

Tensors RunPlainPrograms(const graph::Graph& graph, const Tensors& inputs) {
  const target::Target target = codegen::HostTarget(2);
  const graph::TaskGraph network = TasksOf(graph);
  std::vector<tensor::Program> plain;
  for (const graph::GraphTask& task : network.tasks) {
    plain.push_back(sketch::DefaultSchedule(task.workload, target));
  }
  std::vector<const tensor::Program*> programs;
  for (const tensor::Program& program : plain) programs.push_back(&program);
  return Execute(network, programs, target, inputs);
}

Tensors RunEstimatedPrograms(const graph::Graph& graph, const Tensors& inputs) {
  const target::Target target = codegen::HostTarget(1);
  tuning::ProgramCheck check(target);
  const auto tuned = tuning::TunedNetwork::Choose(TasksOf(graph), target, {.check = &check});
  return Execute(tuned.network, tuned.Programs(), tuned.target, inputs);
}

/// How a model is run.
struct Way {
  graph::GraphEvaluator evaluate;
  bool freezes_all = false;
};

std::string Answer(const Way& way, const std::string& folder) {
  constexpr double kRoundings = 64;
  try {
    const graph::ConformanceResult result = graph::RunConformanceTest(
        folder, way.evaluate, {.freezes_all = way.freezes_all, .roundings = kRoundings});
    const char* verdict = result.verdict == graph::ConformanceVerdict::kPassed    ? "passed"
                          : result.verdict == graph::ConformanceVerdict::kRefused ? "refused"
                                                                                  : "wrong";
    return fmt::format("{} {}", verdict, base::MessageInOneLine(result.reason));
  } catch (const std::exception& error) {
    return fmt::format("fault {}", base::MessageInOneLine(error.what()));
  }
}

int Main() {
  const std::map<std::string, Way> ways = {{"folded", {graph::EvaluateGraph, true}},
                                           {"interpreted", {Interpret}},
                                           {"compiled", {RunPlainPrograms}},
                                           {"estimated", {RunEstimatedPrograms}}};
  std::string way, folder;
  while (std::cin >> way && std::getline(std::cin >> std::ws, folder)) {
    std::cout << Answer(ways.at(way), folder) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  return bayloom::Main();
}
