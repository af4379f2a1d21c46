// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/one_operator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/base/random.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/measure/test_data.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

Graph ImportOperator(const OneOperator& model) {
  ModelWriter writer(model.opset);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const bool constant = model.constants.contains(static_cast<int>(i));
    inputs.push_back(!model.inputs[i] ? ""
                     : constant       ? writer.Constant(*model.inputs[i])
                                : writer.Input(model.inputs[i]->dtype, model.inputs[i]->shape));
  }
  for (const std::string& output :
       writer.Node(model.op, inputs, model.attributes, model.domain, model.outputs)) {
    writer.Output(output);
  }
  return writer.Import();
}

/// Tasks are measured on random data, also in place of constants: indices have to stay in range.
void ExpectThatTasksCanBeMeasured(const TaskGraph& network) {
  for (const GraphTask& task : network.tasks) {
    auto arguments = measure::MakeArguments(task.workload, 1, measure::DataRange::kSymmetric);
    EXPECT_NO_THROW(tensor::Interpret(tensor::Lower(task.workload), arguments));
  }
}

}  // namespace

std::vector<tensor::HostTensor> RunOperator(const OneOperator& model) {
  Graph graph = ImportOperator(model);
  std::vector<tensor::HostTensor> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const bool constant = model.constants.contains(static_cast<int>(i));
    if (model.inputs[i] && !constant) inputs.push_back(*model.inputs[i]);
  }
  const std::vector<tensor::HostTensor> outputs = EvaluateGraph(graph, inputs);
  Optimize(graph);
  const TaskGraph network = ExtractTasks(std::move(graph));
  ExpectThatTasksCanBeMeasured(network);
  const auto compiled = RunCompiled(network, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(compiled[i].shape, outputs[i].shape);
    ExpectClose(compiled[i], Values(outputs[i]), 1e-4);
  }
  return outputs;
}

tensor::HostTensor Integers(tensor::DType dtype, std::vector<int64_t> shape,
                            const std::vector<int64_t>& values) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return tensor;
}

tensor::HostTensor RandomIntegers(tensor::DType dtype, std::vector<int64_t> shape, int64_t low,
                                  int64_t high, uint64_t seed) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  base::RandomStream random(seed);
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    tensor.SetInt(i, low + random.UniformInt(high - low));
  }
  return tensor;
}

void ExpectClose(const tensor::HostTensor& actual, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(actual.ElementCount(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = actual.Get(static_cast<int64_t>(i));
    if (std::isnan(expected[i]) && std::isnan(a)) continue;
    if (a == expected[i]) continue;
    ASSERT_NEAR(a, expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

}  // namespace bayloom::graph
