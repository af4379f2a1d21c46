// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using Exprs = GraphBuilder::Exprs;

Expr Wide(const Expr& e) { return tensor::Cast(DType::kInt32, e); }

/// A depthwise convolution of an image [2, rows, columns, 24] of bytes.
struct Depthwise {
  std::vector<int64_t> kernel = {3, 3};
  int64_t stride = 1, pad = 1;
  DType weights = DType::kInt8;
  static constexpr int64_t kRows = 9, kColumns = 8, kChannels = 24;

  Graph Make() const {
    GraphBuilder b("depthwise");
    const tensor::Tensor x = b.Input("x", DType::kUInt8, {2, kRows, kColumns, kChannels});
    const tensor::Tensor w =
        b.Constant("w", RandomIntegers(weights, {kernel[0], kernel[1], kChannels}, -128, 128, 1));
    const auto image = pad > 0 ? Padded(b, x) : x;
    const int64_t rows = (kRows + 2 * pad - kernel[0]) / stride + 1;
    const int64_t columns = (kColumns + 2 * pad - kernel[1]) / stride + 1;
    const tensor::Tensor y = b.Reduce(
        "depthwise", {2, rows, columns, kChannels}, {{"kh", kernel[0]}, {"kw", kernel[1]}},
        tensor::Reduction::kSum,
        [&](const Exprs& s, const Exprs& r) {
          return Wide(image(s[0], s[1] * stride + r[0], s[2] * stride + r[1], s[3])) *
                 Wide(w(r[0], r[1], s[3]));
        },
        NodeKind::kWindow);
    return b.Build({{"y", y.id()}});
  }

  tensor::Tensor Padded(GraphBuilder& b, const tensor::Tensor& x) const {
    const std::vector<int64_t> shape = {2, kRows + 2 * pad, kColumns + 2 * pad, kChannels};
    return b.Map("pad", shape, [&](const Exprs& at) {
      const Expr row = at[1] - Expr(pad), column = at[2] - Expr(pad);
      const Expr inside = Expr(pad) <= at[1] && at[1] < Expr(kRows + pad) && Expr(pad) <= at[2] &&
                          at[2] < Expr(kColumns + pad);
      return tensor::Select(inside, x(at[0], row, column, at[3]), tensor::Literal(7, x.dtype()));
    });
  }
};

const Node& Anchor(const Graph& graph) {
  return *std::ranges::find_if(graph.nodes, [](const Node& node) { return IsAnchor(node); });
}

/// Extents of the anchor's reduction.
std::vector<int64_t> Terms(const Graph& graph) {
  std::vector<int64_t> extents;
  for (const tensor::Iter& iter : Anchor(graph).stage.iters) {
    if (iter.kind == tensor::IterKind::kReduction) extents.push_back(iter.extent);
  }
  return extents;
}

using Extents = std::vector<int64_t>;

TEST(PadReductions, DepthwiseKernelsGetRowsOfZeros) {
  for (int64_t pad : {0, 1}) {
    const Graph graph = CheckedPass(PadReductions, Depthwise{.pad = pad}.Make());
    EXPECT_EQ(Terms(graph), (Extents{4, 3}));
    // The padding gets a row; where there is none, there is a copy now.
    EXPECT_EQ(OpsOf(graph), "pad, depthwise");
    EXPECT_EQ(ShapeOf(graph.nodes.front())[1], Depthwise::kRows + 2 * pad + 1);
  }
}

TEST(PadReductions, StridesAreNoObstacle) {
  EXPECT_EQ(Terms(CheckedPass(PadReductions, Depthwise{.stride = 2}.Make())), (Extents{4, 3}));
}

TEST(PadReductions, DepthwiseKernelsOfOtherSizes) {
  const auto terms = [](std::vector<int64_t> kernel) {
    return Terms(CheckedPass(PadReductions, Depthwise{.kernel = std::move(kernel)}.Make()));
  };
  EXPECT_EQ(terms({5, 5}), (Extents{8, 5}));
  EXPECT_EQ(terms({7, 3}), (Extents{8, 3}));
  EXPECT_EQ(terms({2, 2}), (Extents{4, 2}));
  EXPECT_EQ(terms({4, 3}), (Extents{4, 3}));  // is right as it is
  EXPECT_EQ(terms({1, 3}), (Extents{1, 3}));  // nothing shared
  EXPECT_EQ(terms({3, 1}), (Extents{3, 1}));
  EXPECT_EQ(terms({1, 1}), (Extents{1, 1}));
}

TEST(PadReductions, OtherTypesStayAsTheyAre) {
  EXPECT_EQ(Terms(CheckedPass(PadReductions, Depthwise{.weights = DType::kInt16}.Make())),
            (Extents{3, 3}));
}

/// a [m, k] times b [k, n], both computed.
Graph ProductOfActivations(int64_t m, int64_t n, int64_t k) {
  GraphBuilder b("product");
  const tensor::Tensor x = b.Input("x", DType::kUInt8, {m, k});
  const tensor::Tensor y = b.Input("y", DType::kInt8, {k, n});
  const tensor::Tensor z = b.Reduce(
      "matmul", {m, n}, {{"k", k}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) { return Wide(x(s[0], r[0])) * Wide(y(r[0], s[1])); },
      NodeKind::kMatmul);
  return b.Build({{"z", z.id()}});
}

TEST(PadReductions, ProductsOfActivationsWherePaddingIsLittleBesideThem) {
  EXPECT_EQ(Terms(CheckedPass(PadReductions, ProductOfActivations(40, 24, 19))), Extents{20});
  EXPECT_EQ(Terms(CheckedPass(PadReductions, ProductOfActivations(40, 24, 20))), Extents{20});
  EXPECT_EQ(Terms(CheckedPass(PadReductions, ProductOfActivations(40, 24, 5))), Extents{5});
  EXPECT_EQ(Terms(CheckedPass(PadReductions, ProductOfActivations(3, 24, 19))), Extents{19});
}

}  // namespace
}  // namespace bayloom::graph
