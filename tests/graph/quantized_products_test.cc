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

const QuantizationParameters kUnsigned{DType::kUInt8, {0.02}, {119}};
const QuantizationParameters kSigned{DType::kInt8, {0.02}, {-9}};

/// A convolution of 9 x 9 images by 3 x 3 kernels between quantized tensors.
struct ConvCase {
  QuantizationParameters x, w, y;
  int64_t in = 8, out = 8, groups = 1, stride = 1, pad = 1;
  bool relu = false, integer_bias = true;

  static constexpr int64_t kExtent = 9, kKernel = 3;
  int64_t Count() const { return (kExtent + 2 * pad - kKernel) / stride + 1; }
  HostTensor Image() const { return RandomLevels(x, {2, in, kExtent, kExtent}, 1); }
  HostTensor Weights() const { return RandomLevels(w, {out, in / groups, kKernel, kKernel}, 2); }
  HostTensor BiasLevels() const { return RandomIntegers(DType::kInt32, {out}, -3000, 3000, 3); }
  double BiasScale(int64_t channel) const { return x.Scale(0) * w.Scale(channel); }

  ModelWriter Model() const {
    ModelWriter writer;
    const std::string image =
        DequantizeNode(writer, writer.Input(x.dtype, {2, in, kExtent, kExtent}), x);
    const std::string weights = DequantizeNode(writer, writer.Constant(Weights()), w);
    const std::string sums = writer.Node("Conv", {image, weights, Bias(writer)},
                                         {{"group", groups},
                                          {"strides", std::vector{stride, stride}},
                                          {"pads", std::vector{pad, pad, pad, pad}}});
    const std::string active = relu ? writer.Node("Relu", {sums}) : sums;
    writer.Output(QuantizeNode(writer, active, y));
    return writer;
  }

  std::string Bias(ModelWriter& writer) const {
    std::vector<double> scales, reals;
    for (int64_t c = 0; c < out; ++c) {
      scales.push_back(BiasScale(c));
      reals.push_back(BiasLevels().Get(c) * BiasScale(c));
    }
    if (!integer_bias) return writer.Constant(Floats({out}, reals));
    return writer.Node("DequantizeLinear",
                       {writer.Constant(BiasLevels()), writer.Constant(Floats({out}, scales))},
                       {{"axis", int64_t{0}}});
  }

  Reals Expected() const {
    const HostTensor image = Image(), weights = Weights(), bias = BiasLevels();
    Reals expected;
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t c = 0; c < out; ++c) {
        for (int64_t p = 0; p < Count() * Count(); ++p) {
          const int64_t sum = Sum(image, weights, n, c, p / Count(), p % Count());
          const double real = static_cast<double>(sum + bias.GetInt(c)) * BiasScale(c);
          expected.push_back(relu ? std::max(real, 0.0) : real);
        }
      }
    }
    return expected;
  }

  int64_t Sum(const HostTensor& image, const HostTensor& weights, int64_t n, int64_t c, int64_t row,
              int64_t column) const {
    const int64_t part = in / groups, group = c / (out / groups);
    int64_t sum = 0;
    for (int64_t k = 0; k < part * kKernel * kKernel; ++k) {
      const int64_t ci = k / (kKernel * kKernel), tap = k % (kKernel * kKernel);
      const int64_t h = row * stride - pad + tap / kKernel,
                    v = column * stride - pad + tap % kKernel;
      if (h < 0 || h >= kExtent || v < 0 || v >= kExtent) continue;
      const int64_t level =
          image.GetInt(((n * in + group * part + ci) * kExtent + h) * kExtent + v);
      const int64_t weight = weights.GetInt((c * part + ci) * kKernel * kKernel + tap);
      sum += (level - x.Zero(0)) * (weight - w.Zero(c));
    }
    return sum;
  }

  void Check(bool of_bytes = true) const {
    SCOPED_TRACE(::testing::Message() << "in " << in << " out " << out << " groups " << groups
                                      << " stride " << stride << " relu " << relu << " types "
                                      << tensor::ToString(x.dtype) << tensor::ToString(w.dtype));
    const Graph graph = ExpectLevels(Model(), {Image()}, Expected(), y);
    EXPECT_EQ(ByteProducts(graph), of_bytes ? 1 : 0) << Print(graph);
    EXPECT_TRUE(ComputedFloats(graph).empty()) << Print(graph);
  }
};

QuantizationParameters PerChannel(DType dtype, int64_t channels, int64_t spread) {
  QuantizationParameters q{dtype, {}, {}};
  for (int64_t c = 0; c < channels; ++c) {
    q.scales.push_back(0.004 + 0.001 * static_cast<double>(c % 5));
    q.zeros.push_back(spread * (c % 3 - 1));
  }
  return q;
}

TEST(QuantizedConv, IntegersOfAllTypesWithZeroPoints) {
  const QuantizationParameters symmetric{DType::kInt8, {0.005}, {0}};
  for (const QuantizationParameters& x : {kUnsigned, kSigned}) {
    for (const QuantizationParameters& y : {QuantizationParameters{DType::kUInt8, {0.9}, {101}},
                                            QuantizationParameters{DType::kInt8, {0.4}, {-20}}}) {
      ConvCase{.x = x, .w = symmetric, .y = y}.Check();
      ConvCase{.x = x, .w = PerChannel(DType::kInt8, 8, 0), .y = y, .relu = true}.Check();
      ConvCase{.x = x, .w = symmetric, .y = y, .stride = 2, .integer_bias = false}.Check();
    }
  }
}

TEST(QuantizedConv, GroupsAndDepthwise) {
  const QuantizationParameters y{DType::kUInt8, {0.5}, {128}};
  const QuantizationParameters w = PerChannel(DType::kInt8, 8, 0);
  ConvCase{.x = kUnsigned, .w = w, .y = y, .groups = 2}.Check();
  ConvCase{.x = kSigned, .w = w, .y = y, .groups = 8, .stride = 2, .relu = true}.Check();
}

TEST(QuantizedConv, AsymmetricWeights) {
  const QuantizationParameters y{DType::kUInt8, {0.9}, {77}};
  // In the middle: the weights fit 8 bits without it. At the rim: 16 are needed.
  ConvCase{.x = kUnsigned, .w = {DType::kUInt8, {0.005}, {128}}, .y = y}.Check();
  ConvCase{.x = kUnsigned, .w = {DType::kUInt8, {0.005}, {31}}, .y = y}.Check(false);
  ConvCase{.x = kSigned, .w = PerChannel(DType::kInt8, 8, 60), .y = y, .groups = 2}.Check(false);
}

TEST(QuantizedConv, ChannelsOfAnImageArePaddedToFour) {
  const QuantizationParameters y{DType::kUInt8, {0.5}, {128}};
  const ConvCase image{.x = kUnsigned, .w = PerChannel(DType::kInt8, 8, 0), .y = y, .in = 3};
  const Graph graph = ExpectLevels(image.Model(), {image.Image()}, image.Expected(), y);
  EXPECT_EQ(ByteProducts(graph), 1);
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::kWindow) continue;
    for (const tensor::Iter& iter : node.stage.iters) {
      if (iter.name == "ci") {
        EXPECT_EQ(iter.extent, 4);
      }
    }
  }
}

/// Levels of a result that reach both ends of the type, and ties in between: all exact.
TEST(QLinearConv, SaturatesAndRoundsTiesToEven) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    const QuantizationParameters y{dtype, {2}, {dtype == DType::kInt8 ? 1 : 126}};
    HostTensor x = HostTensor::Zeros(DType::kUInt8, {1, 1, 1, 256});
    for (int64_t i = 0; i < 256; ++i) x.SetInt(i, i);
    for (int64_t weight : {1, -3}) {
      const HostTensor w = Integers(DType::kInt8, {1, 1, 1, 1}, {weight});
      const HostTensor zero = Integers(dtype, {}, {y.zeros[0]});
      const HostTensor result =
          RunOperator({.op = "QLinearConv",
                       .inputs = {x, Floats({}, {1}), Integers(DType::kUInt8, {}, {100}), w,
                                  Floats({}, {1}), Integers(DType::kInt8, {}, {0}),
                                  Floats({}, y.scales), zero, Integers(DType::kInt32, {1}, {7})},
                       .constants = {1, 2, 3, 4, 5, 6, 7, 8}})[0];
      for (int64_t i = 0; i < 256; ++i) {
        EXPECT_EQ(result.GetInt(i), y.Level(static_cast<double>((i - 100) * weight + 7))) << i;
      }
    }
  }
}

/// a [2, 5, k] times b [k, n] or, of two activations, [2, k, n].
struct QuantizedProduct {
  QuantizationParameters a, b, y;
  bool activations = false;
  static constexpr int64_t kRows = 5, kInner = 19, kColumns = 6;

  std::vector<int64_t> LeftShape() const { return {2, kRows, kInner}; }
  std::vector<int64_t> RightShape() const {
    return activations ? std::vector<int64_t>{2, kInner, kColumns}
                       : std::vector<int64_t>{kInner, kColumns};
  }

  Reals Expected(const HostTensor& left, const HostTensor& right) const {
    Reals expected;
    for (int64_t e = 0; e < 2 * kRows * kColumns; ++e) {
      const int64_t n = e % kColumns, row = e / kColumns;
      const int64_t matrix = activations ? row / kRows : 0;
      int64_t sum = 0;
      for (int64_t k = 0; k < kInner; ++k) {
        sum += (left.GetInt(row * kInner + k) - a.Zero(0)) *
               (right.GetInt((matrix * kInner + k) * kColumns + n) - b.Zero(n));
      }
      expected.push_back(static_cast<double>(sum) * a.Scale(0) * b.Scale(n));
    }
    return expected;
  }

  void Check() const {
    SCOPED_TRACE(::testing::Message()
                 << tensor::ToString(a.dtype) << " " << tensor::ToString(b.dtype) << " activations "
                 << activations);
    const HostTensor left = RandomLevels(a, LeftShape(), 1),
                     right = RandomLevels(b, RightShape(), 2);
    ModelWriter writer;
    const std::string x = writer.Input(a.dtype, LeftShape());
    const std::string w =
        activations ? writer.Input(b.dtype, RightShape()) : writer.Constant(right);
    const std::string product =
        writer.Node("MatMul", {DequantizeNode(writer, x, a), DequantizeNode(writer, w, b)});
    writer.Output(QuantizeNode(writer, product, y));
    std::vector<HostTensor> inputs = {left};
    if (activations) inputs.push_back(right);
    const Graph graph = ExpectLevels(writer, inputs, Expected(left, right), y);
    EXPECT_EQ(ByteProducts(graph), 1) << Print(graph);
    EXPECT_TRUE(ComputedFloats(graph).empty()) << Print(graph);
  }
};

QuantizationParameters PerColumn(DType dtype, int64_t spread) {
  QuantizationParameters q = PerChannel(dtype, QuantizedProduct::kColumns, spread);
  q.axis = 1;
  return q;
}

TEST(QuantizedMatMul, WeightsOfAllKinds) {
  const QuantizationParameters y{DType::kUInt8, {0.35}, {120}};
  for (const QuantizationParameters& a : {kUnsigned, kSigned}) {
    for (const QuantizationParameters& b :
         {QuantizationParameters{DType::kInt8, {0.005}, {0}},
          QuantizationParameters{DType::kUInt8, {0.005}, {128}},
          QuantizationParameters{DType::kUInt8, {0.005}, {13}}, PerColumn(DType::kInt8, 0),
          PerColumn(DType::kInt8, 50)}) {
      QuantizedProduct{.a = a, .b = b, .y = y}.Check();
    }
  }
}

TEST(QuantizedMatMul, TwoActivationsWithZeroPoints) {
  const QuantizationParameters y{DType::kInt8, {0.35}, {-20}};
  for (const QuantizationParameters& a : {kUnsigned, kSigned}) {
    for (const QuantizationParameters& b : {kUnsigned, kSigned}) {
      QuantizedProduct{.a = a, .b = b, .y = y, .activations = true}.Check();
    }
  }
}

/// With transposed weights and a bias, which is left to floats where no quantization follows.
TEST(QuantizedGemm, FloatsWithoutQuantizationBehind) {
  const QuantizationParameters b = PerChannel(DType::kInt8, 6, 0);
  const HostTensor x = RandomLevels(kUnsigned, {4, 19}, 1), w = RandomLevels(b, {6, 19}, 2);
  const HostTensor bias = RandomTensor({6}, 3);
  ModelWriter writer;
  writer.Output(
      writer.Node("Gemm",
                  {DequantizeNode(writer, writer.Input(DType::kUInt8, {4, 19}), kUnsigned),
                   DequantizeNode(writer, writer.Constant(w), b), writer.Constant(bias)},
                  {{"transB", int64_t{1}}}));
  Reals expected;
  for (int64_t e = 0; e < 24; ++e) {
    int64_t sum = 0;
    for (int64_t k = 0; k < 19; ++k) {
      sum += (x.GetInt(e / 6 * 19 + k) - kUnsigned.zeros[0]) * w.GetInt(e % 6 * 19 + k);
    }
    expected.push_back(static_cast<double>(sum) * kUnsigned.scales[0] * b.scales[e % 6] +
                       bias.Get(e % 6));
  }
  Graph graph = writer.Import();
  ExpectClose(EvaluateGraph(graph, {x})[0], expected);
  Optimize(graph);
  EXPECT_EQ(ByteProducts(graph), 1);
  ExpectClose(RunCompiled(ExtractTasks(std::move(graph)), {x})[0], expected);
}

/// Zero points that are known at run time only, per row and per column.
TEST(MatMulInteger, ZeroPointsPerRowAndColumn) {
  const HostTensor a = RandomIntegers(DType::kUInt8, {3, 7}, 0, 256, 1);
  const HostTensor b = RandomIntegers(DType::kInt8, {7, 4}, -128, 128, 2);
  const HostTensor row = RandomIntegers(DType::kUInt8, {3}, 0, 256, 3);
  const HostTensor column = RandomIntegers(DType::kInt8, {4}, -128, 128, 4);
  Reals expected;
  for (int64_t e = 0; e < 12; ++e) {
    int64_t sum = 0;
    for (int64_t k = 0; k < 7; ++k) {
      sum += (a.GetInt(e / 4 * 7 + k) - row.GetInt(e / 4)) *
             (b.GetInt(k * 4 + e % 4) - column.GetInt(e % 4));
    }
    expected.push_back(static_cast<double>(sum));
  }
  for (const std::set<int>& constants : {std::set<int>{}, std::set<int>{1, 3}, std::set<int>{2}}) {
    ExpectClose(
        RunOperator(
            {.op = "MatMulInteger", .inputs = {a, b, row, column}, .constants = constants})[0],
        expected, 0);
  }
}

/// The extremes of all operands: 4,608 products of 255 and -128.
TEST(MatMulInteger, SumsOfExtremesAreExact) {
  const int64_t k = 4608;
  HostTensor a = HostTensor::Zeros(DType::kUInt8, {2, k}),
             b = HostTensor::Zeros(DType::kInt8, {k, 16});
  for (int64_t i = 0; i < a.ElementCount(); ++i) a.SetInt(i, 255);
  for (int64_t i = 0; i < b.ElementCount(); ++i) b.SetInt(i, -128);
  ExpectClose(RunOperator({.op = "MatMulInteger", .inputs = {a, b}, .constants = {1}})[0],
              Reals(32, -255.0 * 128 * static_cast<double>(k)), 0);
}

}  // namespace
}  // namespace bayloom::graph
