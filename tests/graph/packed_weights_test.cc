// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products with weights of few bits, which stay packed.
#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

/// Bytes of constants that the optimized graph has.
int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.constant) bytes += static_cast<int64_t>(value.constant->data.size());
  }
  return bytes;
}

/// x [rows, 64] times weights [64, 48] of `bits` in blocks of 32 along their first axis.
struct BlockProduct {
  int64_t bits, rows, low;
  static constexpr int64_t kK = 64, kN = 48, kBlock = 32;
  HostTensor x = RandomTensor({rows, kK}, 1);
  HostTensor levels = RandomIntegers(low < 0 ? DType::kInt8 : DType::kUInt8, {kK, kN}, low,
                                     low + (int64_t{1} << bits), 2);
  HostTensor scales = RandomTensor({kK / kBlock, kN}, 3);
  HostTensor zeros =
      RandomIntegers(levels.dtype, {kK / kBlock, kN}, low, low + (int64_t{1} << bits), 4);

  std::vector<double> Expected() const {
    std::vector<double> expected;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < kK; ++k) {
          const int64_t block = k / kBlock * kN + j;
          sum +=
              x.Get(i * kK + k) * (levels.Get(k * kN + j) - zeros.Get(block)) * scales.Get(block);
        }
        expected.push_back(sum);
      }
    }
    return expected;
  }

  std::string Write(ModelWriter& model, const HostTensor& integers) const {
    constexpr int kUint4Type = 21, kInt4Type = 22;
    return bits == 4 ? model.ConstantOf4Bits(integers, low < 0 ? kInt4Type : kUint4Type)
                     : model.Constant(integers);
  }

  /// DequantizeLinear and MatMul; `transposed`: of weights [n, k], and Gemm.
  Graph Import(bool transposed, const ImportOptions& options = {}) const {
    const auto given = [&](const HostTensor& t) { return transposed ? Transposed(t) : t; };
    ModelWriter model(21);
    const std::string input = model.Input(DType::kFloat32, {rows, kK});
    const std::string weights = model.Node(
        "DequantizeLinear",
        {Write(model, given(levels)), model.Constant(given(scales)), Write(model, given(zeros))},
        {{"axis", int64_t{transposed}}, {"block_size", kBlock}});
    model.Output(transposed ? model.Node("Gemm", {input, weights}, {{"transB", int64_t{1}}})
                            : model.Node("MatMul", {input, weights}));
    return model.Import(options);
  }

 private:
  static HostTensor Transposed(const HostTensor& t) {
    HostTensor result = HostTensor::Zeros(t.dtype, {t.shape[1], t.shape[0]});
    for (int64_t i = 0; i < t.ElementCount(); ++i) {
      result.Set(i % t.shape[1] * t.shape[0] + i / t.shape[1], t.Get(i));
    }
    return result;
  }
};

TEST(PackedWeights, BlocksOfDequantizedWeightsStayPacked) {
  for (const auto& [bits, low] : {std::pair<int64_t, int64_t>{4, -8}, {4, 0}, {8, -128}, {8, 0}}) {
    for (bool transposed : {false, true}) {
      const BlockProduct product{bits, 1, low};
      SCOPED_TRACE(std::to_string(bits) + " bits from " + std::to_string(low));
      Graph graph = product.Import(transposed);
      ExpectClose(EvaluateGraph(graph, {product.x})[0], product.Expected(), 1e-4);
      Optimize(graph);
      // A scale and a zero point of each block beside the levels.
      const int64_t levels = BlockProduct::kK * BlockProduct::kN * bits / 8;
      const int64_t blocks = BlockProduct::kK / BlockProduct::kBlock * BlockProduct::kN;
      EXPECT_EQ(ConstantBytes(graph), levels + 5 * blocks) << Print(graph);
      ExpectClose(RunCompiled(ExtractTasks(graph), {product.x})[0], product.Expected(), 1e-4);
    }
  }
}

TEST(PackedWeights, ManyRowsReadThemToo) {
  const BlockProduct product{4, 64, -8};
  Graph graph = product.Import(false);
  Optimize(graph);
  EXPECT_LT(ConstantBytes(graph), BlockProduct::kK * BlockProduct::kN);
  ExpectClose(RunCompiled(ExtractTasks(graph), {product.x})[0], product.Expected(), 1e-4);
}

/// The largest part of an element's rounding is half of a 127th of its block's largest one.
TEST(PackedWeights, RowsAreRoundedWhereTheImportPermitsIt) {
  for (const int64_t rows : {1, 20}) {
    const BlockProduct product{4, rows, -8};
    ImportOptions options;
    options.integer_rows = true;
    Graph graph = product.Import(false, options);
    Optimize(graph);
    EXPECT_TRUE(std::ranges::any_of(graph.nodes, [](const Node& node) {
      return node.stage.value.defined() && node.stage.value->dtype == DType::kInt8;
    }));
    const std::vector<double> expected = product.Expected();
    const HostTensor actual = RunCompiled(ExtractTasks(graph), {product.x})[0];
    double largest = 0, error = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(actual.Get(static_cast<int64_t>(i)) - expected[i]));
    }
    EXPECT_LT(error, 0.02 * largest);
    EXPECT_GT(error, 1e-4 * largest);
  }
}

/// MatMulNBits of one row reads what the model stores, and a float32 scale of each block.
TEST(PackedWeights, MatMulNBitsStaysPacked) {
  const int64_t n = 32, k = 64, size = 16;
  for (int64_t bits : {2, 4, 8}) {
    ModelWriter model;
    const std::string a = model.Input(DType::kFloat32, {1, 1, k});
    const std::string b =
        model.Constant(RandomIntegers(DType::kUInt8, {n, k / size, size * bits / 8}, 0, 256, 2));
    const std::string scales = model.Constant(RandomTensor({n * k / size}, 3));
    model.Output(model.Node("MatMulNBits", {a, b, scales},
                            {{"N", n}, {"K", k}, {"bits", bits}, {"block_size", size}},
                            "com.microsoft"));
    Graph graph = model.Import();
    const HostTensor x = RandomTensor({1, 1, k}, 4);
    const HostTensor expected = EvaluateGraph(graph, {x})[0];
    Optimize(graph);
    EXPECT_EQ(ConstantBytes(graph), n * k * bits / 8 + 4 * n * k / size) << Print(graph);
    const HostTensor actual = RunCompiled(ExtractTasks(graph), {x})[0];
    for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(actual.Get(i), expected.Get(i), 1e-2) << i;
  }
}

}  // namespace
}  // namespace bayloom::graph
