// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/two_layers.h"

#include "bayloom/graph/passes/passes.h"
#include "bayloom/sketch/default_schedule.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {

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

std::unique_ptr<Compiled> Compile(Graph graph, const target::Target& target) {
  auto compiled = std::make_unique<Compiled>();
  Optimize(graph);
  compiled->network = ExtractTasks(std::move(graph));
  for (const GraphTask& task : compiled->network.tasks) {
    compiled->untuned.push_back(sketch::DefaultSchedule(task.workload, target));
  }
  for (const tensor::Program& program : compiled->untuned) compiled->programs.push_back(&program);
  return compiled;
}

}  // namespace bayloom::graph
