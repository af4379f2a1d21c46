// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "bayloom/base/random.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/precision.h"
#include "bayloom/graph/precision_choice.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;

constexpr DType kNarrowTypes[] = {DType::kBFloat16, DType::kFloat16, DType::kTFloat32};

/// The largest relative error of rounding to nearest.
double UnitRoundoff(DType dtype) { return dtype == DType::kBFloat16 ? 0x1p-9 : 0x1p-11; }

HostTensor OfBits(const std::vector<uint32_t>& patterns) {
  HostTensor result = HostTensor::Zeros(DType::kFloat32, {static_cast<int64_t>(patterns.size())});
  std::memcpy(result.data.data(), patterns.data(), result.data.size());
  return result;
}

/// Random bits, and what lies at and beside the middle of neighbouring narrow numbers.
std::vector<uint32_t> InterestingFloats() {
  std::vector<uint32_t> patterns = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff,
                                    0x00000000, 0x80000000, 0x00000001, 0x7f7fffff, 0x477fefff,
                                    0x477ff000, 0x33000000, 0x33000001, 0x387fffff, 0x00007fff};
  base::RandomStream random(11);
  for (int i = 0; i < 50000; ++i) {
    const auto bits = static_cast<uint32_t>(random.UniformInt(int64_t{1} << 32));
    patterns.push_back(bits);
    for (uint32_t half : {0x8000U, 0x1000U}) {
      const uint32_t tie = (bits & ~(2 * half - 1)) | half;
      patterns.insert(patterns.end(), {tie - 1, tie, tie + 1});
    }
    // The range of float16's subnormal numbers.
    patterns.push_back((bits & 0x807fffffU) | ((90U + bits % 24U) << 23));
  }
  return patterns;
}

TEST(LowPrecision, StorageRoundsToNearestEven) {
  const HostTensor wide = OfBits(InterestingFloats());
  for (DType dtype : kNarrowTypes) {
    const HostTensor narrow = NarrowFloats(wide, dtype);
    HostTensor expected = HostTensor::Zeros(dtype, wide.shape);
    for (int64_t i = 0; i < wide.ElementCount(); ++i) {
      expected.Set(i, wide.Get(i));
      if (std::isnan(wide.Get(i))) {
        ASSERT_TRUE(std::isnan(narrow.Get(i))) << i;
      } else {
        ASSERT_EQ(narrow.Get(i), expected.Get(i)) << wide.Get(i);
        ASSERT_EQ(std::signbit(narrow.Get(i)), std::signbit(wide.Get(i))) << wide.Get(i);
      }
    }
  }
}

TEST(LowPrecision, CompiledStoresRoundToNearestEven) {
  const HostTensor wide = OfBits(InterestingFloats());
  for (DType dtype : kNarrowTypes) {
    GraphBuilder b("store");
    const Tensor x = b.Input("x", DType::kFloat32, wide.shape);
    const Tensor y =
        b.Map("cast", wide.shape, [&](const auto& i) { return tensor::Cast(dtype, x.At(i)); });
    const HostTensor actual = RunCompiled(ExtractTasks(b.Build({{"y", y.id()}})), {wide})[0];
    const HostTensor expected = NarrowFloats(wide, dtype);
    for (int64_t i = 0; i < wide.ElementCount(); ++i) {
      if (std::isnan(wide.Get(i))) {
        ASSERT_TRUE(std::isnan(actual.Get(i))) << i;
      } else {
        ASSERT_EQ(actual.Get(i), expected.Get(i)) << wide.Get(i);
      }
    }
  }
}

HostTensor Magnitudes(HostTensor tensor) {
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) tensor.Set(i, std::abs(tensor.Get(i)));
  return tensor;
}

/// A sum of products of an input and constant weights.
struct ProductCase {
  const char* name;
  std::vector<int64_t> x, w;
  Tensor (*build)(GraphBuilder& b, const Tensor& x, const Tensor& w);

  friend void PrintTo(const ProductCase& shown, std::ostream* out) { *out << shown.name; }
};

Tensor PaddedConvolution(GraphBuilder& b, const Tensor& x, const Tensor& w) {
  const std::vector<int64_t> shape = {x.shape()[0], x.shape()[1] + 2, x.shape()[2] + 2,
                                      x.shape()[3]};
  const Tensor padded = b.Map("pad", shape, [&](const auto& s) {
    const tensor::Expr row = s[1] - tensor::Expr(1), column = s[2] - tensor::Expr(1);
    const tensor::Expr inside = tensor::Expr(0) <= row && row < tensor::Expr(x.shape()[1]) &&
                                tensor::Expr(0) <= column && column < tensor::Expr(x.shape()[2]);
    return tensor::Select(inside, x(s[0], row, column, s[3]), tensor::FloatLiteral(0));
  });
  return Convolve(b, padded, w);
}

Tensor DepthwiseConvolution(GraphBuilder& b, const Tensor& x, const Tensor& w) {
  const std::vector<int64_t>& image = x.shape();
  return b.Reduce(
      "conv", {image[0], image[1] - 2, image[2] - 2, image[3]}, {{"kh", 3}, {"kw", 3}},
      tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) {
        return x(s[0], s[1] + r[0], s[2] + r[1], s[3]) * w(r[0], r[1], s[3]);
      },
      NodeKind::kWindow);
}

class NarrowProducts : public ::testing::TestWithParam<ProductCase> {};

/// Rounding both factors changes a term by 2u + u^2 of its magnitude at most.
TEST_P(NarrowProducts, AreWithinTheRoundingOfTheirFactors) {
  const ProductCase& c = GetParam();
  const auto build = [&](const HostTensor& weights) {
    GraphBuilder b("product");
    const Tensor x = b.Input("x", DType::kFloat32, c.x);
    const Tensor y = c.build(b, x, b.Constant("w", weights));
    return b.Build({{"y", y.id()}});
  };
  const HostTensor x = RandomTensor(c.x, 1), w = RandomTensor(c.w, 2);
  const HostTensor exact = EvaluateGraph(build(w), {x})[0];
  const HostTensor magnitude = EvaluateGraph(build(Magnitudes(w)), {Magnitudes(x)})[0];
  for (DType dtype : kNarrowTypes) {
    Graph graph = build(w);
    Optimize(graph, {dtype});
    const double u = UnitRoundoff(dtype), bound = 2 * u + u * u + 1e-5;
    double largest = 0;
    for (const HostTensor& actual :
         {EvaluateGraph(graph, {x})[0], RunCompiled(ExtractTasks(graph), {x})[0]}) {
      ASSERT_EQ(actual.dtype, DType::kFloat32);
      for (int64_t i = 0; i < exact.ElementCount(); ++i) {
        const double error = std::abs(actual.Get(i) - exact.Get(i));
        ASSERT_LE(error, bound * magnitude.Get(i)) << tensor::ToString(dtype) << " at " << i;
        largest = std::max(largest, error / magnitude.Get(i));
      }
    }
    EXPECT_GT(largest, u / 16) << "nothing was rounded";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NarrowProducts,
    ::testing::Values(ProductCase{"matmul", {9, 64}, {64, 40}, Multiply},
                      ProductCase{"row", {1, 64}, {64, 48}, Multiply},
                      ProductCase{"odd", {5, 27}, {27, 19}, Multiply},
                      ProductCase{"conv", {1, 7, 8, 16}, {3, 3, 16, 24}, Convolve},
                      ProductCase{"image", {1, 9, 9, 3}, {3, 3, 3, 16}, Convolve},
                      ProductCase{"padded", {1, 6, 6, 8}, {3, 3, 8, 32}, PaddedConvolution},
                      ProductCase{"depthwise", {1, 8, 8, 24}, {3, 3, 24}, DepthwiseConvolution}),
    [](const auto& named) { return named.param.name; });

/// conv, relu, max pool, conv, addition of the pool, softmax over channels.
Graph ResidualNetwork() {
  GraphBuilder b("residual");
  const Tensor image = b.Input("image", DType::kFloat32, {1, 10, 10, 8});
  b.SetScope("first");
  const Tensor first =
      Relu(b, Convolve(b, image, b.Constant("w1", RandomTensor({3, 3, 8, 16}, 1))));
  const Tensor pooled = b.Reduce(
      "maxpool", {1, 4, 4, 16}, {{"h", 2}, {"w", 2}}, tensor::Reduction::kMax,
      [&](const auto& s, const auto& r) {
        const tensor::Expr two(2);
        return first(s[0], s[1] * two + r[0], s[2] * two + r[1], s[3]);
      },
      NodeKind::kWindow);
  b.SetScope("second");
  const Tensor second = Convolve(b, pooled, b.Constant("w2", RandomTensor({1, 1, 16, 16}, 2)));
  const Tensor sum = b.Map("add", second.shape(), [&](const auto& i) {
    return (second.At(i) + pooled.At(i)) * tensor::FloatLiteral(0.02);
  });
  const Tensor largest =
      b.Reduce("softmax.max", {1, 4, 4}, {{"c", 16}}, tensor::Reduction::kMax,
               [&](const auto& s, const auto& r) { return sum(s[0], s[1], s[2], r[0]); });
  const Tensor exps = b.Map("softmax.exp", sum.shape(), [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kExp, sum.At(i) - largest(i[0], i[1], i[2]));
  });
  const Tensor total =
      b.Reduce("softmax.sum", {1, 4, 4}, {{"c", 16}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) { return exps(s[0], s[1], s[2], r[0]); });
  const Tensor result = b.Map("softmax", sum.shape(),
                              [&](const auto& i) { return exps.At(i) / total(i[0], i[1], i[2]); });
  return b.Build({{"y", result.id()}});
}

std::vector<DType> TypesRead(const Graph& graph, const Node& node) {
  std::vector<DType> types;
  for (ValueId operand : OperandsOf(node)) types.push_back(graph.values[operand].dtype);
  return types;
}

const Node* FindProduct(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    if (node.stage.name == name) return &node;
  }
  return nullptr;
}

TEST(LowPrecision, ProductsReadNarrowValuesAndAllElseComputesWide) {
  using ::testing::Each;
  for (DType dtype : kNarrowTypes) {
    Graph graph = ResidualNetwork();
    Optimize(graph, {dtype});
    int products = 0, pools = 0;
    for (const Node& node : graph.nodes) {
      if (node.IsAlias()) continue;
      const bool is_product = IsAnchor(node) && node.stage.reduction == tensor::Reduction::kSum;
      const bool is_pool = node.op == "maxpool";
      if (is_product || is_pool) {
        EXPECT_THAT(TypesRead(graph, node), Each(dtype)) << Print(graph);
      }
      products += is_product;
      pools += is_pool;
      if (node.stage.reduction != tensor::Reduction::kNone) {
        EXPECT_EQ(node.stage.value->dtype, DType::kFloat32) << node.stage.name;
      }
    }
    EXPECT_EQ(products, 2);
    EXPECT_EQ(pools, 1);
    EXPECT_EQ(graph.values[graph.outputs[0].value].dtype, DType::kFloat32);
    for (ValueId input : graph.inputs) EXPECT_EQ(graph.values[input].dtype, DType::kFloat32);
  }
}

TEST(LowPrecision, NetworksStayCloseToThemselves) {
  const Graph plain = ResidualNetwork();
  const std::vector<HostTensor> inputs = RandomInputs(plain);
  const HostTensor expected = EvaluateGraph(plain, inputs)[0];
  for (DType dtype : kNarrowTypes) {
    Graph graph = plain;
    Optimize(graph, {dtype});
    const double bound = 16 * UnitRoundoff(dtype);
    EXPECT_EQ(Difference(EvaluateGraph(graph, inputs)[0], expected, bound, bound), "");
    EXPECT_EQ(Difference(RunCompiled(ExtractTasks(graph), inputs)[0], expected, bound, bound), "");
  }
}

TEST(LowPrecision, KeptProductsReadFloat32) {
  Graph simplified = ResidualNetwork();
  Simplify(simplified);
  std::vector<std::string> names;
  for (const std::string& name : ProductNames(simplified)) {
    if (!name.empty()) names.push_back(name);
  }
  ASSERT_EQ(names.size(), 2u);
  for (const std::string& kept : names) {
    Graph graph = simplified;
    LowerPrecision(graph, {DType::kBFloat16, {kept}});
    for (const std::string& name : names) {
      const Node* product = FindProduct(graph, name);
      ASSERT_TRUE(product != nullptr) << name;
      const DType type = name == kept ? DType::kFloat32 : DType::kBFloat16;
      EXPECT_THAT(TypesRead(graph, *product), ::testing::Each(type)) << name << Print(graph);
    }
  }
}

/// Three products one after the other; the middle one has weights beyond float16, and what follows
/// brings its results back.
Graph NetworkWithLargeWeights() {
  GraphBuilder b("large");
  const Tensor x = b.Input("x", DType::kFloat32, {6, 32});
  HostTensor large = RandomTensor({32, 32}, 2);
  for (int64_t i = 0; i < large.ElementCount(); ++i) large.Set(i, 1e6 * large.Get(i));
  b.SetScope("first");
  Tensor y = Relu(b, Multiply(b, x, b.Constant("w1", RandomTensor({32, 32}, 1))));
  b.SetScope("large");
  y = Relu(b, Multiply(b, y, b.Constant("w2", large)));
  y = b.Map("root", y.shape(), [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kSqrt, y.At(i)) * tensor::FloatLiteral(1e-3);
  });
  b.SetScope("last");
  y = Multiply(b, y, b.Constant("w3", RandomTensor({32, 16}, 3)));
  return b.Build({{"y", y.id()}});
}

TEST(LowPrecision, WhatBreaksTheToleranceStaysInFloat32) {
  Graph graph = NetworkWithLargeWeights();
  Simplify(graph);
  const PrecisionChoice choice =
      ChoosePrecision(graph, {.dtype = DType::kFloat16, .tolerance = 1e-2});
  EXPECT_EQ(choice.products, 3);
  EXPECT_TRUE(std::isinf(choice.error_without_kept));
  EXPECT_LE(choice.error, 1e-2);
  EXPECT_GT(choice.error, 0);
  ASSERT_EQ(choice.kept.size(), 1u);
  EXPECT_EQ(choice.kept[0].name, "large.matmul");
  EXPECT_TRUE(std::isinf(choice.kept[0].error));
  // bfloat16 has float32's range.
  const PrecisionChoice wide_range =
      ChoosePrecision(graph, {.dtype = DType::kBFloat16, .tolerance = 5e-2});
  EXPECT_TRUE(wide_range.kept.empty());
  EXPECT_EQ(wide_range.error, wide_range.error_without_kept);
}

TEST(LowPrecision, NothingIsNarrowWhereNoErrorIsAllowed) {
  Graph graph = NetworkWithLargeWeights();
  Simplify(graph);
  const PrecisionChoice choice =
      ChoosePrecision(graph, {.dtype = DType::kBFloat16, .tolerance = 1e-12});
  EXPECT_EQ(choice.kept.size(), 3u);
  EXPECT_EQ(choice.error, 0);
  EXPECT_GT(choice.error_without_kept, 1e-12);
  LowerPrecision(graph, choice.precision());
  for (const Value& value : graph.values) EXPECT_EQ(value.dtype, DType::kFloat32) << value.name;
}

TEST(LowPrecision, ErrorsOfProductsAreTheirOwn) {
  GraphBuilder b("errors");
  const Tensor x = b.Input("x", DType::kFloat32, {4, 64});
  HostTensor exact = RandomTensor({64, 32}, 1);  // its rounding is none
  for (int64_t i = 0; i < exact.ElementCount(); ++i) exact.Set(i, i % 7 - 3.0);
  const Tensor signs = b.Map("sign", x.shape(), [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kSign, x.At(i));
  });
  const Tensor first = Multiply(b, signs, b.Constant("w1", exact));
  const Tensor roots = b.Map("root", first.shape(), [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kSqrt, tensor::Unary(tensor::ExprOp::kAbs, first.At(i)));
  });
  const Tensor second = Multiply(b, roots, b.Constant("w2", RandomTensor({32, 16}, 2)));
  Graph graph = b.Build({{"y", second.id()}});
  Simplify(graph);
  const std::vector<double> errors = ProductErrors(graph, {.dtype = DType::kBFloat16});
  const std::vector<std::string> names = ProductNames(graph);
  std::vector<double> of_products;
  for (size_t n = 0; n < names.size(); ++n) {
    if (!names[n].empty()) of_products.push_back(errors[n]);
  }
  ASSERT_EQ(of_products.size(), 2u);
  EXPECT_EQ(of_products[0], 0);
  EXPECT_GT(of_products[1], 1e-5);
  EXPECT_LT(of_products[1], 1e-2);
}

}  // namespace
}  // namespace bayloom::graph
