// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Errors against sums in float64, of untuned compiled networks and of the interpreted graph.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/tensor/scalar.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/small_models.h"
#include "tests/graph/two_layers.h"

namespace bayloom::graph {
namespace {

using Name = models::Value;
using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;
using tensor::DType;

constexpr int64_t kOnnxFloat = 1, kOnnxHalf = 10, kOnnxBFloat = 16;

tensor::HostTensor RandomNumbers(DType dtype, const Ints& shape, uint64_t seed, double low,
                                 double high) {
  tensor::HostTensor result = tensor::HostTensor::Zeros(dtype, shape);
  base::RandomStream random(seed);
  for (int64_t i = 0; i < result.ElementCount(); ++i) {
    result.Set(i, low + (high - low) * random.Uniform());
  }
  return result;
}

Doubles RoundedTo(DType dtype, const tensor::HostTensor& x) {
  Doubles values;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    values.push_back(tensor::RoundTo(dtype, x.Get(i)));
  }
  return values;
}

/// The compiled network's only output.
tensor::HostTensor CompiledOutput(const Graph& graph,
                                  const std::vector<tensor::HostTensor>& inputs) {
  const target::Target target = codegen::HostTarget(1);
  const std::unique_ptr<Compiled> compiled = Compile(graph, target);
  const auto& value = compiled->network.graph.values[compiled->network.graph.outputs[0].value];
  tensor::HostTensor result = tensor::HostTensor::Zeros(value.dtype, value.shape);
  std::vector<const void*> arguments;
  for (const tensor::HostTensor& input : inputs) arguments.push_back(input.data.data());
  std::vector<void*> results = {result.data.data()};
  Executor(compiled->network, compiled->programs, target).Run(arguments, results);
  return result;
}

/// The greatest error, relative to the root mean square of what is expected.
double ErrorOf(const tensor::HostTensor& actual, const Doubles& expected) {
  double square = 0, worst = 0;
  for (double e : expected) square += e * e;
  const double scale = std::sqrt(square / static_cast<double>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(actual.Get(static_cast<int64_t>(i)) - expected[i]);
    worst = error <= worst ? worst : error;  // a NaN stays
  }
  return worst / scale;
}

/// Both ways of computing the model are at most `bound` away from the truth.
void ExpectError(const std::string& path, const std::vector<tensor::HostTensor>& inputs,
                 const Doubles& expected, double bound) {
  const Graph graph = ImportOnnx(path);
  const tensor::HostTensor interpreted = EvaluateGraph(graph, inputs)[0];
  ASSERT_EQ(interpreted.ElementCount(), static_cast<int64_t>(expected.size()));
  EXPECT_LE(ErrorOf(interpreted, expected), bound) << "interpreted";
  EXPECT_LE(ErrorOf(CompiledOutput(graph, inputs), expected), bound) << "compiled";
}

void ExpectError(models::GraphBuilder model, const std::vector<tensor::HostTensor>& inputs,
                 const Doubles& expected, double bound) {
  const SmallModel file("precision", std::move(model));
  ExpectError(file.path(), inputs, expected, bound);
}

/// Rows of `a` [m, k] times columns of `b` [k, n].
Doubles Product(const Doubles& a, const Doubles& b, int64_t m, int64_t k, int64_t n) {
  Doubles c(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return c;
}

Name CastTo(models::GraphBuilder& g, const Name& x, int64_t type) {
  return g.Node("Cast", {x}, {{"to", type}});
}

/// A product of two inputs, cast to the type and the result back.
void ExpectProductError(int64_t k, int64_t type, DType dtype, double bound) {
  const int64_t m = 4, n = 24;
  models::GraphBuilder g("product", 13, 1);
  const Name a = CastTo(g, g.Input("a", {m, k}), type), b = CastTo(g, g.Input("b", {k, n}), type);
  g.Output(CastTo(g, g.Node("MatMul", {a, b}), kOnnxFloat), {m, n});
  const auto x = RandomNumbers(DType::kFloat32, {m, k}, 2, 0, 1);
  const auto y = RandomNumbers(DType::kFloat32, {k, n}, 3, -1, 1);
  const Doubles expected = Product(RoundedTo(dtype, x), RoundedTo(dtype, y), m, k, n);
  ExpectError(std::move(g), {x, y}, expected, bound);
}

TEST(Precision, HalfProductsSumInFloat32) {
  ExpectProductError(4096, kOnnxHalf, DType::kFloat16, 1e-6);
}
TEST(Precision, BFloatProductsSumInFloat32) {
  ExpectProductError(4096, kOnnxBFloat, DType::kBFloat16, 1e-6);
}
TEST(Precision, LongProductsSumInBlocks) {
  ExpectProductError(25088, kOnnxFloat, DType::kFloat32, 3e-6);
}

TEST(Precision, HalfConvolutionsSumInFloat32) {
  const int64_t ci = 64, co = 8, size = 6;
  models::GraphBuilder g("conv", 13, 1);
  const Name image = CastTo(g, g.Input("x", {1, ci, size, size}), kOnnxHalf);
  const Name weights = CastTo(g, g.Input("w", {co, ci, 3, 3}), kOnnxHalf);
  g.Output(CastTo(g, g.Node("Conv", {image, weights}), kOnnxFloat), {1, co, 4, 4});
  const auto x = RandomNumbers(DType::kFloat32, {1, ci, size, size}, 2, 0, 1);
  const auto w = RandomNumbers(DType::kFloat32, {co, ci, 3, 3}, 3, -1, 1);
  const Doubles a = RoundedTo(DType::kFloat16, x), b = RoundedTo(DType::kFloat16, w);
  Doubles expected;
  for (int64_t o = 0; o < co; ++o) {
    for (int64_t at = 0; at < 16; ++at) {
      double sum = 0;
      for (int64_t t = 0; t < ci * 9; ++t) {
        const int64_t c = t / 9, kh = t / 3 % 3, kw = t % 3;
        sum += a[(c * size + at / 4 + kh) * size + at % 4 + kw] * b[o * ci * 9 + t];
      }
      expected.push_back(sum);
    }
  }
  ExpectError(std::move(g), {x, w}, expected, 1e-6);
}

Doubles SoftmaxOf(const Doubles& x, int64_t columns) {
  Doubles y;
  for (size_t row = 0; row < x.size(); row += columns) {
    const auto begin = x.begin() + static_cast<int64_t>(row);
    const double max = *std::max_element(begin, begin + columns);
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += std::exp(x[row + j] - max);
    for (int64_t j = 0; j < columns; ++j) y.push_back(std::exp(x[row + j] - max) / sum);
  }
  return y;
}

TEST(Precision, SoftmaxOfManyClasses) {
  const int64_t rows = 2, columns = 18385;
  models::GraphBuilder g("softmax", 13, 1);
  g.Output(g.Node("Softmax", {g.Input("x", {rows, columns})}), {rows, columns});
  const auto x = RandomNumbers(DType::kFloat32, {rows, columns}, 2, -1, 1);
  ExpectError(std::move(g), {x}, SoftmaxOf(RoundedTo(DType::kFloat32, x), columns), 1e-6);
}

TEST(Precision, MeanOfManyElements) {
  const int64_t count = 150000;
  const auto x = RandomNumbers(DType::kFloat32, {2, count}, 2, 0, 1);
  for (const auto& [type, dtype] :
       {std::pair(kOnnxFloat, DType::kFloat32), std::pair(kOnnxHalf, DType::kFloat16)}) {
    models::GraphBuilder g("mean", 13, 1);
    const Name mean = g.Node("ReduceMean", {CastTo(g, g.Input("x", {2, count}), type)},
                             {{"axes", Ints{1}}, {"keepdims", int64_t{0}}});
    g.Output(CastTo(g, mean, kOnnxFloat), {2});
    const Doubles values = RoundedTo(dtype, x);
    Doubles expected(2, 0);
    for (int64_t i = 0; i < 2 * count; ++i) {
      expected[i / count] += values[i] / static_cast<double>(count);
    }
    ExpectError(std::move(g), {x}, expected, 1e-6);
  }
}

Doubles LayerNormOf(const Doubles& x, int64_t columns, double epsilon) {
  Doubles y;
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < columns; ++j) mean += x[row + j] / static_cast<double>(columns);
    for (int64_t j = 0; j < columns; ++j) {
      variance += (x[row + j] - mean) * (x[row + j] - mean) / static_cast<double>(columns);
    }
    for (int64_t j = 0; j < columns; ++j) {
      y.push_back((x[row + j] - mean) / std::sqrt(variance + epsilon));
    }
  }
  return y;
}

TEST(Precision, HalfLayerNormalizationOfLongRows) {
  const int64_t rows = 3, columns = 4096;
  models::GraphBuilder g("layernorm", 17, 1);
  const Name x = CastTo(g, g.Input("x", {rows, columns}), kOnnxHalf);
  const Name scale =
      CastTo(g, g.Constant("s", {columns}, std::vector<float>(columns, 1)), kOnnxHalf);
  const Name y = g.Node("LayerNormalization", {x, scale}, {{"epsilon", 1e-12F}});
  g.Output(CastTo(g, y, kOnnxFloat), {rows, columns});
  auto given = RandomNumbers(DType::kFloat32, {rows, columns}, 2, 0, 4);
  for (int64_t i = 2 * columns; i < 3 * columns; ++i) given.Set(i, 2);  // no variance: 0, not NaN
  ExpectError(std::move(g), {given}, LayerNormOf(RoundedTo(DType::kFloat16, given), columns, 1e-12),
              2e-6);
}

/// A file with float16 inputs, weights and outputs.
class HalfModel {
 public:
  HalfModel(int64_t m, const tensor::HostTensor& weights) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    onnx::GraphProto& graph = *model_.mutable_graph();
    graph.set_name("half");
    const int64_t k = weights.shape[0], n = weights.shape[1];
    Declare(*graph.add_input(), "x", {m, k});
    Declare(*graph.add_output(), "y", {m, n});
    onnx::TensorProto& data = *graph.add_initializer();
    data.set_name("w");
    data.set_data_type(onnx::TensorProto::FLOAT16);
    data.add_dims(k);
    data.add_dims(n);
    data.set_raw_data(weights.data.data(), weights.data.size());
    Add(graph, "MatMul", {"x", "w"}, "p");
    Add(graph, "Relu", {"p"}, "y");
    std::ofstream file(path_, std::ios::binary);
    model_.SerializeToOstream(&file);
  }
  ~HalfModel() { std::filesystem::remove(path_); }
  HalfModel(const HalfModel&) = delete;
  HalfModel& operator=(const HalfModel&) = delete;
  const std::string& path() const { return path_; }

 private:
  static void Declare(onnx::ValueInfoProto& value, const std::string& name, const Ints& shape) {
    value.set_name(name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT16);
    for (int64_t extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  static void Add(onnx::GraphProto& graph, const std::string& op,
                  const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
  }

  onnx::ModelProto model_;
  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("bayloom_half_" + std::to_string(getpid()) + ".onnx"))
                                .string();
};

TEST(Precision, HalfModelsKeepTheirInterface) {
  const int64_t m = 3, k = 2048, n = 16;
  const auto x = RandomNumbers(DType::kFloat16, {m, k}, 2, 0, 1);
  const auto w = RandomNumbers(DType::kFloat16, {k, n}, 3, -0.1, 0.2);
  const HalfModel model(m, w);
  const Graph graph = ImportOnnx(model.path());
  EXPECT_EQ(graph.values[graph.inputs[0]].dtype, DType::kFloat16);
  EXPECT_EQ(graph.values[graph.outputs[0].value].dtype, DType::kFloat16);
  EXPECT_EQ(graph.values[graph.outputs[0].value].name, "y");
  Doubles expected = Product(RoundedTo(DType::kFloat16, x), RoundedTo(DType::kFloat16, w), m, k, n);
  for (double& e : expected) e = tensor::RoundTo(DType::kFloat16, std::max(e, 0.0));
  ExpectError(model.path(), {x}, expected, 0x1p-10);  // a sum may fall on the other side of a tie
}

TEST(Precision, HalfModelsKeepTheirWeights) {
  const int64_t m = 1, k = 512, n = 48;
  const auto x = RandomNumbers(DType::kFloat16, {m, k}, 2, 0, 1);
  const auto w = RandomNumbers(DType::kFloat16, {k, n}, 3, -0.1, 0.2);
  const HalfModel model(m, w);
  Graph graph = ImportOnnx(model.path());
  Optimize(graph);
  int constants = 0;
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    EXPECT_EQ(value.dtype, DType::kFloat16) << Print(graph);
    ++constants;
  }
  EXPECT_EQ(constants, 1);
}

}  // namespace
}  // namespace bayloom::graph
