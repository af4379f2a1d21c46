// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/pass_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "bayloom/base/random.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/sketch/default_schedule.h"

namespace bayloom::graph {

tensor::HostTensor RandomTensor(std::vector<int64_t> shape, uint64_t seed) {
  base::RandomStream random(seed);
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(tensor::DType::kFloat32, std::move(shape));
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) tensor.Set(i, random.Normal());
  return tensor;
}

std::vector<tensor::HostTensor> RandomInputs(const Graph& graph) {
  std::vector<tensor::HostTensor> inputs;
  base::RandomStream random(7);
  for (ValueId input : graph.inputs) {
    const Value& value = graph.values[input];
    inputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
    for (int64_t i = 0; i < value.ElementCount(); ++i) {
      inputs.back().Set(
          i, tensor::IsFloat(value.dtype) ? random.Normal() : static_cast<double>(i % 50));
    }
  }
  return inputs;
}

Graph CheckedPass(const std::function<void(Graph&)>& pass, const Graph& graph) {
  Graph result = graph;
  pass(result);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
  const std::vector<tensor::HostTensor> expected = EvaluateGraph(graph, inputs);
  const std::vector<tensor::HostTensor> actual = EvaluateGraph(result, inputs);
  EXPECT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].shape, expected[i].shape) << "output " << i;
    EXPECT_EQ(Difference(actual[i], expected[i], 1e-4, 1e-5), "") << "output " << i;
  }
  return result;
}

std::vector<tensor::HostTensor> RunCompiled(const TaskGraph& tasks,
                                            const std::vector<tensor::HostTensor>& inputs) {
  const target::Target target = codegen::HostTarget(2);
  std::vector<tensor::Program> programs;
  for (const GraphTask& task : tasks.tasks) {
    programs.push_back(sketch::DefaultSchedule(task.workload, target));
  }
  std::vector<const tensor::Program*> chosen;
  for (const tensor::Program& program : programs) chosen.push_back(&program);
  Executor executor(tasks, chosen, target);
  std::vector<const void*> in;
  for (const tensor::HostTensor& input : inputs) in.push_back(input.data.data());
  std::vector<tensor::HostTensor> outputs;
  for (const GraphOutput& output : tasks.graph.outputs) {
    const Value& value = tasks.graph.values[output.value];
    outputs.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
  }
  std::vector<void*> out;
  for (tensor::HostTensor& output : outputs) out.push_back(output.data.data());
  executor.Run(in, out);
  return outputs;
}

std::string OpsOf(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  return fmt::format("{}", fmt::join(ops, ", "));
}

tensor::Tensor Convolve(GraphBuilder& b, const tensor::Tensor& x, const tensor::Tensor& w) {
  const std::vector<int64_t>& image = x.shape();
  const std::vector<int64_t>& kernel = w.shape();
  return b.Reduce(
      "conv", {image[0], image[1] - kernel[0] + 1, image[2] - kernel[1] + 1, kernel[3]},
      {{"kh", kernel[0]}, {"kw", kernel[1]}, {"ci", kernel[2]}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) {
        return x(s[0], s[1] + r[0], s[2] + r[1], r[2]) * w(r[0], r[1], r[2], s[3]);
      },
      NodeKind::kWindow);
}

tensor::Tensor ConvolveChannelsFirst(GraphBuilder& b, const tensor::Tensor& x,
                                     const tensor::Tensor& w) {
  const std::vector<int64_t>& image = x.shape();
  const std::vector<int64_t>& kernel = w.shape();
  return b.Reduce(
      "conv", {image[0], kernel[0], image[2] - kernel[2] + 1, image[3] - kernel[3] + 1},
      {{"ci", kernel[1]}, {"kh", kernel[2]}, {"kw", kernel[3]}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) {
        return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]);
      },
      NodeKind::kWindow);
}

tensor::Tensor Multiply(GraphBuilder& b, const tensor::Tensor& a, const tensor::Tensor& w) {
  return b.Reduce(
      "matmul", {a.shape()[0], w.shape()[1]}, {{"k", w.shape()[0]}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) { return a(s[0], r[0]) * w(r[0], s[1]); },
      NodeKind::kMatmul);
}

tensor::Tensor Relu(GraphBuilder& b, const tensor::Tensor& x) {
  return b.Map("relu", x.shape(),
               [&](const auto& i) { return tensor::Max(x.At(i), tensor::FloatLiteral(0)); });
}

}  // namespace bayloom::graph
