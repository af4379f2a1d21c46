// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <limits>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::Reduction;

tensor::Tensor Rows(GraphBuilder& b, const tensor::Tensor& x, Reduction reduction) {
  return b.Reduce("rows", {x.shape()[0]}, {{"r", x.shape()[1]}}, reduction,
                  [&](const auto& s, const auto& r) { return x(s[0], r[0]); });
}

Graph RowReduction(int64_t length, Reduction reduction) {
  GraphBuilder b("rows");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {5, length});
  return b.Build({{"y", Rows(b, x, reduction).id()}});
}

TEST(SplitReductions, ComputesTheSame) {
  for (int64_t length : {63, 64, 65, 72, 96, 100, 127, 197, 1031}) {
    for (Reduction reduction : {Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
      SCOPED_TRACE(length);
      CheckedPass(SplitReductions, RowReduction(length, reduction));
    }
  }
}

TEST(SplitReductions, SplitsLongRowsThatVectorsDoNotDivide) {
  const auto ops = [](int64_t length) {
    return OpsOf(CheckedPass(SplitReductions, RowReduction(length, Reduction::kSum)));
  };
  EXPECT_EQ(ops(197), "rows.partial, rows");
  EXPECT_EQ(ops(192), "rows");  // by tiles
  EXPECT_EQ(ops(50), "rows");   // too short
}

TEST(SplitReductions, LeavesColumnsAlone) {
  GraphBuilder b("columns");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {197, 24});
  const tensor::Tensor y = b.Reduce("columns", {24}, {{"r", 197}}, Reduction::kSum,
                                    [&](const auto& s, const auto& r) { return x(r[0], s[0]); });
  EXPECT_EQ(OpsOf(CheckedPass(SplitReductions, b.Build({{"y", y.id()}}))), "columns");
}

TEST(SplitReductions, KeepsPositions) {
  GraphBuilder b("argmax");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {4, 131});
  const tensor::Tensor best = Rows(b, x, Reduction::kMax);
  const tensor::Tensor at =
      b.Reduce("index", {4}, {{"r", 131}}, Reduction::kMin, [&](const auto& s, const auto& r) {
        return tensor::Select(tensor::Equal(x(s[0], r[0]), best(s[0])), r[0],
                              tensor::Expr(std::numeric_limits<int64_t>::max()));
      });
  const Graph split = CheckedPass(SplitReductions, b.Build({{"at", at.id()}}));
  EXPECT_EQ(OpsOf(split), "rows.partial, rows, index.partial, index");
}

TEST(SplitReductions, SoftmaxStaysOneTask) {
  GraphBuilder b("softmax");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {6, 197});
  const tensor::Tensor max = Rows(b, x, Reduction::kMax);
  const tensor::Tensor exp = b.Map("exp", {6, 197}, [&](const auto& s) {
    return tensor::Unary(tensor::ExprOp::kExp, x.At(s) - max(s[0]));
  });
  const tensor::Tensor sum = Rows(b, exp, Reduction::kSum);
  const tensor::Tensor y =
      b.Map("div", {6, 197}, [&](const auto& s) { return exp.At(s) / sum(s[0]); });
  const Graph graph = CheckedPass([](Graph& g) { Optimize(g); }, b.Build({{"y", y.id()}}));
  const TaskGraph tasks = ExtractTasks(graph);
  EXPECT_EQ(tasks.tasks.size(), 1U) << Print(tasks);
}

}  // namespace
}  // namespace bayloom::graph
