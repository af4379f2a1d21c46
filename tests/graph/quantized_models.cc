// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/quantized_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

/// No element misses its level by more than a quantum, and few do by that.
void ExpectNearLevels(const tensor::HostTensor& actual, const Reals& expected,
                      const QuantizationParameters& q) {
  ASSERT_EQ(actual.dtype, q.dtype);
  ASSERT_EQ(actual.ElementCount(), std::ssize(expected));
  int64_t missed = 0;
  for (int64_t i = 0; i < actual.ElementCount(); ++i) {
    const int64_t level = q.Level(expected[i]);
    missed += actual.GetInt(i) != level;
    EXPECT_NEAR(static_cast<double>(actual.GetInt(i)), static_cast<double>(level), 1.0)
        << "element " << i;
  }
  EXPECT_LE(missed, actual.ElementCount() / 50) << "of " << actual.ElementCount();
}

}  // namespace

int64_t QuantizationParameters::Level(double x) const {
  const double level = std::nearbyint(x / scales[0]) + static_cast<double>(zeros[0]);
  return static_cast<int64_t>(
      std::clamp(level, static_cast<double>(Lowest()), static_cast<double>(Highest())));
}

std::vector<std::string> ParameterNames(ModelWriter& writer, const QuantizationParameters& q) {
  const auto shape = [](size_t count) {
    return count == 1 ? std::vector<int64_t>{} : std::vector{static_cast<int64_t>(count)};
  };
  return {writer.Constant(Floats(shape(q.scales.size()), q.scales)),
          writer.Constant(Integers(q.dtype, shape(q.zeros.size()), q.zeros))};
}

std::string QuantizeNode(ModelWriter& writer, const std::string& x,
                         const QuantizationParameters& q) {
  const std::vector<std::string> names = ParameterNames(writer, q);
  return writer.Node("QuantizeLinear", {x, names[0], names[1]}, {{"axis", int64_t{q.axis}}});
}

std::string DequantizeNode(ModelWriter& writer, const std::string& x,
                           const QuantizationParameters& q) {
  const std::vector<std::string> names = ParameterNames(writer, q);
  return writer.Node("DequantizeLinear", {x, names[0], names[1]}, {{"axis", int64_t{q.axis}}});
}

tensor::HostTensor RandomLevels(const QuantizationParameters& q, std::vector<int64_t> shape,
                                uint64_t seed) {
  return RandomIntegers(q.dtype, std::move(shape), q.Lowest(), q.Highest() + 1, seed);
}

Graph ExpectLevels(const ModelWriter& writer, const std::vector<tensor::HostTensor>& inputs,
                   const Reals& expected, const QuantizationParameters& q) {
  Graph graph = writer.Import();
  ExpectNearLevels(EvaluateGraph(graph, inputs)[0], expected, q);
  Optimize(graph);
  ExpectNearLevels(RunCompiled(ExtractTasks(graph), inputs)[0], expected, q);
  return graph;
}

std::vector<std::string> ComputedFloats(const Graph& graph, int64_t elements) {
  const TaskGraph tasks = ExtractTasks(graph);
  std::vector<std::string> names;
  for (const TaskCall& call : tasks.calls) {
    const Value& result = tasks.graph.values[call.parameters.back()];
    if (tensor::IsFloat(result.dtype) && result.ElementCount() > elements) {
      names.push_back(result.name);
    }
  }
  return names;
}

int ByteProducts(const Graph& graph) {
  return static_cast<int>(std::ranges::count_if(graph.nodes, [](const Node& node) {
    if (!IsAnchor(node) || node.stage.value->dtype != tensor::DType::kInt32) return false;
    const std::vector<tensor::Expr> loads = LoadsOf(node.stage.value);
    return node.stage.value->op == tensor::ExprOp::kMul && loads.size() == 2 &&
           std::ranges::all_of(loads, [](const tensor::Expr& load) {
             return tensor::IsInteger(load->dtype) && tensor::ByteSize(load->dtype) == 1;
           });
  }));
}

}  // namespace bayloom::graph
