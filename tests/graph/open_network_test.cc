// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/open/corner.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/open_models.h"

namespace bayloom::graph {
namespace {

/// The tensor as the beginning of a larger one, whose other elements no result may depend on.
tensor::HostTensor InLargest(const tensor::HostTensor& part, const std::vector<int64_t>& shape) {
  tensor::HostTensor whole = tensor::HostTensor::Zeros(part.dtype, shape);
  const auto set = [&](int64_t at, const tensor::HostTensor& from, int64_t element) {
    if (tensor::IsFloat(part.dtype)) return whole.Set(at, from.Get(element));
    whole.SetInt(at, from.GetInt(element));
  };
  tensor::HostTensor poison = tensor::HostTensor::Zeros(part.dtype, {});
  if (tensor::IsFloat(part.dtype)) {
    poison.Set(0, std::numeric_limits<double>::quiet_NaN());
  } else {
    poison.SetInt(0, 0x5555);
  }
  for (int64_t i = 0; i < whole.ElementCount(); ++i) set(i, poison, 0);
  for (int64_t i = 0; i < part.ElementCount(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
      at += rest % part.shape[d] * stride;
      rest /= part.shape[d];
    }
    set(at, part, i);
  }
  return whole;
}

class OpenNetworks : public testing::TestWithParam<OpenModel> {};

TEST_P(OpenNetworks, TasksComputeTheModelForAllLengths) {
  const OpenModel& model = GetParam();
  Graph open = model.Imported();
  Optimize(open);
  const TaskGraph tasks = ExtractTasks(std::move(open));
  std::vector<SymbolValues> points = PointsToConfirm(model.symbols);
  points.push_back(SamplePoints(model.symbols).front());
  for (const SymbolValues& lengths : points) {
    SCOPED_TRACE(testing::PrintToString(lengths));
    const Graph fixed = model.Fixed(lengths);
    const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, 5);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
    std::vector<tensor::HostTensor> largest;
    for (size_t i = 0; i < inputs.size(); ++i) {
      largest.push_back(InLargest(inputs[i], tasks.graph.values[tasks.graph.inputs[i]].shape));
    }
    const std::vector<tensor::HostTensor> outputs = InterpretTasks(tasks, largest, lengths);
    for (size_t k = 0; k < expected.size(); ++k) {
      const tensor::HostTensor actual = CornerOf(outputs[k], expected[k].shape);
      for (int64_t i = 0; i < actual.ElementCount(); ++i) {
        ASSERT_NEAR(actual.Get(i), expected[k].Get(i), 1e-4 * (1 + std::abs(expected[k].Get(i))))
            << Print(tasks.graph);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OpenNetworks, testing::ValuesIn(OpenModels()),
                         [](const auto& model) { return model.param.name; });

}  // namespace
}  // namespace bayloom::graph
