// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/quantized_models.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

double RealOf(const QuantizationParameters& q, const HostTensor& x, int64_t element) {
  return q.scales[0] * static_cast<double>(x.GetInt(element) - q.zeros[0]);
}

TEST(QuantizedNetworks, ResidualAdditionsWithRelu) {
  const QuantizationParameters a{DType::kUInt8, {0.031}, {7}}, b{DType::kInt8, {0.05}, {-30}};
  for (const bool relu : {false, true}) {
    const QuantizationParameters y{DType::kUInt8, {0.043}, {relu ? 0 : 90}};
    const HostTensor left = RandomLevels(a, {2, 4, 3, 5}, 1), right = RandomLevels(b, {4, 1, 1}, 2);
    ModelWriter writer;
    const std::string x = DequantizeNode(writer, writer.Input(a.dtype, left.shape), a);
    const std::string skip = DequantizeNode(writer, writer.Input(b.dtype, right.shape), b);
    const std::string sum = writer.Node("Add", {x, skip});
    writer.Output(QuantizeNode(writer, relu ? writer.Node("Relu", {sum}) : sum, y));
    Reals expected;
    for (int64_t i = 0; i < left.ElementCount(); ++i) {
      const double real = RealOf(a, left, i) + RealOf(b, right, i / 15 % 4);
      expected.push_back(relu ? std::max(real, 0.0) : real);
    }
    const Graph graph = ExpectLevels(writer, {left, right}, expected, y);
    EXPECT_EQ(graph.nodes.size(), 1) << Print(graph);
  }
}

TEST(QuantizedNetworks, BoundsBecomeLevels) {
  const QuantizationParameters x{DType::kInt8, {0.1}, {3}}, y{DType::kUInt8, {0.04}, {5}};
  const HostTensor levels = RandomLevels(x, {300}, 1);
  ModelWriter writer;
  const std::string clipped = writer.Node(
      "Clip",
      {writer.Node("Relu", {DequantizeNode(writer, writer.Input(x.dtype, levels.shape), x)}),
       writer.Constant(Floats({}, {-1})), writer.Constant(Floats({}, {6}))});
  writer.Output(QuantizeNode(writer, clipped, y));
  Reals expected;
  for (int64_t i = 0; i < 300; ++i) expected.push_back(std::clamp(RealOf(x, levels, i), 0.0, 6.0));
  ExpectLevels(writer, {levels}, expected, y);
}

TEST(QuantizedNetworks, ConcatenationsWithDifferentScales) {
  const std::vector<QuantizationParameters> parts = {
      {DType::kUInt8, {0.03}, {100}}, {DType::kUInt8, {0.07}, {20}}, {DType::kUInt8, {0.05}, {50}}};
  const QuantizationParameters y = parts[2];
  ModelWriter writer;
  std::vector<std::string> names;
  std::vector<HostTensor> inputs;
  Reals expected;
  for (size_t k = 0; k < parts.size(); ++k) {
    inputs.push_back(RandomLevels(parts[k], {1, 8 + 8 * static_cast<int64_t>(k), 3, 3}, k));
    names.push_back(
        DequantizeNode(writer, writer.Input(parts[k].dtype, inputs[k].shape), parts[k]));
    for (int64_t i = 0; i < inputs[k].ElementCount(); ++i) {
      expected.push_back(RealOf(parts[k], inputs[k], i));
    }
  }
  writer.Output(QuantizeNode(writer, writer.Node("Concat", names, {{"axis", int64_t{1}}}), y));
  const Graph graph = ExpectLevels(writer, inputs, expected, y);
  EXPECT_TRUE(ComputedFloats(graph).empty()) << Print(graph);
}

/// Maxima, reshapes and transpositions of quantized tensors move bytes; equal quantization before
/// and behind is nothing at all.
TEST(QuantizedNetworks, MovesOfBytes) {
  const QuantizationParameters q{DType::kInt8, {0.1}, {-128}};
  const HostTensor x = RandomLevels(q, {1, 4, 6, 6}, 1);
  ModelWriter writer;
  const auto requantized = [&](const std::string& value) {
    return DequantizeNode(writer, QuantizeNode(writer, value, q), q);
  };
  std::string value = DequantizeNode(writer, writer.Input(q.dtype, x.shape), q);
  value = requantized(writer.Node("MaxPool", {value},
                                  {{"kernel_shape", std::vector<int64_t>{3, 3}},
                                   {"strides", std::vector<int64_t>{2, 2}},
                                   {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  value =
      requantized(writer.Node("Transpose", {value}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}));
  value = writer.Node("Flatten", {value});
  writer.Output(QuantizeNode(writer, value, q));
  Reals expected;
  for (int64_t e = 0; e < 36; ++e) {
    const int64_t c = e % 4, row = e / 12, column = e / 4 % 3;
    int64_t greatest = -128;
    for (int64_t h = std::max<int64_t>(0, 2 * row - 1); h <= std::min<int64_t>(5, 2 * row + 1);
         ++h) {
      for (int64_t w = std::max<int64_t>(0, 2 * column - 1);
           w <= std::min<int64_t>(5, 2 * column + 1); ++w) {
        greatest = std::max(greatest, x.GetInt((c * 6 + h) * 6 + w));
      }
    }
    expected.push_back(q.scales[0] * static_cast<double>(greatest - q.zeros[0]));
  }
  const Graph graph = ExpectLevels(writer, {x}, expected, q);
  for (const Node& node : graph.nodes) {
    EXPECT_EQ(graph.values[node.output()].dtype, DType::kInt8) << Print(graph);
  }
}

TEST(QuantizedNetworks, MeansOfBytes) {
  const QuantizationParameters q{DType::kUInt8, {0.1}, {30}}, y{DType::kUInt8, {0.0713}, {40}};
  const HostTensor x = RandomLevels(q, {1, 4, 6, 6}, 1);
  for (const bool global : {false, true}) {
    for (const bool padded : {false, true}) {
      if (global && padded) continue;
      const int64_t count = global ? 1 : padded ? 4 : 3, pad = padded ? 1 : 0;
      ModelWriter writer;
      const std::string real = DequantizeNode(writer, writer.Input(q.dtype, x.shape), q);
      const ModelWriter::Attributes window = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                                              {"strides", std::vector<int64_t>{2, 2}},
                                              {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                                              {"count_include_pad", int64_t{padded}}};
      const std::string mean = global ? writer.Node("GlobalAveragePool", {real})
                                      : writer.Node("AveragePool", {real}, window);
      writer.Output(QuantizeNode(writer, mean, y));
      const int64_t extent = global ? 6 : 2;
      Reals expected;
      for (int64_t e = 0; e < 4 * count * count; ++e) {
        double sum = 0;
        for (int64_t k = 0; k < extent * extent; ++k) {
          const int64_t h = e / count % count * extent - pad + k / extent;
          const int64_t w = e % count * extent - pad + k % extent;
          if (h < 0 || h > 5 || w < 0 || w > 5) continue;
          sum += RealOf(q, x, (e / (count * count) * 6 + h) * 6 + w);
        }
        expected.push_back(sum / static_cast<double>(extent * extent));
      }
      const Graph graph = ExpectLevels(writer, {x}, expected, y);
      EXPECT_TRUE(ComputedFloats(graph).empty()) << Print(graph);
    }
  }
}

/// A residual block in the way that quantizers write it: all values between operators are bytes,
/// and layers that differ in their scales only are one task.
TEST(QuantizedNetworks, LayersWithDifferentScalesShareTasks) {
  ModelWriter writer;
  const auto parameters = [](int64_t layer, DType dtype) {
    return QuantizationParameters{dtype, {0.01 + 0.003 * static_cast<double>(layer)}, {layer}};
  };
  const QuantizationParameters weights{DType::kInt8, {0.01}, {0}};
  std::string x = writer.Node("Relu", {writer.Input(DType::kFloat32, {1, 16, 8, 8})});
  for (int64_t layer = 0; layer < 4; ++layer) {
    const QuantizationParameters before = parameters(layer, DType::kUInt8);
    const QuantizationParameters behind = parameters(layer + 1, DType::kUInt8);
    x = DequantizeNode(writer, QuantizeNode(writer, x, before), before);
    const std::string w = DequantizeNode(
        writer, writer.Constant(RandomLevels(weights, {16, 16, 1, 1}, layer)), weights);
    const std::string bias = writer.Constant(RandomTensor({16}, layer));
    const std::string y = writer.Node("Relu", {writer.Node("Conv", {x, w, bias})});
    x = writer.Node("Add", {x, DequantizeNode(writer, QuantizeNode(writer, y, behind), behind)});
  }
  writer.Output(x);
  Graph graph = writer.Import();
  const HostTensor image = RandomTensor({1, 16, 8, 8}, 9);
  const HostTensor expected = EvaluateGraph(graph, {image})[0];
  Optimize(graph);
  const TaskGraph tasks = ExtractTasks(graph);
  EXPECT_EQ(ComputedFloats(graph).size(), 1) << Print(graph);
  EXPECT_EQ(ByteProducts(graph), 4);
  // The input's quantization, the layers between, the last one; perhaps a change of order.
  EXPECT_LE(tasks.tasks.size(), 4) << Print(tasks);
  const HostTensor compiled = RunCompiled(tasks, {image})[0];
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    EXPECT_NEAR(compiled.Get(i), expected.Get(i), 0.03);
  }
}

/// DynamicQuantizeLinear, MatMulInteger and the scales behind it.
TEST(QuantizedNetworks, DynamicQuantization) {
  const int64_t rows = 5, inner = 24, columns = 7;
  const HostTensor x = RandomTensor({1, rows, inner}, 1);
  const HostTensor w = RandomIntegers(DType::kInt8, {inner, columns}, -127, 128, 2);
  const HostTensor bias = RandomTensor({columns}, 3);
  ModelWriter writer;
  const auto levels =
      writer.Node("DynamicQuantizeLinear", {writer.Input(DType::kFloat32, x.shape)}, {}, "", 3);
  const std::string product = writer.Node(
      "MatMulInteger",
      {levels[0], writer.Constant(w), levels[2], writer.Constant(Integers(DType::kInt8, {}, {2}))});
  const std::string scale = writer.Node("Mul", {levels[1], writer.Constant(Floats({1}, {0.01}))});
  const std::string floats = writer.Node("Cast", {product}, {{"to", int64_t{1}}});
  writer.Output(writer.Node("Add", {writer.Node("Mul", {floats, scale}), writer.Constant(bias)}));

  double low = 0, high = 0;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    low = std::min(low, x.Get(i));
    high = std::max(high, x.Get(i));
  }
  const double step = static_cast<float>((high - low) / 255);
  const double zero = std::nearbyint(-low / step);
  Reals expected;
  for (int64_t e = 0; e < rows * columns; ++e) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      const double level =
          std::clamp(std::nearbyint(x.Get(e / columns * inner + k) / step) + zero, 0.0, 255.0);
      sum += (level - zero) * static_cast<double>(w.GetInt(k * columns + e % columns) - 2);
    }
    expected.push_back(sum * step * 0.01 + bias.Get(e % columns));
  }
  Graph graph = writer.Import();
  ExpectClose(EvaluateGraph(graph, {x})[0], expected, 1e-4);
  Optimize(graph);
  EXPECT_EQ(ByteProducts(graph), 1) << Print(graph);
  EXPECT_EQ(ComputedFloats(graph).size(), 1) << Print(graph);
  ExpectClose(RunCompiled(ExtractTasks(std::move(graph)), {x})[0], expected, 1e-4);
}

/// onnxruntime's quantized operators with constant parameters.
TEST(QuantizedNetworks, OperatorsOfMicrosoft) {
  const QuantizationParameters a{DType::kUInt8, {0.0317}, {100}}, b{DType::kUInt8, {0.0703}, {20}},
      y{DType::kUInt8, {0.1013}, {60}};
  const HostTensor left = RandomLevels(a, {1, 6, 4, 4}, 1),
                   right = RandomLevels(b, {1, 6, 4, 4}, 2);
  for (const std::string op : {"QLinearAdd", "QLinearMul", "QLinearConcat"}) {
    ModelWriter writer;
    const std::string x = writer.Input(a.dtype, left.shape), z = writer.Input(b.dtype, right.shape);
    const auto p = ParameterNames(writer, a), q = ParameterNames(writer, b),
               r = ParameterNames(writer, y);
    const bool joins = op == "QLinearConcat";
    const std::vector<std::string> inputs =
        joins ? std::vector{r[0], r[1], x, p[0], p[1], z, q[0], q[1]}
              : std::vector{x, p[0], p[1], z, q[0], q[1], r[0], r[1]};
    const ModelWriter::Attributes axis = {{"axis", int64_t{1}}};
    writer.Output(
        writer.Node(op, inputs, joins ? axis : ModelWriter::Attributes(), "com.microsoft"));
    Reals expected;
    for (int64_t i = 0; i < left.ElementCount(); ++i) {
      const double one = RealOf(a, left, i), two = RealOf(b, right, i);
      expected.push_back(joins ? one : op == "QLinearAdd" ? one + two : one * two);
    }
    for (int64_t i = 0; joins && i < right.ElementCount(); ++i) {
      expected.push_back(RealOf(b, right, i));
    }
    const Graph graph = ExpectLevels(writer, {left, right}, expected, y);
    EXPECT_TRUE(ComputedFloats(graph).empty()) << op << Print(graph);
  }
}

}  // namespace
}  // namespace bayloom::graph
